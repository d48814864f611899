//! The number of different objects: a set that stops growing (SPY's `BoundedIdentitySet`).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::method_profilers::Call;

/// A set of at most `MOST` objects, distinguished by type and address or key. Its size is a lower bound: Rust moves values,
/// and uses memory again.
#[derive(Debug, Default)]
pub struct IdentitySet<const MOST: usize = 100> {
    /// Twice as many as objects, made when there is a first one; 0 is free.
    cells: OnceLock<Box<[AtomicU64]>>,
    used: AtomicUsize,
}

impl<const MOST: usize> IdentitySet<MOST> {
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

    fn search(&self, identity: u64) -> bool {
        let cells = self.cells.get_or_init(|| {
            let room = (MOST * 2).next_power_of_two();
            (0..room).map(|_| AtomicU64::new(0)).collect()
        });
        let mask = cells.len() - 1;
        let first = (identity >> 32) as usize;
        for step in 0..cells.len() {
            let cell = &cells[(first + step) & mask];
            match cell.load(Ordering::Relaxed) {
                found if found == identity => return false,
                0 => match cell.compare_exchange(0, identity, Ordering::Relaxed, Ordering::Relaxed) {
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
    }
}
