//! The block protocol: the steps whose order matters between threads, the collector and readers.
//!
//! Generic over its words, so that Loom can check it on its own atomics and the recording runs it
//! on mapped memory. The models live in `tests/loom.rs`.

use std::sync::atomic::Ordering;

use crate::format::slot;

/// A 64-bit atomic word.
pub trait Word {
    /// Loads it.
    fn load(&self, order: Ordering) -> u64;
    /// Stores it.
    fn store(&self, value: u64, order: Ordering);
    /// Replaces `current` by `new`, or returns the word that was found.
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

impl Word for std::sync::atomic::AtomicU8 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        self.load(order).into()
    }
    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        self.store(value as u8, order);
    }
    #[inline(always)]
    fn compare_exchange(&self, current: u64, new: u64) -> Result<u64, u64> {
        let found =
            self.compare_exchange(current as u8, new as u8, Ordering::AcqRel, Ordering::Acquire);
        found.map(u64::from).map_err(u64::from)
    }
    #[inline(always)]
    fn fence(order: Ordering) {
        std::sync::atomic::fence(order);
    }
}

/// Sets the sequence of an empty block. Everything that is written to the block afterwards belongs
/// to it.
#[inline]
pub fn publish<W: Word>(header: &W, sequence: u64) {
    header.store(sequence, Ordering::Release);
    W::fence(Ordering::Release);
}

/// Clears the sequence of a block. Nothing that is written to it afterwards belongs to that
/// sequence.
#[inline]
pub fn retract<W: Word>(header: &W) {
    header.store(0, Ordering::Relaxed);
    W::fence(Ordering::Release);
}

/// Reads a block that may be reused meanwhile. `None` if its sequence changed while `read` ran.
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

/// Ends an event outside the block that the ending lane fills. False if the collector has moved the
/// event out of the window: its slot must not be touched any more.
#[inline]
pub fn end_elsewhere<W: Word>(end: &W, running: u64, ended: u64) -> bool {
    end.compare_exchange(running, ended).is_ok()
}

/// Moves an event out of the window. Returns its last word: *running* if its end will come too
/// late.
#[inline]
pub fn evict<W: Word>(end: &W) -> u64 {
    let word = end.load(Ordering::Acquire);
    if !slot::is_running(word) {
        return word;
    }
    match end.compare_exchange(word, slot::moved(word)) {
        Ok(word) | Err(word) => word,
    }
}

/// Claims a full block for a folder: its state becomes `folding`. False if the block is not full,
/// or if its chunk is being summarised.
#[inline]
pub fn claim_full<S: Word, W: Word>(
    state: &S,
    full: u64,
    folding: u64,
    summarising: &W,
    chunk: u64,
) -> bool {
    if state.load(Ordering::Relaxed) != full || state.compare_exchange(full, folding).is_err() {
        return false;
    }
    // Either this thread finds the announcement, or the announcing one finds that the block is not
    // full.
    W::fence(Ordering::SeqCst);
    if summarising.load(Ordering::Acquire) == chunk {
        state.store(full, Ordering::Release);
        return false;
    }
    true
}

/// Announces that the summary of a chunk is being written. If all blocks of the chunk are full
/// after this, no folder touches them until the announcement is withdrawn.
#[inline]
pub fn announce_summary<W: Word>(summarising: &W, chunk: u64) {
    summarising.store(chunk, Ordering::Relaxed);
    W::fence(Ordering::SeqCst);
}

/// Begins a step of a fold: notes a row, then moves the cursor to the event that is added to it.
/// After this the row may change. The note is not the one that the cursor named before.
#[inline(always)]
pub fn begin_step<W: Word, const N: usize>(
    cursor: &W,
    position: u64,
    note: &[W; N],
    words: [u64; N],
) {
    for (cell, word) in note.iter().zip(words) {
        cell.store(word, Ordering::Relaxed);
    }
    cursor.store(position, Ordering::Release);
    // Whoever sees the changed row, or the next note, also sees the cursor.
    W::fence(Ordering::Release);
}

/// Claims the next piece of an area and returns its offset. Pieces are adjacent. The first word of
/// each holds its size, and is 0 before the claim.
///
/// `first` is the first word of the piece at an offset, if a piece of this size has room there.
/// `length` is the length of a piece of a given size.
///
/// The thread that writes a piece's size owns it. A thread that finds the piece taken advances
/// `used` for the owner, so no thread waits. A reader that sees `used` sees the sizes of all pieces
/// before it.
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
        // If this fails, another thread has advanced it.
        let _ = used.compare_exchange(at, at.saturating_add(length(taken)));
        if claim.is_ok() {
            return Some(at);
        }
    }
}

/// Begins to use a log, if it is there. False: it was let go, or may be at any time, and must not
/// be written.
#[inline]
pub fn begin_use<W: Word>(users: &W, is_there: impl FnOnce() -> bool) -> bool {
    add(users, 1);
    // Either this thread finds that the log is not there, or the one that lets it go finds this
    // thread.
    W::fence(Ordering::SeqCst);
    let is_used = is_there();
    if !is_used {
        end_use(users);
    }
    is_used
}

/// Ends a use that [`begin_use`] began.
#[inline]
pub fn end_use<W: Word>(users: &W) {
    add(users, u64::MAX);
}

/// True if no thread uses a log that was replaced before, and so none will.
#[inline]
pub fn is_unused<W: Word>(users: &W) -> bool {
    W::fence(Ordering::SeqCst);
    users.load(Ordering::Acquire) == 0
}

/// Lets a log go that was replaced before. False: it is used. Until that is found, it seems to be
/// gone.
#[inline]
pub fn let_go<W: Word>(is_gone: &W, is_used: impl Fn() -> bool) -> bool {
    if is_used() {
        return false;
    }
    is_gone.store(1, Ordering::SeqCst);
    // Either who begins to use it finds that it is gone, or is found here.
    W::fence(Ordering::SeqCst);
    let is_let_go = !is_used();
    if !is_let_go {
        is_gone.store(0, Ordering::SeqCst);
    }
    is_let_go
}

fn add<W: Word>(word: &W, by: u64) {
    let mut found = word.load(Ordering::Relaxed);
    while let Err(now) = word.compare_exchange(found, found.wrapping_add(by)) {
        found = now;
    }
}

/// Blocks that the collector has made ready. One producer, many consumers, without waiting.
pub struct ReadyRing<W: 'static> {
    /// Sequences; the producer writes a cell only when it has been taken.
    cells: &'static [W],
    /// Cells taken since the beginning.
    taken: W,
    /// Cells filled since the beginning.
    filled: W,
}

impl<W: Word + 'static> ReadyRing<W> {
    /// An empty ring over these cells and counters, all 0.
    pub fn new(cells: &'static [W], taken: W, filled: W) -> Self {
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
            // If the producer has rewritten this cell, its block was taken before, and this
            // exchange fails.
            match self.taken.compare_exchange(taken, taken + 1) {
                Ok(_) => return Some(sequence),
                Err(now) => taken = now,
            }
        }
    }

    /// Adds a ready block. Only the collector calls this. False if the ring is full.
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
