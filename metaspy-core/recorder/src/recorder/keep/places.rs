//! The states of the blocks at places, for lanes and the collector.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering, fence};

/// The state of the block at a place.
const NOTHING: u8 = 0;
const SEARCHED: u8 = 1;
const WANTED: u8 = 2;

/// The places with events to keep, as lanes see them.
pub struct KeptPlaces {
    /// True once there are rules.
    is_asked: AtomicBool,
    places: &'static [AtomicU8],
    /// Blocks of which only kept events are left.
    pub kept: AtomicU64,
}

impl KeptPlaces {
    pub fn new(places: &'static [AtomicU8]) -> Self {
        KeptPlaces { is_asked: AtomicBool::new(false), places, kept: AtomicU64::new(0) }
    }

    /// The places, if there are rules. A lane asks this after it has claimed a block.
    pub fn asked(&self) -> Option<&Self> {
        self.is_asked.load(Ordering::Acquire).then_some(self)
    }

    /// Lanes ask for wanted places from now on: before one is [wanted](Self::want).
    pub fn ask(&self) {
        self.is_asked.store(true, Ordering::Release);
    }

    /// True if the block at a place has events to keep. A lane asks this after it has claimed the
    /// block.
    pub fn is_wanted(&self, place: u64) -> bool {
        self.places[place as usize].load(Ordering::Acquire) == WANTED
    }

    /// True if the block at a place was not searched.
    pub fn is_new(&self, place: u64) -> bool {
        self.places[place as usize].load(Ordering::Acquire) == NOTHING
    }

    /// Marks a place. Afterwards no lane begins to fold it: either the lane finds the mark, or the
    /// caller finds that the block is not full any more.
    pub fn want(&self, place: u64) {
        self.places[place as usize].store(WANTED, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Notes that the block at a place has nothing to keep.
    pub(crate) fn want_not(&self, place: u64) {
        self.places[place as usize].store(SEARCHED, Ordering::Release);
    }

    /// Notes that the block at a place was searched.
    pub fn searched(&self, place: u64) {
        let place = &self.places[place as usize];
        _ = place.compare_exchange(NOTHING, SEARCHED, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// The block at a place is folded. False if it was not searched before.
    pub fn fold(&self, place: u64) -> bool {
        self.places[place as usize].swap(NOTHING, Ordering::AcqRel) != NOTHING
    }

    /// How many blocks are kept.
    pub fn blocks(&self) -> u64 {
        self.kept.load(Ordering::Relaxed)
    }
}
