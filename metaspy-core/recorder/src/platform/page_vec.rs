//! A vector in pages of its own: it grows without the program's allocator, because a hook may run
//! in a signal handler.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::platform::own_pages;

/// Bytes of the first pages.
const FIRST_BYTES: usize = 16 << 10;

/// A vector that grows without the allocator.
pub struct PageVec<T> {
    /// Dangling without memory.
    first: NonNull<T>,
    length: usize,
    capacity: usize,
}

// SAFETY: it owns its values, as a `Vec` does.
unsafe impl<T: Send> Send for PageVec<T> {}

impl<T> PageVec<T> {
    /// An empty vector, without memory.
    pub const fn empty() -> Self {
        PageVec { first: NonNull::dangling(), length: 0, capacity: 0 }
    }

    /// A vector in memory of the caller. It must not grow, nor be dropped.
    ///
    /// # Safety
    /// As many values as `length` were written, and the memory stays as long as the vector is used.
    pub unsafe fn over(memory: &mut [MaybeUninit<T>], length: usize) -> Self {
        let first = NonNull::from(&mut *memory).cast();
        PageVec { first, length, capacity: memory.len() }
    }

    /// True if there is room for one more value. Takes pages if it must.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        self.length < self.capacity || self.grow(self.length + 1)
    }

    /// True if there is room for one more value in the pages that it has.
    #[inline(always)]
    pub fn has_known_room(&self) -> bool {
        self.length < self.capacity
    }

    /// Adds a value; drops it if there is no memory.
    pub fn push(&mut self, value: T) {
        self.push_with(|| value);
    }

    /// Adds a value, made in its place. `None` if there is no memory.
    #[inline]
    pub fn push_with(&mut self, make: impl FnOnce() -> T) -> Option<&mut T> {
        if self.has_room() { self.push_known(make) } else { None }
    }

    /// As [`PageVec::push_with`], without taking pages.
    #[inline(always)]
    pub fn push_known(&mut self, make: impl FnOnce() -> T) -> Option<&mut T> {
        if !self.has_known_room() {
            return None;
        }
        // SAFETY: there is room for it behind the others.
        let mut place = unsafe { self.first.add(self.length) };
        // SAFETY: as above.
        unsafe { place.write(make()) };
        self.length += 1;
        // SAFETY: it was written, and the vector is borrowed.
        Some(unsafe { place.as_mut() })
    }

    /// Removes the last value, and does not drop it.
    #[inline]
    pub fn forget_last(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Takes the last value.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.length = self.length.checked_sub(1)?;
        // SAFETY: it was written, and is not part of the vector any more.
        Some(unsafe { self.first.add(self.length).read() })
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, wanted: usize) -> bool {
        let fewest = (FIRST_BYTES / size_of::<T>().max(1)).max(1);
        let capacity = wanted.max(self.capacity * 2).max(fewest);
        let Ok(layout) = Layout::array::<T>(capacity) else { return false };
        let Some(first) = NonNull::new(own_pages::take(layout).cast::<T>()) else { return false };
        // SAFETY: the new pages are larger, and the old ones have that many values.
        unsafe { first.copy_from_nonoverlapping(self.first, self.length) };
        self.give_back();
        (self.first, self.capacity) = (first, capacity);
        true
    }

    fn give_back(&mut self) {
        if let Ok(layout) = Layout::array::<T>(self.capacity)
            && self.capacity > 0
        {
            // SAFETY: `grow` took them so, and no reference to a value in them is left.
            unsafe { own_pages::give_back(self.first.as_ptr().cast(), layout) };
        }
    }
}

impl<T: Copy> PageVec<T> {
    /// Makes it this long, with copies of a value. False if there is no memory.
    pub fn extend_to(&mut self, length: usize, value: T) -> bool {
        if length > self.capacity && !self.grow(length) {
            return false;
        }
        while self.length < length {
            self.push(value);
        }
        true
    }
}

impl<T> Deref for PageVec<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: that many values were written.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for PageVec<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: that many values were written, and the vector is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

impl<T> Drop for PageVec<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn it_keeps_its_values_while_it_grows_and_drops_each_once() {
        let alive = Rc::new(());
        let mut values = PageVec::empty();
        for number in 0..5_000_usize {
            values.push((number, alive.clone()));
        }
        assert!(values.iter().map(|(number, _)| *number).eq(0..5_000));
        assert_eq!(values.pop().map(|(number, _)| number), Some(4_999));
        assert_eq!((values.len(), Rc::strong_count(&alive)), (4_999, 5_000));
        drop(values);
        assert_eq!(Rc::strong_count(&alive), 1);
    }

    #[test]
    fn it_can_be_filled_with_copies() {
        let mut depths = PageVec::empty();
        assert!(depths.extend_to(3, 7_u32) && depths.extend_to(20_000, 0));
        depths[3] = 1;
        assert_eq!((&depths[..5], depths.len()), (&[7, 7, 7, 1, 0][..], 20_000));
    }
}
