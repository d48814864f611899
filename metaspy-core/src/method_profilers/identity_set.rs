//! The number of different objects: a set that stops growing (SPY's `BoundedIdentitySet`).

use std::alloc::Layout;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::method_profilers::Call;
use crate::platform::own_pages;

/// A set of at most `MOST` objects, distinguished by type and address or key. Its size is a lower
/// bound: Rust moves values, and uses memory again. It takes pages of the system at the first
/// object, without the program's allocator and without a lock, because a signal handler may make
/// the call.
#[derive(Debug, Default)]
pub struct IdentitySet<const MOST: usize = 100> {
    /// The first of [`IdentitySet::CELLS`] cells; null before the first object. A cell that is 0 is
    /// free.
    cells: AtomicPtr<AtomicU64>,
    used: AtomicUsize,
}

impl<const MOST: usize> IdentitySet<MOST> {
    /// At least twice as many as objects.
    const CELLS: usize = (MOST * 2 + 1).next_power_of_two();
    const LAYOUT: Layout = match Layout::array::<AtomicU64>(Self::CELLS) {
        Ok(layout) => layout,
        Err(_) => panic!("more objects than memory"),
    };

    /// Adds the object that a call is about, if it is about one. True if the set has grown.
    #[inline]
    pub fn see(&self, call: &Call<'_>) -> bool {
        call.identity().is_some_and(|identity| self.add(identity))
    }

    /// Adds an object by a hash that distinguishes it from others. True if the set has grown.
    #[inline]
    pub fn add(&self, identity: u64) -> bool {
        // A full set is only read: threads do not meet in it.
        self.used.load(Ordering::Relaxed) < MOST && self.search(identity.max(1))
    }

    /// True if it has an object.
    pub fn contains(&self, identity: u64) -> bool {
        let identity = identity.max(1);
        let Some(cells) = self.cells() else { return false };
        let first = (identity >> 32) as usize;
        let cells = (0..cells.len())
            .map(|step| cells[(first + step) & (cells.len() - 1)].load(Ordering::Relaxed));
        cells.take_while(|found| *found != 0).any(|found| found == identity)
    }

    fn search(&self, identity: u64) -> bool {
        let Some(cells) = self.cells() else { return false };
        let mask = cells.len() - 1;
        let first = (identity >> 32) as usize;
        for step in 0..cells.len() {
            let cell = &cells[(first + step) & mask];
            match cell.load(Ordering::Relaxed) {
                found if found == identity => return false,
                0 => match cell.compare_exchange(0, identity, Ordering::Relaxed, Ordering::Relaxed)
                {
                    Ok(_) => {
                        // Several threads may be here at once when one place is left.
                        return self.used.fetch_add(1, Ordering::Relaxed) < MOST;
                    }
                    Err(found) if found == identity => return false,
                    Err(_) => {}
                },
                _ => {}
            }
        }
        false
    }

    /// The cells, made if this is the first object; `None` without memory.
    fn cells(&self) -> Option<&[AtomicU64]> {
        let mut first = self.cells.load(Ordering::Acquire);
        if first.is_null() {
            first = self.make()?;
        }
        // SAFETY: that many zeros were taken, which are cells. They stay as long as the set.
        Some(unsafe { std::slice::from_raw_parts(first, Self::CELLS) })
    }

    #[cold]
    fn make(&self) -> Option<*mut AtomicU64> {
        let made: *mut AtomicU64 = own_pages::take(Self::LAYOUT).cast();
        if made.is_null() {
            return None;
        }
        match self.cells.compare_exchange(
            std::ptr::null_mut(),
            made,
            Ordering::AcqRel,
            Ordering::Acquire,
        ) {
            Ok(_) => Some(made),
            Err(other) => {
                // SAFETY: it was taken above, and nothing else refers to it.
                unsafe { own_pages::give_back(made.cast(), Self::LAYOUT) };
                Some(other)
            }
        }
    }

    /// The number of objects; if [`IdentitySet::is_full`], there may be more.
    pub fn len(&self) -> usize {
        self.used.load(Ordering::Relaxed).min(MOST)
    }

    /// True if there was no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if there is no room for more objects.
    pub fn is_full(&self) -> bool {
        self.len() == MOST
    }
}

impl<const MOST: usize> Drop for IdentitySet<MOST> {
    fn drop(&mut self) {
        let cells = *self.cells.get_mut();
        if !cells.is_null() {
            // SAFETY: `make` took them so, and the set is not shared any more.
            unsafe { own_pages::give_back(cells.cast(), Self::LAYOUT) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_each_once_and_stops_when_it_is_full() {
        let set: IdentitySet<3> = IdentitySet::default();
        assert!(set.is_empty());
        for identity in [7, 7, 0, 1 << 40] {
            set.add(identity);
        }
        assert_eq!((set.len(), set.is_full()), (3, true));
        set.add(99);
        assert_eq!(set.len(), 3);
        assert!(set.contains(7) && set.contains(1 << 40) && !set.contains(99));
    }
}
