//! Areas of a file that are allocated in steps: few programs need all of them.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::format::layout::Area;
use crate::format::superblock as sb;
use crate::platform::map;
use crate::recorder::log::Log;

/// Bytes that are allocated at a time.
pub(super) const STEP: usize = 1 << 20;

/// An area, and how many of its bytes are allocated.
pub(crate) struct Stepped {
    pub area: Area,
    allocated: AtomicUsize,
}

impl Stepped {
    /// An area of memory, which needs no allocation.
    pub fn in_memory(area: Area) -> Self {
        Stepped { area, allocated: AtomicUsize::new(area.bytes()) }
    }

    /// An area of a file, with its first step. Where the system cannot allocate without writing, a later step could
    /// overwrite what another thread has written meanwhile. The whole area is allocated there.
    pub fn in_file(area: Area, file: &File) -> io::Result<Self> {
        let step = area.bytes().min(STEP);
        let mut stepped = Stepped { area, allocated: AtomicUsize::new(step) };
        if !map::reserve(file, area.offset() as u64, step as u64)? {
            map::allocate(file, area.offset() as u64, area.bytes() as u64)?;
            stepped = Stepped::in_memory(area);
        }
        Ok(stepped)
    }

    /// True if its first `wanted` bytes are allocated.
    #[inline]
    pub fn has(&self, wanted: usize) -> bool {
        wanted <= self.allocated.load(Ordering::Acquire)
    }
}

impl Log {
    /// Allocates an area as far as `wanted` bytes. False if it is shorter, or if the disk has no room.
    ///
    /// Several threads may do this at the same time: allocating a range again changes nothing.
    pub(crate) fn reserve(&self, stepped: &Stepped, wanted: usize) -> bool {
        if stepped.has(wanted) {
            return true;
        }
        let Some((_, file)) = self.file.as_ref().filter(|_| wanted <= stepped.area.bytes()) else { return false };
        let to = wanted.next_multiple_of(STEP).min(stepped.area.bytes());
        let from = stepped.allocated.load(Ordering::Acquire);
        let offset = (stepped.area.offset() + from) as u64;
        let is_there = map::reserve(file, offset, to.saturating_sub(from) as u64).is_ok_and(|reserved| reserved);
        if is_there {
            stepped.allocated.fetch_max(to, Ordering::AcqRel);
        }
        is_there
    }

    /// Allocates the next step of the profile tables before a hook needs it.
    pub(super) fn reserve_ahead(&self) {
        let used = self.word(sb::PROFILES_USED).load(Ordering::Relaxed) as usize;
        let ahead = (used + STEP / 2).min(self.profiles.area.bytes());
        if used > 0 && !self.profiles.has(ahead) {
            let _ = self.reserve(&self.profiles, ahead);
        }
    }
}
