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
pub struct GrowingArea {
    pub area: Area,
    file: Option<Arc<OwnFile>>,
    allocated: AtomicUsize,
    /// Bytes that may be allocated: all of the area, until its file is packed.
    room: AtomicUsize,
}

impl GrowingArea {
    /// An area of memory, which needs no allocation.
    pub(crate) fn in_memory(area: Area) -> Self {
        let whole = || AtomicUsize::new(area.bytes());
        GrowingArea { area, file: None, allocated: whole(), room: whole() }
    }

    /// Creates an area of a file, with its first step. Where the system cannot allocate without
    /// writing, a later step could overwrite the words that another thread has written meanwhile.
    /// The whole area is allocated there.
    pub(crate) fn in_file(area: Area, own: &Arc<OwnFile>) -> io::Result<Self> {
        let file = own.get()?;
        let step = area.bytes().min(STEP);
        if map::reserve(file, area.offset() as u64, step as u64)? {
            let allocated = AtomicUsize::new(step);
            let room = AtomicUsize::new(area.bytes());
            return Ok(GrowingArea { area, file: Some(own.clone()), allocated, room });
        }
        map::allocate(file, area.offset() as u64, area.bytes() as u64)?;
        Ok(GrowingArea::in_memory(area))
    }

    /// Allocates the area as far as `wanted` bytes. False if it is shorter, or if the disk has no
    /// room.
    ///
    /// Several threads may do this at the same time: allocating a range again changes nothing.
    pub fn reserve(&self, wanted: usize) -> bool {
        let (room, from) =
            (self.room.load(Ordering::Acquire), self.allocated.load(Ordering::Acquire));
        if wanted <= room.min(from) {
            return true;
        }
        let Some(file) = self.file.as_ref().filter(|_| wanted <= room) else { return false };
        let to = wanted.next_multiple_of(STEP).min(self.area.bytes());
        let offset = (self.area.offset() + from) as u64;
        let reserved = file.get().and_then(|file| map::reserve(file, offset, (to - from) as u64));
        let is_there = reserved.is_ok_and(|reserved| reserved);
        if is_there {
            self.allocated.fetch_max(to, Ordering::AcqRel);
        }
        is_there
    }

    /// Bytes that are allocated.
    #[cfg(target_os = "linux")]
    pub fn allocated(&self) -> usize {
        self.allocated.load(Ordering::Acquire)
    }

    /// Sets how many bytes may be allocated.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_room(&self, bytes: usize) {
        self.room.store(bytes.min(self.area.bytes()), Ordering::Release);
    }
}
