//! The epochs at which views begin or end. Epochs between two of them belong to the same views:
//! their rows are merged.
//!
//! Boundaries are published without a lock, because lanes and folders need them, and neither waits.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicUsize, fence};

use crate::format::row;
use crate::platform::lock::lock;
use crate::recorder::epoch::epoch;

/// Boundaries that are published: the newest ones. Earlier epochs are not merged.
const MOST: usize = 64;
/// The epochs before the first boundary are merged by as many.
const RUN: u32 = 65_536;

/// How many views begin or end at an epoch.
static HELD: Mutex<BTreeMap<u32, u32>> = Mutex::new(BTreeMap::new());

/// The published boundaries, in ascending order.
struct Published {
    /// Odd while they change.
    version: AtomicU32,
    used: AtomicUsize,
    /// How many earlier ones there are.
    left_out: AtomicUsize,
    epochs: [AtomicU32; MOST],
}

static PUBLISHED: Published = Published {
    version: AtomicU32::new(0),
    used: AtomicUsize::new(0),
    left_out: AtomicUsize::new(0),
    epochs: [const { AtomicU32::new(0) }; MOST],
};

/// Boundaries that were given up so far: each may have made rows of two epochs mergeable.
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// An epoch at which a view begins or ends. While this lives, its rows are not merged with those of
/// the epochs before.
#[derive(Debug)]
pub struct Boundary(u32);

impl Boundary {
    /// A view begins or ends at an epoch that has not begun yet, or of which the caller holds a
    /// boundary.
    pub(super) fn at(epoch: u32) -> Self {
        let mut held = lock(&HELD);
        *held.entry(epoch).or_default() += 1;
        PUBLISHED.publish(&held);
        Boundary(epoch)
    }

    /// The first epoch behind it.
    pub fn epoch(&self) -> u32 {
        self.0
    }
}

impl Drop for Boundary {
    fn drop(&mut self) {
        let mut held = lock(&HELD);
        if let Some(views) = held.get_mut(&self.0) {
            *views -= 1;
            if *views == 0 {
                held.remove(&self.0);
                PUBLISHED.publish(&held);
                GIVEN_UP.fetch_add(1, Release);
            }
        }
    }
}

/// How many boundaries were given up so far.
pub(super) fn given_up() -> usize {
    GIVEN_UP.load(Acquire)
}

impl Published {
    /// Publishes the newest ones. The caller holds the lock.
    fn publish(&self, held: &BTreeMap<u32, u32>) {
        let version = self.version.load(Relaxed);
        self.version.store(version.wrapping_add(1), Relaxed);
        fence(Release);
        let left_out = held.len().saturating_sub(MOST);
        for (cell, epoch) in self.epochs.iter().zip(held.keys().skip(left_out)) {
            cell.store(*epoch, Relaxed);
        }
        self.used.store(held.len() - left_out, Relaxed);
        self.left_out.store(left_out, Relaxed);
        self.version.store(version.wrapping_add(2), Release);
    }
}

/// The boundaries at one moment.
pub(super) struct Boundaries {
    epochs: [u32; MOST],
    used: usize,
    /// True if there are earlier ones.
    are_cut: bool,
    /// The newest epoch.
    now: u32,
}

impl Boundaries {
    /// The boundaries now, of an epoch that the caller has seen, and of all earlier ones. `None`
    /// while they change.
    pub fn now() -> Option<Self> {
        let now = epoch();
        let version = PUBLISHED.version.load(Acquire);
        let used = PUBLISHED.used.load(Relaxed).min(MOST);
        let mut epochs = [0; MOST];
        for (epoch, cell) in epochs.iter_mut().zip(&PUBLISHED.epochs).take(used) {
            *epoch = cell.load(Relaxed);
        }
        let are_cut = PUBLISHED.left_out.load(Relaxed) != 0;
        fence(Acquire);
        let is_stable = version.is_multiple_of(2) && PUBLISHED.version.load(Relaxed) == version;
        is_stable.then_some(Boundaries { epochs, used, are_cut, now })
    }

    /// True if a row is of the newest epoch, which calls are being counted in.
    pub fn is_newest(&self, epoch: u32) -> bool {
        row::epoch(epoch) == row::epoch(self.now)
    }

    /// The epoch whose rows those of this epoch are merged with: the first one behind the boundary
    /// before it.
    ///
    /// Both are epochs as rows keep them, modulo [`row::EPOCHS`].
    pub fn merged(&self, epoch: u32) -> u32 {
        let epoch = self.now.wrapping_sub(row::epochs_between(epoch, self.now));
        let boundaries = &self.epochs[..self.used];
        let before = boundaries.partition_point(|&boundary| boundary <= epoch);
        let merged = match before.checked_sub(1) {
            Some(at) => boundaries[at],
            None if self.are_cut => epoch,
            None => epoch / RUN * RUN,
        };
        row::epoch(merged)
    }
}

/// As [`Boundaries::merged`], with the boundaries of now.
pub(super) fn merged_epoch(epoch: u32) -> u32 {
    Boundaries::now().map_or(epoch, |boundaries| boundaries.merged(epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundaries(epochs: &[u32], are_cut: bool, now: u32) -> Boundaries {
        let mut all = [0; MOST];
        all[..epochs.len()].copy_from_slice(epochs);
        Boundaries { epochs: all, used: epochs.len(), are_cut, now }
    }

    #[test]
    fn epochs_between_two_boundaries_are_merged_with_the_first_of_them() {
        let some = boundaries(&[5, 9], false, 12);
        let merged = (1..=12).map(|epoch| some.merged(epoch)).collect::<Vec<_>>();
        assert_eq!(merged, [0, 0, 0, 0, 5, 5, 5, 5, 9, 9, 9, 9]);
        assert!(some.is_newest(12) && !some.is_newest(11));
    }

    #[test]
    fn without_the_earlier_boundaries_nothing_before_is_merged() {
        let some = boundaries(&[5, 9], true, 12);
        assert_eq!([3, 4, 6].map(|epoch| some.merged(epoch)), [3, 4, 5]);
    }

    #[test]
    fn an_epoch_that_rows_cut_off_is_found_again() {
        let now = row::EPOCHS + 3;
        let some = boundaries(&[row::EPOCHS - 1], false, now);
        assert_eq!(some.merged(1), row::EPOCHS - 1);
        assert_eq!(some.merged(row::EPOCHS - 2), row::epoch((row::EPOCHS - 2) / RUN * RUN));
    }

    #[test]
    fn a_boundary_holds_as_long_as_a_view_does() {
        // Far from the epochs of other tests.
        let one = Boundary::at(u32::MAX - 7);
        let other = Boundary::at(u32::MAX - 7);
        let held = || lock(&HELD).contains_key(&(u32::MAX - 7));
        drop(one);
        assert!(held());
        drop(other);
        assert!(!held());
    }
}
