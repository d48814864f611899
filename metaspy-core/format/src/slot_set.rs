//! [`SlotSet`]: some of the slots of a block.

/// A set of slots of a block, in 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSet(u128);

impl SlotSet {
    /// Adds a slot.
    pub const fn insert(&mut self, slot: usize) {
        self.0 |= 1 << (slot % crate::BLOCK_SLOTS);
    }

    /// Takes a slot out.
    pub const fn remove(&mut self, slot: usize) {
        self.0 &= !(1 << (slot % crate::BLOCK_SLOTS));
    }

    /// True if the slot is in the set.
    pub const fn contains(self, slot: usize) -> bool {
        self.0 >> (slot % crate::BLOCK_SLOTS) & 1 == 1
    }

    /// True if no slot is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The slots of both sets.
    pub const fn union(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_contains_the_slots_that_were_added() {
        let mut set = SlotSet::default();
        assert!(set.is_empty());
        [1, 64, 127].into_iter().for_each(|slot| set.insert(slot));
        let found: Vec<usize> =
            (0..crate::BLOCK_SLOTS).filter(|slot| set.contains(*slot)).collect();
        assert_eq!(found, [1, 64, 127]);
        set.remove(64);
        assert!(!set.contains(64) && set.contains(127));
        assert!(!set.is_empty());
    }
}
