//! Events that a recording keeps when they leave the window: surprising events, with their causes
//! and effects.
//!
//! Kept events stay in their blocks, so every reader finds them by id. The other events of such a
//! block are folded.

use crate::Store;
use crate::event::EventId;
use crate::ring::blocks::{Block, Ring};
use metaspy_format::superblock::{self as sb, kept as row};
use metaspy_format::{header, high, low};

/// Events that a recording keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// Rules that say which events are kept.
    pub rules: Vec<String>,
    /// Units by the time of their event.
    pub units: Vec<KeptUnit>,
    /// Number of events that left the window and are kept.
    pub events: u64,
    /// Number of blocks that hold them. Each takes 4 KiB of the budget.
    pub blocks: u64,
    /// Number of units that gave way to more surprising ones.
    pub gone: u64,
    /// Number of blocks that were folded before they were searched. A program that is faster than
    /// the search has such blocks, and events in them that meet a rule are not kept.
    pub unseen_blocks: u64,
    /// How often an event of a unit is missing, because it was folded before, or because the unit
    /// or the number of running events is too large.
    pub cut: u64,
}

/// Event that met a rule. It is kept with its causes, its effects and its links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptUnit {
    /// Event that met the rule.
    pub event: EventId,
    /// Index of the rule.
    pub rule: usize,
    /// Number of events of the unit. An event can belong to several units.
    pub events: u32,
    /// Span in ticks that the event was longer than. 0 if the rule has no threshold that adapts.
    pub threshold: u64,
    /// True if the event is not longer than the threshold: it is a sample of those that the others
    /// can be compared with.
    pub is_ordinary: bool,
    /// Tick at which the event was found.
    pub found: u64,
}

impl Store {
    /// Returns the events that the recording keeps beyond its window; `None` if no rule asks for
    /// that.
    ///
    /// Reads the header of each block, and the blocks that keep events.
    pub fn kept(&self) -> Option<Kept> {
        let rules = self.names().keeps.values().cloned().collect::<Vec<_>>();
        if rules.is_empty() {
            return None;
        }
        let ring = self.ring();
        let folds = ring.folds();
        let mut kept = Kept { rules, units: self.kept_units().collect(), ..Kept::default() };
        let start = |unit: &KeptUnit| {
            ring.peek(unit.event).map(|(head, slot)| head.base.saturating_add(slot.start))
        };
        kept.units.retain(|unit| start(unit).is_some());
        kept.units.sort_by_key(|unit| (start(unit), unit.event));
        let mut block = Block::boxed();
        for place in 0..ring.places() {
            if ring.head(place).is_some_and(|head| head.is_kept)
                && ring.load_stored(place, &folds, &mut block)
            {
                kept.blocks += 1;
                kept.events += block.events().count() as u64;
            }
        }
        let words = self.words();
        [kept.gone, kept.unseen_blocks, kept.cut] =
            [sb::KEPT_GONE, sb::KEPT_UNSEEN, sb::KEPT_CUT].map(|word| words.get(word));
        Some(kept)
    }

    /// Returns the unit of an event that met a rule, with the rule.
    pub fn kept_because(&self, id: EventId) -> Option<(KeptUnit, &str)> {
        let unit = self.kept_units().find(|unit| unit.event == id)?;
        let rule = self.names().keeps.get(&(unit.rule as u32))?;
        Some((unit, rule))
    }

    /// Iterates over the units of the table, in no order.
    pub(crate) fn kept_units(&self) -> impl Iterator<Item = KeptUnit> {
        let rows = self.layout().kept.of(self.words());
        let used =
            self.words().acquire(sb::KEPT_USED).min((rows.len() / row::WORDS) as u64) as usize;
        (0..used).filter_map(move |number| {
            let word = |word| rows.get(number * row::WORDS + word);
            let event = rows.acquire(number * row::WORDS + row::EVENT);
            let (of, threshold, found) =
                (word(row::RULE_EVENTS), word(row::THRESHOLD), word(row::FOUND));
            std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
            // The row may be another unit's by now.
            let event = EventId::from_raw(event).filter(|_| word(row::EVENT) == event)?;
            let span = self.ring().peek(event).and_then(|(_, slot)| slot.span());
            let is_ordinary = threshold > 0 && span.is_some_and(|span| span <= threshold);
            Some(KeptUnit {
                event,
                rule: low(of) as usize,
                events: high(of),
                threshold,
                is_ordinary,
                found,
            })
        })
    }

    /// Returns true if this event left the window and is kept.
    pub fn is_kept(&self, id: EventId) -> bool {
        let ring: Ring<'_> = self.ring();
        let head = ring.head(header::place(id.sequence(), ring.layout.blocks));
        head.is_some_and(|head| head.sequence == id.sequence() && head.is_kept)
    }
}
