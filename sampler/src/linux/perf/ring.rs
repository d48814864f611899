//! Reader of the ring in which the kernel writes the records of a processor.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use perf_event_open_sys::bindings::perf_event_mmap_page;

use crate::linux::perf::record::{HEADER, length};

/// Bytes of a memory page, the size of the ring's control page.
fn page_bytes() -> usize {
    // SAFETY: the call reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

/// Mapped ring of an event.
pub struct Ring {
    map: MmapRaw,
    /// Offset of the records in the mapping.
    data: usize,
    /// Bytes of the record area: a power of two.
    size: usize,
    record: Vec<u8>,
}

impl Ring {
    /// Maps the ring of an event.
    ///
    /// The size is `wanted` bytes, halved as often as the system refuses. Users other than root may
    /// lock little memory (`kernel.perf_event_mlock_kb`).
    pub fn map(event: &File, wanted: usize) -> io::Result<Ring> {
        let page = page_bytes();
        let mut size = wanted.next_power_of_two().max(page);
        loop {
            match MmapOptions::new().len(page + size).map_raw(event) {
                Ok(map) => return Ok(Ring { map, data: page, size, record: Vec::new() }),
                Err(error) if size / 2 < 16 * page => return Err(error),
                Err(_) => size /= 2,
            }
        }
    }

    /// Capacity for records, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Passes each new record to `each`, and makes room for the kernel.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        let page = self.map.as_mut_ptr().cast::<perf_event_mmap_page>();
        // SAFETY: the mapping begins with this page, is aligned to one, and lives as long as
        // `self`. The kernel changes the head while we read it, and only we change the tail, so
        // both are read and written as atomics.
        let (head_word, tail_word) = unsafe {
            let head = AtomicU64::from_ptr(&raw mut (*page).data_head);
            (head, AtomicU64::from_ptr(&raw mut (*page).data_tail))
        };
        // The kernel writes the records before the head, with release ordering.
        let head = head_word.load(Ordering::Acquire);
        let mut tail = tail_word.load(Ordering::Relaxed);
        while head.wrapping_sub(tail) >= HEADER as u64 {
            let mut header = [0; HEADER];
            self.copy(tail, &mut header);
            let bytes = length(header);
            if bytes < HEADER || bytes as u64 > head.wrapping_sub(tail) {
                // The kernel never writes such a record. Dropping the rest avoids reading it again
                // and again.
                tail = head;
                break;
            }
            let mut record = std::mem::take(&mut self.record);
            record.resize(bytes, 0);
            self.copy(tail, &mut record);
            each(&record);
            self.record = record;
            tail = tail.wrapping_add(bytes as u64);
        }
        // The kernel only overwrites records before the tail.
        tail_word.store(tail, Ordering::Release);
    }

    /// Copies bytes of the ring, across its end if necessary.
    fn copy(&self, from: u64, to: &mut [u8]) {
        let at = from as usize & (self.size - 1);
        let first = to.len().min(self.size - at);
        let data = self.map.as_ptr().wrapping_add(self.data);
        // SAFETY: both parts are inside the mapping: `at + first <= size`, and a record is at most
        // 64 KiB, smaller than the ring. The kernel does not write between tail and head, where all
        // the copied bytes are.
        unsafe {
            std::ptr::copy_nonoverlapping(data.add(at), to.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, to[first..].as_mut_ptr(), to.len() - first);
        }
    }
}
