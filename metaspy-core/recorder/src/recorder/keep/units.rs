//! The units that are kept, and the slots that each of them needs.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::event::EventId;
use crate::format::slot_set::SlotSet;
use crate::format::{BLOCK_SLOTS, hash};

/// Slots of a unit at most.
const SLOTS_MOST: usize = 10_000;
/// Ids whose effects are kept, before those that have none any more are forgotten.
const SPREADING: usize = 1 << 16;
/// Words of the filter of these ids.
const FILTER: usize = 1 << 11;

/// An event that met a rule, with the events that are kept because of it.
struct Unit {
    /// The event that it is about.
    event: u64,
    rule: usize,
    score: u64,
    /// Its events, and the marks about them.
    slots: HashSet<u64>,
    /// How many of these are events.
    events: usize,
}

/// The slots of a block that units need.
struct Slots {
    set: SlotSet,
    /// How many units need each slot.
    units: Box<[u32; BLOCK_SLOTS]>,
}

/// All units.
pub(super) struct Units {
    /// By the row in the table.
    units: HashMap<usize, Unit>,
    /// Rule, score and row: within a rule, the least surprising unit comes first.
    order: BTreeSet<(usize, u64, usize)>,
    /// Slots of the units of each rule.
    slots: Vec<u64>,
    /// By the sequence of the block.
    blocks: HashMap<u64, Slots>,
    /// Events whose effects are kept, with the rows of their units.
    spreading: HashMap<u64, Vec<usize>>,
    /// The spreading ids as bits. Most causes are none of them, and one load shows it.
    filter: Box<[u64; FILTER]>,
    free: Vec<usize>,
    used: usize,
    rows: usize,
}

/// The unit that gives way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Least {
    pub rule: usize,
    pub score: u64,
    pub row: usize,
}

/// The result of adding an event to a unit.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Added {
    Is,
    /// It was there before.
    Was,
    /// The unit has too many events.
    TooMany,
}

impl Units {
    /// Without units, for so many rows.
    pub fn new(rows: usize) -> Self {
        Units {
            units: HashMap::new(),
            order: BTreeSet::new(),
            slots: Vec::new(),
            blocks: HashMap::new(),
            spreading: HashMap::new(),
            filter: Box::new([0; FILTER]),
            free: Vec::new(),
            used: 0,
            rows,
        }
    }

    /// Makes room for units of one more rule.
    pub(crate) fn add_rule(&mut self) {
        self.slots.push(0);
    }

    /// Begins a unit. Its row; `None` if the table is full.
    pub fn begin(&mut self, event: EventId, rule: usize, score: u64) -> Option<usize> {
        let row = self.free.pop().or_else(|| {
            let next = self.used;
            self.used += usize::from(next < self.rows);
            (next < self.rows).then_some(next)
        })?;
        self.units.insert(
            row,
            Unit { event: event.raw(), rule, score, slots: HashSet::new(), events: 0 },
        );
        self.order.insert((rule, score, row));
        Some(row)
    }

    /// Adds a slot to a unit: an event, or a mark about one.
    pub fn add(&mut self, row: usize, id: EventId, is_event: bool) -> Added {
        let Some(unit) = self.units.get_mut(&row) else { return Added::TooMany };
        if unit.slots.contains(&id.raw()) {
            return Added::Was;
        }
        if unit.slots.len() >= SLOTS_MOST {
            return Added::TooMany;
        }
        unit.slots.insert(id.raw());
        unit.events += usize::from(is_event);
        self.slots[unit.rule] += 1;
        let slots = self.blocks.entry(id.sequence()).or_insert_with(|| Slots {
            set: SlotSet::default(),
            units: Box::new([0; BLOCK_SLOTS]),
        });
        slots.set.insert(id.slot());
        slots.units[id.slot()] += 1;
        Added::Is
    }

    /// Keeps the effects of an event from now on.
    pub fn spread(&mut self, row: usize, id: EventId) {
        let rows = self.spreading.entry(id.raw()).or_default();
        if !rows.contains(&row) {
            rows.push(row);
        }
        let (word, bit) = bit_of(id.raw());
        self.filter[word] |= bit;
    }

    /// The units of an event, if its effects are kept.
    #[inline]
    pub(crate) fn spreads(&self, id: u64) -> &[usize] {
        let (word, bit) = bit_of(id);
        match self.filter[word] & bit {
            0 => &[],
            _ => self.spreading.get(&id).map_or(&[], Vec::as_slice),
        }
    }

    /// How many events' effects are kept.
    pub(crate) fn spreading(&self) -> usize {
        self.spreading.len()
    }

    /// True if an event is in a unit of this rule, as far as its effects are kept.
    pub(crate) fn is_of_rule(&self, id: u64, rule: usize) -> bool {
        self.spreads(id).iter().filter_map(|row| self.units.get(row)).any(|unit| unit.rule == rule)
    }

    /// Forgets which effects are kept, for blocks before this sequence, if there are many.
    pub(crate) fn forget_before(&mut self, sequence: u64) {
        if self.spreading.len() < SPREADING {
            return;
        }
        self.spreading.retain(|&id, _| id / BLOCK_SLOTS as u64 >= sequence);
        self.filter.fill(0);
        for (word, bit) in self.spreading.keys().map(|&id| bit_of(id)) {
            self.filter[word] |= bit;
        }
    }

    /// The slots of a block that are kept.
    pub fn slots(&self, sequence: u64) -> SlotSet {
        self.blocks.get(&sequence).map_or(SlotSet::default(), |slots| slots.set)
    }

    /// True if there is a unit in this row, about this event.
    pub fn is_about(&self, row: usize, event: EventId) -> bool {
        self.units.get(&row).is_some_and(|unit| unit.event == event.raw())
    }

    /// How many events a unit has.
    pub fn events_of(&self, row: usize) -> usize {
        self.units.get(&row).map_or(0, |unit| unit.events)
    }

    /// The least surprising unit of the rule that needs most slots.
    pub fn least(&self) -> Option<Least> {
        let rule = (0..self.slots.len()).max_by_key(|&rule| self.slots[rule])?;
        let of_rule = self.order.range((rule, 0, 0)..).next().filter(|(of, ..)| *of == rule);
        let (rule, score, row) = *of_rule.or_else(|| self.order.first())?;
        Some(Least { rule, score, row })
    }

    /// Removes a unit. The sequences of the blocks that lose slots.
    pub fn remove(&mut self, row: usize) -> BTreeSet<u64> {
        let mut changed = BTreeSet::new();
        let Some(Unit { rule, score, slots, .. }) = self.units.remove(&row) else { return changed };
        self.order.remove(&(rule, score, row));
        self.slots[rule] -= slots.len() as u64;
        self.free.push(row);
        for id in slots {
            if let Some(rows) = self.spreading.get_mut(&id) {
                rows.retain(|of| *of != row);
                if rows.is_empty() {
                    self.spreading.remove(&id);
                }
            }
            let sequence = id / BLOCK_SLOTS as u64;
            let slot = id as usize % BLOCK_SLOTS;
            let Some(block) = self.blocks.get_mut(&sequence) else { continue };
            block.units[slot] -= 1;
            if block.units[slot] == 0 {
                block.set.remove(slot);
                changed.insert(sequence);
            }
        }
        for sequence in
            changed.iter().filter(|sequence| self.slots(**sequence).is_empty()).collect::<Vec<_>>()
        {
            self.blocks.remove(sequence);
        }
        changed
    }
}

/// The word and the bit of an id in the filter.
#[inline]
fn bit_of(id: u64) -> (usize, u64) {
    let mixed = hash::scatter(id);
    ((mixed / 64) as usize % FILTER, 1_u64.rotate_left((mixed % 64) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(sequence: u64, slot: u64) -> EventId {
        EventId::new(sequence, slot).expect("it is in a lap")
    }

    #[test]
    fn a_slot_is_kept_as_long_as_a_unit_needs_it() {
        let mut units = Units::new(10);
        (0..2).for_each(|_| units.add_rule());
        let one = units.begin(id(200, 7), 0, 5).expect("a row");
        let other = units.begin(id(200, 7), 0, 3).expect("a row");
        for row in [one, other] {
            assert!(units.add(row, id(200, 7), true) == Added::Is);
        }
        assert!(
            units.add(one, id(200, 9), true) == Added::Is
                && units.add(one, id(200, 9), true) == Added::Was
        );
        units.spread(one, id(200, 9));
        assert_eq!(
            (units.spreads(id(200, 9).raw()), units.spreads(id(200, 7).raw())),
            (&[one][..], &[][..])
        );
        assert_eq!(units.least(), Some(Least { rule: 0, score: 3, row: other }));
        assert!(units.remove(other).is_empty());
        let changed = units.remove(one);
        assert_eq!((changed, units.spreads(id(200, 9).raw())), (BTreeSet::from([200]), &[][..]));
        assert!(units.slots(200).is_empty() && units.least().is_none());
    }

    #[test]
    fn the_rule_with_most_events_gives_way() {
        let mut units = Units::new(10);
        (0..2).for_each(|_| units.add_rule());
        let rare = units.begin(id(300, 1), 1, 1).expect("a row");
        units.add(rare, id(300, 1), true);
        for number in 0..3 {
            let row = units.begin(id(301, 1 + number), 0, 100 + number).expect("a row");
            units.add(row, id(301, 1 + number), true);
        }
        let least = units.least().expect("there are units");
        assert_eq!(units.remove(least.row).len(), 1);
        let kept = [(300, 1), (301, 1), (301, 2)]
            .map(|(sequence, slot)| units.slots(sequence).contains(slot));
        assert_eq!(kept, [true, false, true]);
    }
}
