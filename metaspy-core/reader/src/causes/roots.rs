//! Sites of the root causes of events. An event with several reasons can have several.
//!
//! Links are reasons like causes, for filters, expectations, triggers, effects and root causes. A
//! call with several root causes is in the row of each, and the report prints how many such calls
//! there are. With one root for each call, the root that is left out is the one that a question is
//! about.

use std::collections::HashMap;
use std::sync::Mutex;

use crate::causes::reasons::{GONE, Inheritance, NOTHING};
use crate::event::EventId;
use crate::platform::lock::lock;
use crate::ring::blocks::Slot;

/// Least value that stands for a set of sites. Smaller values are sites.
const FIRST_SET: u32 = 1 << 20;
/// Maximum number of sets. Further sets count as roots that left the window.
const SETS_MAX: usize = 1 << 16;
/// Value of the event whose effects are selected.
const UNDER: u32 = FIRST_SET + SETS_MAX as u32;

/// Sites of the root causes. Each distinct set of sites has a number.
#[derive(Default)]
pub(crate) struct Roots {
    /// Event at whose direct effects chains begin, if it is set.
    pub under: Option<EventId>,
    sets: Mutex<Sets>,
}

#[derive(Default)]
struct Sets {
    members: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
    /// Union of two values.
    unions: HashMap<(u32, u32), u32>,
    is_full: bool,
}

impl Roots {
    /// Selects the roots below an event, or all roots.
    pub fn below(under: Option<EventId>) -> Self {
        Roots { under, ..Roots::default() }
    }

    /// Returns the sites in a value. `None` is a root that left the window.
    pub fn sites(&self, value: u32) -> Vec<Option<u32>> {
        let site = |site: u32| (site < FIRST_SET).then_some(site);
        match value.checked_sub(FIRST_SET) {
            None => vec![Some(value)],
            Some(set) => match lock(&self.sets).members.get(set as usize) {
                Some(members) => members.iter().map(|&member| site(member)).collect(),
                None => vec![None],
            },
        }
    }

    /// Returns true if there were too many sets.
    pub fn is_full(&self) -> bool {
        lock(&self.sets).is_full
    }
}

impl Inheritance for Roots {
    #[inline(always)]
    fn own(&self, id: EventId, _: &Slot) -> Option<u32> {
        (self.under == Some(id)).then_some(UNDER)
    }

    fn passed(&self, effect: &Slot, value: u32) -> u32 {
        match value {
            UNDER => effect.site,
            GONE if self.under.is_some() => NOTHING,
            value => value,
        }
    }

    fn of_root(&self, slot: &Slot) -> u32 {
        if self.under.is_some() { NOTHING } else { slot.site }
    }

    fn join(&self, one: u32, other: u32) -> u32 {
        match (one.min(other), one.max(other)) {
            (value, NOTHING) => value,
            (value, same) if value == same => value,
            (low, high) => lock(&self.sets).union(low, high),
        }
    }
}

impl Sets {
    fn union(&mut self, low: u32, high: u32) -> u32 {
        if let Some(&known) = self.unions.get(&(low, high)) {
            return known;
        }
        let mut members: Vec<u32> =
            [low, high].into_iter().flat_map(|value| self.of(value)).collect();
        members.sort_unstable();
        members.dedup();
        let number = self.number(members);
        if self.unions.len() < SETS_MAX {
            self.unions.insert((low, high), number);
        }
        number
    }

    fn of(&self, value: u32) -> Vec<u32> {
        let set = value.checked_sub(FIRST_SET).and_then(|set| self.members.get(set as usize));
        set.cloned().unwrap_or_else(|| vec![value])
    }

    fn number(&mut self, members: Vec<u32>) -> u32 {
        if let Some(&known) = self.numbers.get(&members) {
            return known;
        }
        if self.members.len() == SETS_MAX {
            self.is_full = true;
            return GONE;
        }
        let number = FIRST_SET + self.members.len() as u32;
        self.members.push(members.clone());
        self.numbers.insert(members, number);
        number
    }
}
