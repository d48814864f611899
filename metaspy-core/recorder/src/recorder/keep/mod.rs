//! Keeps what is surprising. A flight recorder forgets the oldest events; rules say which of them stay, each with its
//! causes up to the root, its effects, and what it links to.
//!
//! The collector looks for such events before their blocks are folded, so a hook has nothing to do with it. A kept event
//! stays in its slot, where its id leads. When the turn of its block comes, the collector folds all other events of the
//! block, one by one, and the block stays in its place, which lanes pass over. So an event is stored or folded, at every
//! moment, and no reader needs to know more. It costs 4 KiB for each block with kept events; a quarter of the blocks at
//! most are kept. Copies of events in an area of their own would take less room, but they would have other ids, and each
//! reader of causes, effects, details and lanes would have to look for them in two places.
//!
//! Lanes that fold their own blocks leave out the places that are wanted. If they are faster than the collector, they fold
//! blocks that it has not seen; those are counted.

mod keeper;
mod rules;
mod threshold;
mod units;

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering, fence};

use crate::format::arena::Entry;
use crate::platform::lock::lock_for_long;
use crate::recorder::arena::Draft;
use crate::recorder::log::Log;

pub(super) use keeper::Keeper;
pub use rules::{KeepError, Rule, parse};

/// What is known of the block at a place.
const NOTHING: u8 = 0;
const SEARCHED: u8 = 1;
const WANTED: u8 = 2;

/// The places with events to keep, as lanes see them.
pub(super) struct KeptPlaces {
    places: &'static [AtomicU8],
    /// Blocks of which only kept events are left.
    blocks: AtomicU64,
}

impl KeptPlaces {
    pub fn new(places: &'static [AtomicU8]) -> Self {
        KeptPlaces { places, blocks: AtomicU64::new(0) }
    }

    /// True if the block at a place has events to keep. A lane asks this after it has claimed the block.
    pub fn is_wanted(&self, place: u64) -> bool {
        self.places[place as usize].load(Ordering::Acquire) == WANTED
    }

    /// True if the block at a place was not searched.
    fn is_new(&self, place: u64) -> bool {
        self.places[place as usize].load(Ordering::Acquire) == NOTHING
    }

    /// Marks a place. Afterwards no lane begins to fold it: either the lane finds the mark, or the caller finds that the
    /// block is not full any more.
    fn want(&self, place: u64) {
        self.places[place as usize].store(WANTED, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Notes that the block at a place has nothing to keep.
    fn want_not(&self, place: u64) {
        self.places[place as usize].store(SEARCHED, Ordering::Release);
    }

    /// Notes that the block at a place was searched.
    fn searched(&self, place: u64) {
        let place = &self.places[place as usize];
        _ = place.compare_exchange(NOTHING, SEARCHED, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The block at a place is folded. False if it was not searched before.
    pub fn fold(&self, place: u64) -> bool {
        self.places[place as usize].swap(NOTHING, Ordering::AcqRel) != NOTHING
    }

    /// How many blocks are kept.
    pub fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }
}

impl Log {
    /// Keeps events by these rules from now on.
    pub(super) fn keep(&self, rules: &[Rule]) {
        if rules.is_empty() {
            return;
        }
        for (rule, number) in rules.iter().zip(0..) {
            self.append(Draft::new(Entry::Keep, number).text(rule.text()));
        }
        lock_for_long(&self.collecting).keeper = Keeper::new(self, rules).map(Box::new);
    }
}
