//! Words about the blocks of a log that are not in the recording. Their memory is given back when
//! the log is let go.

use std::io;
use std::sync::atomic::{AtomicU8, AtomicU64};

use crate::platform::lasting_pages;

/// Blocks that are ready at once at most.
const READY: u64 = 1 << 15;

/// Zeroed words. A growing log has millions of unused places; untouched memory costs nothing.
pub(super) struct OwnWords {
    pub ready: &'static [AtomicU64],
    pub states: &'static [AtomicU8],
    address: *mut u8,
    bytes: usize,
}

impl OwnWords {
    /// Words for so many blocks.
    pub(crate) fn for_blocks(blocks: u64) -> io::Result<Self> {
        let ready = blocks.min(READY) as usize;
        let bytes = ready * 8 + 2 * blocks as usize;
        let address = lasting_pages::take(bytes);
        if address.is_null() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        // SAFETY: the pages are zeroed, stay, and are longer than both slices, which are atomic
        // words.
        let (ready, states) = unsafe {
            let states = address.add(ready * 8).cast::<AtomicU8>();
            (
                std::slice::from_raw_parts(address.cast::<AtomicU64>(), ready),
                std::slice::from_raw_parts(states, blocks as usize),
            )
        };
        Ok(OwnWords { ready, states, address, bytes })
    }

    /// Whether each place was searched for events to keep: as many words as there are states,
    /// behind them.
    pub fn searched(&self) -> &'static [AtomicU8] {
        let before = size_of_val(self.ready) + size_of_val(self.states);
        // SAFETY: the pages are as long, stay, and hold zeroed atomic words.
        unsafe { std::slice::from_raw_parts(self.address.add(before).cast(), self.states.len()) }
    }

    /// Gives the memory back; from now on the words are zeros.
    pub fn give_back(&self) {
        // SAFETY: they are the pages of these words, which nothing reads any more.
        unsafe { lasting_pages::give_back(self.address, self.bytes) };
    }
}
