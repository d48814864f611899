//! Pages of a table that threads share. Most tables in most recordings have none.

use std::sync::atomic::Ordering::{AcqRel, Acquire};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use crate::platform::lasting_pages;

/// Pointer to the first word of a page.
pub(super) type PagePointer = AtomicPtr<AtomicU64>;

/// The first words of the pages by segment. Their memory is taken with the first page, from the
/// system, because a hook may be taking the page.
pub(super) struct SharedPages {
    segments: usize,
    /// Null before the first one.
    places: AtomicPtr<PagePointer>,
}

impl SharedPages {
    /// No pages for so many segments.
    pub fn of_segments(segments: usize) -> Self {
        SharedPages { segments, places: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The place of a segment's page. `None` without memory, and behind the last segment.
    pub fn place(&self, segment: usize) -> Option<&PagePointer> {
        if segment >= self.segments {
            return None;
        }
        let mut places = self.places.load(Acquire);
        if places.is_null() {
            let made: *mut PagePointer = lasting_pages::take(self.bytes()).cast();
            places = match self.places.compare_exchange(places, made, AcqRel, Acquire) {
                Ok(_) => made,
                Err(other) => {
                    give_back(made, self.bytes());
                    other
                }
            };
        }
        // SAFETY: it is null, or zeroed memory for all segments, whose addresses stay.
        (!places.is_null()).then(|| unsafe { &*places.add(segment) })
    }

    /// The recording is reached no more: forgets the pages, and gives the memory back.
    pub fn give_back(&self) {
        give_back(self.places.load(Acquire), self.bytes());
    }

    fn bytes(&self) -> usize {
        self.segments * size_of::<PagePointer>()
    }
}

fn give_back(places: *mut PagePointer, bytes: usize) {
    if !places.is_null() {
        // SAFETY: `take` returned it for so many bytes. Whoever still has a place finds no page in
        // it.
        unsafe { lasting_pages::give_back(places.cast(), bytes) };
    }
}

impl Drop for SharedPages {
    fn drop(&mut self) {
        self.give_back();
    }
}
