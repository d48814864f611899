//! Zeroed pages whose addresses stay for the rest of the process, although their memory is given
//! back: a pointer to them may remain, and stores through it are then lost.
//!
//! They are cut from large mappings, one after another, because the system limits the number of
//! mappings of a process.

use std::alloc::Layout;
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use metaspy_reader::platform::map;

use crate::platform::own_pages;

/// Bytes of a mapping. Memory is taken page by page, at the first use.
const MAPPING: usize = 64 << 20;
/// Bytes of a page, or a multiple of it.
const PAGE: usize = 1 << 14;

/// The first page of the mapping that pages are cut from; null before the first one.
static CURRENT: AtomicPtr<Head> = AtomicPtr::new(null_mut());

/// The first page of a mapping.
struct Head {
    /// Bytes that were cut off behind this page. Zero at first.
    used: AtomicUsize,
}

/// So many zeroed bytes, aligned to a page; null if there is no memory. Neither waits nor calls the
/// program's allocator.
pub fn take(bytes: usize) -> *mut u8 {
    let bytes = bytes.next_multiple_of(PAGE);
    if bytes > MAPPING / 4 {
        return mapping(bytes);
    }
    loop {
        let current = CURRENT.load(Acquire);
        // SAFETY: it is null, or the first page of a mapping that stays, whose zeros are a head.
        if let Some(head) = unsafe { current.as_ref() } {
            let at = PAGE + head.used.fetch_add(bytes, Relaxed);
            if at + bytes <= MAPPING {
                return current.cast::<u8>().wrapping_add(at);
            }
        }
        let made: *mut Head = mapping(MAPPING).cast();
        if made.is_null() {
            return null_mut();
        }
        if CURRENT.compare_exchange(current, made, AcqRel, Relaxed).is_err() {
            // SAFETY: it was made above, and nothing else knows of it.
            unsafe { own_pages::give_back(made.cast(), layout(MAPPING)) };
        }
    }
}

/// Gives the memory back; from now on the bytes are zeros.
///
/// # Safety
/// [`take`] returned `at` for so many bytes, and the memory is not used any more.
pub unsafe fn give_back(at: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises.
    unsafe { map::empty(at, bytes.next_multiple_of(PAGE)) };
}

fn mapping(bytes: usize) -> *mut u8 {
    own_pages::take(layout(bytes))
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, PAGE).expect("it is a multiple of a page")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_apart_and_zeros_again_when_they_were_given_back() {
        let sizes = [1, PAGE, PAGE + 1, MAPPING / 4, MAPPING, 7];
        let taken: Vec<*mut u8> = sizes.iter().map(|&bytes| take(bytes)).collect();
        for (&at, bytes) in taken.iter().zip(sizes) {
            // SAFETY: they are ours, and so long.
            unsafe {
                assert_eq!((at.read(), at.add(bytes - 1).read()), (0, 0));
                at.write_bytes(0xFF, bytes);
            }
        }
        for (&at, bytes) in taken.iter().zip(sizes) {
            // SAFETY: as above.
            unsafe {
                assert_eq!(
                    (at.read(), at.add(bytes - 1).read()),
                    (0xFF, 0xFF),
                    "no other one is there"
                );
                give_back(at, bytes);
                assert!(cfg!(not(unix)) || (at.read(), at.add(bytes - 1).read()) == (0, 0));
            }
        }
    }
}
