//! Areas of a file that are allocated in steps: few programs need all of them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::format::layout::Area;
use crate::platform::map;
use crate::recorder::own_file::OwnFile;

/// Bytes that are allocated at a time.
pub(super) const STEP: usize = 1 << 20;

/// An area, and how many of its bytes are allocated.
pub(crate) struct Stepped {
    pub area: Area,
    file: Option<Arc<OwnFile>>,
    allocated: AtomicUsize,
}

impl Stepped {
    /// An area of memory, which needs no allocation.
    pub fn in_memory(area: Area) -> Self {
        Stepped { area, file: None, allocated: AtomicUsize::new(area.bytes()) }
    }

    /// An area of a file, with its first step. Where the system cannot allocate without writing, a later step could
    /// overwrite what another thread has written meanwhile. The whole area is allocated there.
    pub fn in_file(area: Area, own: &Arc<OwnFile>) -> io::Result<Self> {
        let (file, step) = (own.get()?, area.bytes().min(STEP));
        if map::reserve(file, area.offset() as u64, step as u64)? {
            return Ok(Stepped { area, file: Some(own.clone()), allocated: AtomicUsize::new(step) });
        }
        map::allocate(file, area.offset() as u64, area.bytes() as u64)?;
        Ok(Stepped::in_memory(area))
    }

    /// Allocates the area as far as `wanted` bytes. False if it is shorter, or if the disk has no room.
    ///
    /// Several threads may do this at the same time: allocating a range again changes nothing.
    pub fn reserve(&self, wanted: usize) -> bool {
        let from = self.allocated.load(Ordering::Acquire);
        if wanted <= from {
            return true;
        }
        let Some(file) = self.file.as_ref().filter(|_| wanted <= self.area.bytes()) else { return false };
        let to = wanted.next_multiple_of(STEP).min(self.area.bytes());
        let offset = (self.area.offset() + from) as u64;
        let reserved = file.get().and_then(|file| map::reserve(file, offset, (to - from) as u64));
        let is_there = reserved.is_ok_and(|reserved| reserved);
        if is_there {
            self.allocated.fetch_max(to, Ordering::AcqRel);
        }
        is_there
    }
}
