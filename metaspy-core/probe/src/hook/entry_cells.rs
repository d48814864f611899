//! The cells in which a thread counts calls at sites whose hooks only count.
//!
//! A thread remembers the row of each woven site, because threads would share a count in the site.
//! A counted call then compares one word and adds one: 2 ns, and 10 ns through the core. This takes
//! one cell for each site and thread that counts.

use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

/// Where a thread counts calls at sites with such hooks: the distance from a site to its
/// [`EntryCell`]; 0 = nowhere.
///
/// Each program and library that contains such hooks has such a word for each thread.
#[repr(transparent)]
pub struct EntryCells(AtomicUsize);

/// The counts of a thread at one site. There is one cell at the same distance from each site that
/// the linker collected.
#[repr(C)]
pub struct EntryCell {
    /// Calls on any object are counted while this is the site's word, `Site::tally`, or the one
    /// that `Site::counted` points to.
    pub who: AtomicU64,
    /// The word in which calls are counted, which no other thread writes.
    pub row: AtomicPtr<AtomicU64>,
    /// Calls on `object` are counted while this is the site's word.
    pub who_of_object: AtomicU64,
    /// The object, as [`object_word`] has it.
    pub object: AtomicU64,
    /// Further objects of this thread, [`KNOWN_OBJECTS`] places for all of its sites; or null.
    pub known: AtomicPtr<KnownObject>,
}

/// An object whose calls at a site are counted while this thread and the site have the same word.
#[repr(C)]
pub struct KnownObject {
    /// The object, as [`object_word`] has it.
    pub object: AtomicU64,
    /// The address of the site.
    pub site: AtomicUsize,
    /// The site's word.
    pub who: AtomicU64,
    /// As [`EntryCell::row`].
    pub row: AtomicPtr<AtomicU64>,
}

/// Objects that a thread knows beside the last one of each site. A power of two.
pub const KNOWN_OBJECTS: usize = 1024;
/// Spreads the places. Its highest bit is not set, so that an instruction may contain it.
pub(crate) const SPREAD: u64 = 0x61C8_8647;

/// An object with its kind, as one word: several types may be at one address.
#[inline(always)]
pub const fn object_word(place: u64, kind: u64) -> u64 {
    place ^ kind
}

/// The place of an object at a site among those that a thread knows.
#[inline(always)]
pub const fn known_place(object: u64, site: usize) -> usize {
    (object.wrapping_add(site as u64).wrapping_mul(SPREAD) >> 20) as usize % KNOWN_OBJECTS
}

impl EntryCells {
    /// No cells.
    pub const fn none() -> Self {
        EntryCells(AtomicUsize::new(0))
    }

    /// Lets hooks count at this distance; 0 = nowhere. Only their thread may call this, and the
    /// cells must stay as long as they are pointed to.
    pub fn point(&self, distance: usize) {
        self.0.store(distance, Ordering::Relaxed);
    }

    /// The distance.
    #[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "assembly reads it"))]
    #[inline(always)]
    pub(crate) fn distance(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
