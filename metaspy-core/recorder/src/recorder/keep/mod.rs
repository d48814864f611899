//! Keeps surprising events. A flight recorder forgets the oldest events; rules say which of them
//! stay, each with its causes up to the root, its effects, and its links.
//!
//! The collector looks for such events before their blocks are folded, so a hook has nothing to do
//! with it. A kept event stays in its slot, where its id leads. When the turn of its block comes,
//! the collector folds all other events of the block, one by one, and the block stays in its place,
//! which lanes pass over. So an event is stored or folded, at every moment, and no reader needs to
//! know more. It costs 4 KiB for each block with kept events; a quarter of the blocks at most are
//! kept. Copies of events in an area of their own would take less room, but they would have other
//! ids, and each reader of causes, effects, details and lanes would have to look for them in two
//! places.
//!
//! Lanes that fold their own blocks leave out the places that are wanted. If they are faster than
//! the collector, they fold blocks that it has not seen; those are counted.

mod added;
mod keeper;
pub(super) mod places;
mod rules;
mod ruling;
mod sample;
mod threshold;
mod units;

pub use added::AddedRules;
pub(super) use added::begin;
pub(super) use keeper::Keeper;
pub use rules::{KeepError, Rules};
