//! Chunks whose summary is stale: a set that any thread adds to without waiting.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A set of chunks.
pub(super) struct StaleSummaries {
    /// One bit for each chunk.
    bits: Box<[AtomicU64]>,
    is_empty: AtomicBool,
}

impl StaleSummaries {
    /// An empty set of chunks below `chunks`.
    pub fn new(chunks: u64) -> Self {
        let words = chunks.div_ceil(u64::BITS.into()) as usize;
        StaleSummaries {
            bits: (0..words).map(|_| AtomicU64::new(0)).collect(),
            is_empty: AtomicBool::new(true),
        }
    }

    /// Adds a chunk.
    pub fn add(&self, chunk: u64) {
        let word = chunk / u64::from(u64::BITS);
        let bit = chunk % u64::from(u64::BITS);
        self.bits[word as usize].fetch_or(1 << bit, Ordering::AcqRel);
        self.is_empty.store(false, Ordering::Release);
    }

    /// Moves all chunks into a list.
    pub fn take(&self, into: &mut Vec<u64>) {
        if self.is_empty.swap(true, Ordering::AcqRel) {
            return;
        }
        for (word, bits) in (0..).zip(&self.bits) {
            let mut bits = bits.swap(0, Ordering::AcqRel);
            while bits != 0 {
                into.push(word * u64::from(u64::BITS) + u64::from(bits.trailing_zeros()));
                bits &= bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_chunk_is_taken_once() {
        let set = StaleSummaries::new(130);
        [0, 63, 64, 129, 64].into_iter().for_each(|chunk| set.add(chunk));
        let mut chunks = Vec::new();
        set.take(&mut chunks);
        set.take(&mut chunks);
        assert_eq!(chunks, [0, 63, 64, 129]);
    }
}
