//! The first two words of a row's counts: calls that began, and calls that failed or panicked. Rows
//! of pages and of arrays both have them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use metaspy_probe::COUNTED;

use crate::event::Outcome;
use crate::format::row::{self, array};

/// The words in which calls are counted. Only their lane writes them, with one instruction each: a
/// signal handler runs before or after it, so the lane need not be busy.
#[derive(Clone, Copy)]
pub struct Counter<'a>(&'a [AtomicU64; array::WORDS]);

const CALLS: usize = 0;
const FAILED_PANICKED: usize = row::FAILED_PANICKED - row::COUNT;

impl<'a> Counter<'a> {
    /// The alignment of a counter's address, in bytes.
    pub const ALIGN: usize = array::WORDS * 8;

    #[inline]
    pub(super) const fn new(words: &'a [AtomicU64; array::WORDS]) -> Self {
        Counter(words)
    }

    /// The counter at this address.
    ///
    /// # Safety
    /// It came from [`Counter::marked`], without the mark; rows are never unmapped.
    #[inline]
    pub unsafe fn at(place: *const u8) -> Self {
        // SAFETY: as the caller promises.
        Counter(unsafe { &*place.cast() })
    }

    /// Its address, as hooks hold it.
    #[inline(always)]
    pub fn marked(self) -> *mut u8 {
        std::ptr::from_ref(self.0).cast_mut().cast::<u8>().wrapping_add(COUNTED)
    }

    /// The word that counts calls.
    #[inline]
    pub fn calls(self) -> &'a AtomicU64 {
        &self.0[CALLS]
    }

    /// Counts a call that begins.
    #[inline(always)]
    pub fn begun(self) {
        self.add(CALLS, 1);
    }

    /// Counts the outcome of a call that was counted here. False: it must be counted in another
    /// row.
    #[inline(always)]
    #[must_use]
    pub fn outcome(self, outcome: Outcome) -> bool {
        let (failed_panicked, elsewhere) = row::outcome_words(outcome);
        let counts = elsewhere == 0 && self.has_room();
        if counts {
            self.add(FAILED_PANICKED, failed_panicked);
        }
        counts
    }

    /// True if it takes more outcomes.
    #[inline]
    pub fn has_room(self) -> bool {
        row::has_room(self.0[FAILED_PANICKED].load(Relaxed), 0)
    }

    #[inline(always)]
    fn add(self, word: usize, by: u64) {
        add(&self.0[word], by);
    }
}

/// Adds to a word of a row that only the calling thread writes, with one instruction. So a signal
/// handler runs before or after it, and the word is read from the page that it is stored to, also
/// while another page takes its place.
#[inline(always)]
pub(super) fn add(word: &AtomicU64, by: u64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the word is aligned and writable, and no other thread writes it; to readers it is one
    // store.
    unsafe {
        std::arch::asm!("add qword ptr [{}], {}", in(reg) word.as_ptr(), in(reg) by, options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    word.fetch_add(by, Relaxed);
}
