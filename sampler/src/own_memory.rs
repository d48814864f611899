//! Copies of the memory of this process, as far as it can be read: through the kernel, so no address
//! can harm the program. A signal handler may make one.

use std::ops::Range;

/// Copies the readable memory at these addresses of this process.
pub fn copy_range(range: Range<u64>) -> Vec<u8> {
    let mut bytes = vec![0; range.end.saturating_sub(range.start) as usize];
    for (at, part) in bytes.chunks_mut(1 << 16).enumerate() {
        copy(range.start + (at << 16) as u64, part.as_mut_ptr(), part.len());
    }
    bytes
}

/// Smallest size of a memory page. The bytes of a page are all readable, or none is.
const PAGE: usize = 4096;
/// Maximum number of pages that a copy touches.
const PAGES: usize = (1 << 16) / PAGE + 1;

/// Copies memory from an address on, as far as it can be read. Returns the number of copied bytes.
pub fn copy(from: u64, to: *mut u8, room: usize) -> usize {
    let mut parts = [libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PAGES];
    let mut at = from as usize;
    let mut left = room;
    let mut count = 0;
    for part in &mut parts {
        let bytes = (PAGE - at % PAGE).min(left);
        *part = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: bytes };
        left -= bytes;
        count += usize::from(bytes > 0);
        at = at.wrapping_add(bytes);
    }
    let into = libc::iovec { iov_base: to.cast(), iov_len: room - left };
    // SAFETY: the kernel checks the addresses that are read, and writes into the room of the slot,
    // which the caller owns. An unreadable part ends the copy.
    let copied = unsafe {
        libc::process_vm_readv(libc::getpid(), &into, 1, parts.as_ptr(), count as libc::c_ulong, 0)
    };
    usize::try_from(copied).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_copied_as_far_as_it_can_be_read() {
        let source: Vec<u8> = (0..20_000).map(|at| at as u8).collect();
        let mut room = vec![0; 16 << 10];
        assert_eq!(copy(source.as_ptr() as u64, room.as_mut_ptr(), room.len()), room.len());
        assert_eq!(room, source[..room.len()]);
        for nowhere in [0, 24, u64::MAX - 8, 0xFFFF_8000_0000_0000] {
            assert_eq!(copy(nowhere, room.as_mut_ptr(), room.len()), 0);
        }
        // SAFETY: two new pages; the second one is unmapped again.
        let edge = unsafe {
            let at = libc::mmap(
                std::ptr::null_mut(),
                8192,
                3,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            libc::munmap(at.byte_add(4096), 4096);
            at as u64 + 4096
        };
        assert_eq!(copy(edge - 100, room.as_mut_ptr(), room.len()), 100);
    }
}
