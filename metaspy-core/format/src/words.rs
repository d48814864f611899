//! The only access to the bytes of a recording: 64-bit atomic words of a mapping.
//!
//! There is no slice of records, because another thread or process can write them at any time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{Mmap, MmapRaw};

/// The mapped memory of a recording. It stays mapped until the last clone is dropped.
#[derive(Clone)]
pub struct Region {
    base: *const AtomicU64,
    words: usize,
    keep: Arc<Keep>,
}

enum Keep {
    Writable(MmapRaw),
    ReadOnly { _map: Mmap },
}

// SAFETY: the region hands out nothing but atomic words, and `keep` keeps them mapped.
unsafe impl Send for Region {}
// SAFETY: as above; every access is an atomic load or store.
unsafe impl Sync for Region {}

impl Region {
    /// The words of a mapping that this process writes.
    pub fn writable(map: MmapRaw) -> Self {
        let base = map.as_ptr().cast::<AtomicU64>();
        let words = map.len() / 8;
        Region { base, words, keep: Arc::new(Keep::Writable(map)) }
    }

    /// The words of a mapping that another process may write. They can only be loaded, because a
    /// store would fault.
    pub fn read_only(map: Mmap) -> Self {
        let base = map.as_ptr().cast::<AtomicU64>();
        let words = map.len() / 8;
        Region { base, words, keep: Arc::new(Keep::ReadOnly { _map: map }) }
    }

    /// True if another clone of it is in use.
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.keep) > 1
    }

    /// Words in the region.
    pub fn len(&self) -> usize {
        self.words
    }

    /// True if the region has no words.
    pub fn is_empty(&self) -> bool {
        self.words == 0
    }

    /// The words, for loading.
    #[inline(always)]
    pub fn words(&self) -> Words<'_> {
        // SAFETY: a mapping is aligned to a page, holds `words` whole words, and stays mapped while
        // `self` does. Every access is atomic, here and in other processes.
        Words(unsafe { std::slice::from_raw_parts(self.base, self.words) })
    }

    /// The words for storing, if this process writes them.
    pub fn cells(&self) -> Option<&[AtomicU64]> {
        match *self.keep {
            Keep::Writable(_) => Some(self.words().0),
            Keep::ReadOnly { .. } => None,
        }
    }

    /// The mapping, if this process writes it.
    pub fn map(&self) -> Option<&MmapRaw> {
        match &*self.keep {
            Keep::Writable(map) => Some(map),
            Keep::ReadOnly { .. } => None,
        }
    }
}

/// A slice of words that are loaded one by one.
#[derive(Clone, Copy)]
pub struct Words<'a>(&'a [AtomicU64]);

impl<'a> Words<'a> {
    /// Words in memory of this process.
    #[doc(hidden)]
    pub fn from_slice(words: &'a [AtomicU64]) -> Self {
        Words(words)
    }
}

impl<'a> Words<'a> {
    /// The word at `at`, or 0 behind the end. A recording that was cut reads as empty there.
    #[inline(always)]
    pub fn get(self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    /// As [`Words::get`], with acquire ordering.
    #[inline(always)]
    pub fn acquire(self, at: usize) -> u64 {
        self.0.get(at).map_or(0, |word| word.load(Ordering::Acquire))
    }

    /// The words from `at` on, at most `len` of them; fewer if the recording was cut.
    #[inline(always)]
    pub fn slice(self, at: usize, len: usize) -> Words<'a> {
        let at = at.min(self.0.len());
        Words(&self.0[at..at.saturating_add(len).min(self.0.len())])
    }

    /// Prefetches the word at `at`. Hardware prefetching ends at the end of a page, and a block is
    /// a page. Without this call a scan waits for the first lines of each block.
    #[inline(always)]
    pub fn prefetch(self, at: usize) {
        #[cfg(target_arch = "x86_64")]
        if let Some(word) = self.0.get(at) {
            // SAFETY: a prefetch reads nothing and never faults. The address belongs to a word of
            // the slice.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = at;
    }

    /// The number of words.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// True if there are no words.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The word with these low and high halves.
#[inline(always)]
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// The low half of a word.
#[inline(always)]
pub const fn low(word: u64) -> u32 {
    word as u32
}

/// The high half of a word.
#[inline(always)]
pub const fn high(word: u64) -> u32 {
    (word >> 32) as u32
}

#[cfg(test)]
mod tests {
    use memmap2::MmapMut;

    use super::*;

    #[test]
    fn a_slice_is_what_a_vector_has_there() {
        let numbers: Vec<u64> = (1..=9).collect();
        let cells: Vec<AtomicU64> = numbers.iter().copied().map(AtomicU64::new).collect();
        let words = Words::from_slice(&cells);
        for at in (0..12).chain([usize::MAX]) {
            let expected = numbers.get(at).copied().unwrap_or(0);
            assert_eq!((words.get(at), words.acquire(at)), (expected, expected));
            words.prefetch(at);
            for len in (0..12).chain([usize::MAX]) {
                let expected: Vec<u64> = numbers.iter().copied().skip(at).take(len).collect();
                let slice = words.slice(at, len);
                let found: Vec<u64> = (0..slice.len()).map(|at| slice.get(at)).collect();
                assert_eq!(
                    (found, slice.is_empty()),
                    (expected.clone(), expected.is_empty()),
                    "{len} from {at}"
                );
            }
        }
    }

    #[test]
    fn a_region_has_the_whole_words_of_its_mapping() {
        let memory = |bytes| MmapMut::map_anon(bytes).expect("there is memory");
        let mut map = memory(8 * 3 + 5);
        map[8..16].copy_from_slice(&7_u64.to_ne_bytes());
        let read = Region::read_only(map.make_read_only().expect("it can be protected"));
        assert_eq!((read.len(), read.is_empty(), read.words().get(1)), (3, false, 7));
        assert!(read.cells().is_none() && read.map().is_none(), "a store would fault");

        let written = Region::writable(memory(8 * 2).into());
        written.cells().expect("this process writes it")[1].store(9, Ordering::Relaxed);
        assert_eq!((written.len(), written.clone().words().get(1)), (2, 9));
        assert_eq!(written.map().map(MmapRaw::len), Some(16));
        assert!(Region::writable(memory(7).into()).is_empty());

        let another = written.clone();
        assert!(written.is_shared() && another.is_shared());
        drop(another);
        assert!(!written.is_shared());
    }

    #[test]
    fn halves_of_a_word_stand_apart() {
        for (first, second) in
            [(0, 0), (1, 2), (u32::MAX, 0), (0, u32::MAX), (0x89AB_CDEF, 0x0123_4567)]
        {
            let word = join(first, second);
            assert_eq!((low(word), high(word)), (first, second));
        }
    }
}
