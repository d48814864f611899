//! How many different objects: a set that stops growing (SPY's `BoundedIdentitySet`).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::method_profilers::Call;

/// A set of at most `MOST` objects, told apart by type and address or key. What it says is a lower bound: Rust moves
/// values, and uses memory again.
#[derive(Debug, Default)]
pub struct IdentitySet<const MOST: usize = 100> {
    /// Twice as many as objects, made when there is a first one; 0 is free.
    cells: OnceLock<Box<[AtomicU64]>>,
    used: AtomicUsize,
}

impl<const MOST: usize> IdentitySet<MOST> {
    /// Adds the object that a call is about, if it is about one.
    #[inline]
    pub fn see(&self, call: &Call<'_>) {
        if let Some(identity) = call.identity() {
            self.add(identity);
        }
    }

    /// Adds an object by a hash of what tells it from others.
    #[inline]
    pub fn add(&self, identity: u64) {
        // A full set is only read: threads do not meet in it.
        if self.used.load(Ordering::Relaxed) < MOST {
            self.search(identity.max(1));
        }
    }

    fn search(&self, identity: u64) {
        let cells = self.cells.get_or_init(|| {
            let room = (MOST * 2).next_power_of_two();
            (0..room).map(|_| AtomicU64::new(0)).collect()
        });
        let mask = cells.len() - 1;
        let first = (identity >> 32) as usize;
        for step in 0..cells.len() {
            let cell = &cells[(first + step) & mask];
            match cell.load(Ordering::Relaxed) {
                found if found == identity => return,
                0 => match cell.compare_exchange(0, identity, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => {
                        self.used.fetch_add(1, Ordering::Relaxed);
                        return;
                    }
                    Err(found) if found == identity => return,
                    Err(_) => {}
                },
                _ => {}
            }
        }
    }

    /// How many, [`IdentitySet::is_full`] says "or more".
    pub fn len(&self) -> usize {
        self.used.load(Ordering::Relaxed).min(MOST)
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no room for more, so that there may have been.
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
