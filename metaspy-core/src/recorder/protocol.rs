//! The block protocol: the few steps that threads, the collector and readers must take in the same order.
//!
//! Generic over its words, so that Loom can check it on its own atomics and the recording runs it on mapped memory.
//! The models live in `tests/loom.rs`.

use std::sync::atomic::Ordering;

use crate::format::slot;

/// A 64-bit atomic word.
pub trait Word {
    /// Loads it.
    fn load(&self, order: Ordering) -> u64;
    /// Stores it.
    fn store(&self, value: u64, order: Ordering);
    /// Replaces `current` by `new`, or tells what is there.
    fn compare_exchange(&self, current: u64, new: u64) -> Result<u64, u64>;
    /// A fence between words of this kind.
    fn fence(order: Ordering);
}

impl Word for std::sync::atomic::AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order)
    }
    #[inline(always)]
    fn compare_exchange(&self, current: u64, new: u64) -> Result<u64, u64> {
        self.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }
    #[inline(always)]
    fn fence(order: Ordering) {
        std::sync::atomic::fence(order);
    }
}

/// Gives an empty block its sequence. Whatever is written to the block afterwards is of this sequence.
#[inline]
pub fn publish<W: Word>(header: &W, sequence: u64) {
    header.store(sequence, Ordering::Release);
    W::fence(Ordering::Release);
}

/// Takes a block's sequence away: nothing that is written to it afterwards is of that sequence.
#[inline]
pub fn retract<W: Word>(header: &W) {
    header.store(0, Ordering::Relaxed);
    W::fence(Ordering::Release);
}

/// Reads a block while others may reuse it: what `read` saw, if the block was of one sequence all the time.
#[inline]
pub fn read_stable<W: Word, R>(header: &W, read: impl FnOnce(u64) -> R) -> Option<R> {
    let sequence = header.load(Ordering::Acquire);
    if sequence == 0 {
        return None;
    }
    let seen = read(sequence);
    W::fence(Ordering::Acquire);
    (header.load(Ordering::Relaxed) == sequence).then_some(seen)
}

/// Ends an event from outside the block that the ending lane fills. False: the collector has moved it out of the
/// window, and its slot is no longer ours to touch.
#[inline]
pub fn end_elsewhere<W: Word>(end: &W, running: u64, ended: u64) -> bool {
    end.compare_exchange(running, ended).is_ok()
}

/// Takes an event out of the window. Returns its last word: running, if its end will come too late.
#[inline]
pub fn evict<W: Word>(end: &W) -> u64 {
    let word = end.load(Ordering::Acquire);
    if !slot::is_running(word) {
        return word;
    }
    let moved = crate::event::Outcome::Moved as u64;
    match end.compare_exchange(word, slot::ended(0, word & 0xFFFF | moved << 16)) {
        Ok(word) | Err(word) => word,
    }
}

/// Takes the next piece of an area whose pieces lie one after another, each with its size in its first word, which was
/// 0. `first` finds the first word of the piece that begins at an offset, if one of this size has room there; `length`
/// tells how long a piece of some size is. Returns the offset.
///
/// Whoever writes a piece's size has it. Who finds a piece taken moves `used` on in its owner's place, so nobody waits
/// for anybody; a reader that sees `used` sees the sizes of all pieces before it.
pub fn claim<'a, W: Word + 'a>(
    used: &W,
    size: u64,
    length: impl Fn(u64) -> u64,
    first: impl Fn(u64) -> Option<&'a W>,
) -> Option<u64> {
    loop {
        let at = used.load(Ordering::Acquire);
        let claim = first(at)?.compare_exchange(0, size);
        let taken = claim.err().unwrap_or(size);
        // If this fails, somebody else has moved it on.
        let _ = used.compare_exchange(at, at.saturating_add(length(taken)));
        if claim.is_ok() {
            return Some(at);
        }
    }
}

/// Blocks that the collector made ready, for lanes to take: one producer, many consumers, nobody waits.
pub struct ReadyRing<W> {
    /// Sequences; the producer writes a cell only when it has been taken.
    cells: Box<[W]>,
    /// Cells taken since the beginning.
    taken: W,
    /// Cells filled since the beginning.
    filled: W,
}

impl<W: Word> ReadyRing<W> {
    /// An empty ring over these cells and counters, all 0.
    pub fn new(cells: Box<[W]>, taken: W, filled: W) -> Self {
        ReadyRing { cells, taken, filled }
    }

    /// Takes the sequence of a ready block.
    pub fn take(&self) -> Option<u64> {
        let mut taken = self.taken.load(Ordering::Acquire);
        loop {
            if taken == self.filled.load(Ordering::Acquire) {
                return None;
            }
            let sequence = self.cells[taken as usize % self.cells.len()].load(Ordering::Acquire);
            // If the producer wrote this cell again meanwhile, it had been taken, and this exchange fails.
            match self.taken.compare_exchange(taken, taken + 1) {
                Ok(_) => return Some(sequence),
                Err(now) => taken = now,
            }
        }
    }

    /// Offers a ready block; only the collector calls this. False: the ring is full.
    #[must_use]
    pub fn fill(&self, sequence: u64) -> bool {
        let filled = self.filled.load(Ordering::Relaxed);
        if filled - self.taken.load(Ordering::Acquire) == self.cells.len() as u64 {
            return false;
        }
        self.cells[filled as usize % self.cells.len()].store(sequence, Ordering::Release);
        self.filled.store(filled + 1, Ordering::Release);
        true
    }

    /// Blocks that can be taken now.
    pub fn ready(&self) -> u64 {
        let taken = self.taken.load(Ordering::Acquire);
        self.filled.load(Ordering::Acquire).saturating_sub(taken)
    }

    /// Blocks taken since the beginning.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Blocks that it holds at most.
    pub fn capacity(&self) -> u64 {
        self.cells.len() as u64
    }
}
