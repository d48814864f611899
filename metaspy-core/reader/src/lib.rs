//! The read side: one face for a recording in memory, in a file, and in a file that is still written.
//!
//! A [`Store`] hands out events by value and never waits for the writer. What cannot be read is said beside what can;
//! no bytes, however hostile, make it panic or take memory without bound.

mod adopted;
#[doc(hidden)]
pub mod blocks;
mod causes;
mod chunks;
mod details;
mod effects;
pub mod event;
mod expectation;
mod filter;
mod fold;
mod gaps;
mod header;
mod lanes;
mod lineage;
#[doc(hidden)]
pub mod matcher;
mod measure;
mod merge;
mod names;
mod open;
mod pass;
#[doc(hidden)]
pub mod platform;
mod profiles;
mod relations;
mod remote;
mod scan;
mod sealed;
pub mod selector;
mod selfs;
mod standing;
mod store;
pub mod stream;
mod subjects;
mod table;
mod tally;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod text;
mod time;
mod timeline;
mod totals;
mod verify;
mod view;

pub use causes::{Ancestors, Origin};
pub use details::{Polls, Told};
pub use effects::EffectsIndex;
pub use event::{Event, EventId, LaneId, Outcome};
pub use expectation::Missed;
pub use filter::{Filter, FilterError};
pub use header::{Ended, Header};
pub use lanes::LaneText;
pub use matcher::Members;
pub use measure::Measure;
pub use merge::{MergeError, Process};
pub use names::{EpochText, KindText, SiteText, UserMark};
pub use open::OpenError;
pub use profiles::{Column, ColumnKind, KeyKind, Merge, Profile, ProfileRow, ProfileTable, RowKey, Value};
pub use relations::Relation;
pub use remote::{Remote, Sent};
pub use selector::{Selector, SelectorError};
pub use standing::Standing;
pub use store::Store;
pub use tally::{By, Scope, Tally, TallyRow, What};
pub use timeline::{Page, Position};
pub use totals::Totals;
pub use verify::Verification;
pub use view::{Program, ViewText};

pub(crate) use blocks::BLOCK_WORDS;
#[doc(hidden)]
pub use blocks::Ring;
#[doc(hidden)]
pub use header::Layout;
pub(crate) use merge::sheet::nameless;
#[doc(hidden)]
pub use sealed::Sealed;

pub use metaspy_format::detail::{Detail, DetailKind};
