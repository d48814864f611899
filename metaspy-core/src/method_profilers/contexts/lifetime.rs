//! Lifetimes of objects.
//!
//! Where a context has many objects, one in sixteen has its lifetime measured, by chance. Two
//! readings of the clock for each object took as long as all other counts of it. Objects and bytes
//! stay exact.

use std::cell::Cell;

use metaspy_probe::hash::scatter;

use crate::clock;

/// Objects of a context, on each thread, that are all measured.
const ALL: u64 = 64;
/// One in this many of the later ones is measured, and counts for as many.
const ONE_IN: u32 = 16;
/// The tick at which an object was allocated; 0 = its lifetime is not measured. It is negative if
/// the object counts for [`ONE_IN`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Start(i64);

thread_local! {
    // Objects until the next measured one, and the state of the generator that chooses it.
    static UNTIMED: Cell<u32> = const { Cell::new(0) };
    static DICE: Cell<u64> = const { Cell::new(0) };
}

impl Start {
    /// The start of an object's life in a context in which this thread allocated so many before.
    #[inline]
    pub fn of_object(earlier: u64) -> Self {
        if earlier < ALL {
            return Start(clock::now() as i64);
        }
        let left = UNTIMED.get();
        if left > 0 {
            UNTIMED.set(left - 1);
            return Start(0);
        }
        UNTIMED.set(roll());
        Start(-(clock::now() as i64))
    }

    /// The number of objects that it counts for, and the ticks since then for all of them together;
    /// `None` if it is not measured.
    #[inline]
    pub fn until_now(self) -> Option<(u64, u64)> {
        if self.0 == 0 {
            return None;
        }
        let objects = if self.0 > 0 { 1 } else { u64::from(ONE_IN) };
        let ticks = clock::now().saturating_sub(self.0.unsigned_abs());
        Some((objects, ticks.saturating_mul(objects)))
    }
}

/// The number of objects that are left out next: from 0 to 30, and 15 on average.
fn roll() -> u32 {
    let dice = scatter(DICE.get().wrapping_add(1));
    DICE.set(dice);
    (dice % u64::from(2 * ONE_IN - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_objects_count_for_themselves_and_later_ones_for_all() {
        let counted = |objects: std::ops::Range<u64>| -> u64 {
            let starts = objects.map(Start::of_object);
            starts.filter_map(Start::until_now).map(|(objects, _)| objects).sum()
        };
        assert_eq!(counted(0..ALL), ALL);
        let later = counted(ALL..1_000_000);
        assert!((980_000..1_020_000).contains(&later), "{later}");
    }
}
