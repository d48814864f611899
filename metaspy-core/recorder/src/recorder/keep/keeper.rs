//! The search for events to keep, in the collector's rounds.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use metaspy_reader::blocks::{Block, Head, MarkSlot, Record, Slot};

use crate::clock;
use crate::event::{EventId, Outcome};
use crate::format::arena::Entry;
use crate::format::slot::{self, Mark};
use crate::format::{BLOCK_SLOTS, header, join, superblock as sb};
use crate::recorder::arena::Draft;
use crate::recorder::fold::Freed;
use crate::recorder::folder::Folder;
use crate::recorder::keep::places::KeptPlaces;
use crate::recorder::keep::rules::{KeepError, Rule, Rules};
use crate::recorder::keep::ruling::{Judgement, Ruling};
use crate::recorder::keep::units::{Added, Units};
use crate::recorder::log::{Log, State};
use crate::store::Store;

/// Time between two searches.
const EVERY_NS: u64 = 50_000_000;
/// Events are looked at when they are this old, in parts of a second: most have ended then, and
/// their effects are stored.
const AGE: u64 = 20;
/// Events that run when they are looked at, and are looked at again. Further ones are not kept.
const RUNNING: usize = 1 << 16;
/// Causes of an event that are kept.
const CAUSES: usize = 256;
/// Turns in which effects of effects are searched again.
const TURNS: usize = 4;
/// The part of the blocks that may be kept if no text says another one, in percent.
const ROOM: u64 = 25;
/// Rules of a recording at most. Each of them costs the search a bit of time for each event.
const RULES: usize = 64;

/// Finds the events to keep.
pub(crate) struct Keeper {
    store: Store,
    rules: Vec<Ruling>,
    /// Blocks that may be kept.
    room: u64,
    /// True for each site whose events may meet a rule, by number. Empty if the rules have changed.
    sites: Vec<bool>,
    /// True while blocks are looked at that were looked at before, for the rules that were added
    /// since.
    is_looking_back: bool,
    /// The block that was looked at, by place.
    seen: Vec<Seen>,
    /// Events that ran when they were looked at. One that outlasts the window is kept while it
    /// runs: its row then.
    running: BTreeMap<EventId, Option<usize>>,
    /// The latest start of an event in a block that was looked at.
    latest: u64,
    /// Effects of new units may have been looked at before, from this tick on.
    again_from: Option<u64>,
    units: Units,
    /// Blocks of which units that were given up needed slots, by their sequence.
    loose: BTreeSet<u64>,
    /// A cause whose effects are not kept: those of one cause often come together.
    ordinary: u64,
    /// The place that the collector folds.
    folding: Option<u64>,
    searched_ns: u64,
    block: Option<Box<Block>>,
}

/// A block that was looked at.
#[derive(Clone, Copy, Default)]
struct Seen {
    sequence: u64,
    /// The start of its last event.
    until: u64,
}

/// Why an event is kept.
struct Reason {
    rule: usize,
    judged: Judgement,
}

impl Keeper {
    /// Without rules. `None` if the recording cannot be read.
    pub(super) fn new(log: &Log) -> Option<Self> {
        let store = Store::of_writer(log.region.clone(), log.layout).ok()?;
        Some(Keeper {
            rules: Vec::new(),
            room: log.layout.blocks * ROOM / 100,
            is_looking_back: false,
            seen: vec![Seen::default(); log.layout.blocks as usize],
            sites: Vec::new(),
            running: BTreeMap::new(),
            latest: 0,
            again_from: None,
            units: Units::new(log.layout.kept.len / sb::kept::WORDS),
            loose: BTreeSet::new(),
            ordinary: 0,
            folding: None,
            searched_ns: 0,
            block: Some(Block::boxed()),
            store,
        })
    }

    /// Keeps events by these rules, too: by all of them, or by none.
    pub(super) fn add_rules(&mut self, log: &Log, rules: &Rules) -> Result<(), KeepError> {
        let new = rules.rules.iter().filter(|rule| self.number(rule).is_none()).count();
        if self.rules.len() + new > RULES {
            return Err(KeepError::TooMany(RULES));
        }
        if let Some(percent) = rules.room {
            self.room = log.layout.blocks * percent / 100;
        }
        for rule in &rules.rules {
            if let Some(number) = self.number(rule) {
                let ruling = &mut self.rules[number];
                ruling.is_new |= ruling.wanted == 0;
                ruling.wanted += 1;
                continue;
            }
            log.append(Draft::new(Entry::Keep, self.rules.len() as u32).text(rule.text()));
            self.units.add_rule();
            self.rules.push(Ruling::new(&self.store, rule, log.layout.blocks));
        }
        self.sites.clear();
        Ok(())
    }

    /// The number of a rule that was given before.
    fn number(&self, rule: &Rule) -> Option<usize> {
        self.rules.iter().position(|ruling| ruling.rule.text() == rule.text())
    }

    /// Keeps no more events by these rules, unless somebody else wants that. The units that there
    /// are stay.
    pub(super) fn withdraw(&mut self, log: &Log, rules: &Rules) {
        // The events until now are searched, also in the blocks that lanes fill.
        self.search(log, clock::now());
        let numbers: Vec<usize> = rules.rules.iter().filter_map(|rule| self.number(rule)).collect();
        for number in &numbers {
            // A rule that somebody else wants will see these blocks when they are full.
            self.rules[*number].is_new = self.rules[*number].wanted == 1;
        }
        self.look_back(log, State::Held);
        for number in numbers {
            self.rules[number].wanted = self.rules[number].wanted.saturating_sub(1);
        }
        self.sites.clear();
    }

    /// Looks at the events that are old enough, if it is time.
    pub fn look(&mut self, log: &Log, now_ns: u64) {
        if now_ns.saturating_sub(self.searched_ns) < EVERY_NS {
            return;
        }
        self.searched_ns = now_ns;
        let age = log.word(sb::TICKS_PER_S).load(Relaxed) / AGE;
        self.search(log, clock::now().saturating_sub(age));
    }

    /// Looks at all events, before the recording is closed.
    pub fn finish(&mut self, log: &Log) {
        self.search(log, u64::MAX);
    }

    /// Looks at the blocks that began before a tick, and at those that will be folded soon.
    fn search(&mut self, log: &Log, until: u64) {
        _ = self.store.refresh();
        let changed = self
            .rules
            .iter_mut()
            .filter_map(|rule| rule.refresh(&self.store).then_some(()))
            .count();
        if changed > 0 || self.sites.is_empty() {
            let last = self.store.sites().iter().map(|site| site.id.0).max().unwrap_or(0);
            self.sites =
                (0..=last).map(|site| self.rules.iter().any(|rule| rule.may_meet(site))).collect();
        }
        self.look_back(log, State::Full);
        let Some(places) = log.kept_places.asked() else { return };
        let mut new = Vec::new();
        for place in 0..log.layout.blocks {
            match log.state(place) {
                State::Empty => break,
                State::Full if places.is_new(place) => {}
                State::Held if until == u64::MAX => {}
                _ => continue,
            }
            new.push((log.block(place)[header::BASE].load(Relaxed), place));
        }
        new.sort_unstable();
        let urgent = new.len().saturating_sub(log.layout.blocks as usize / 2);
        for (_, place) in new
            .iter()
            .enumerate()
            .filter(|(at, (base, _))| *at < urgent || *base <= until)
            .map(|(_, it)| it)
        {
            self.visit(log, *place);
        }
        self.settle_all(log);
        self.search_again(log);
        if let Some((_, newest)) = new.last() {
            let newest = self.seen[*newest as usize].sequence;
            self.units.forget_before(newest.saturating_sub(log.layout.blocks));
        }
    }

    /// Looks at all blocks in a state, full ones that were looked at before, for the rules that are
    /// new.
    fn look_back(&mut self, log: &Log, state: State) {
        if self.rules.iter().all(|rule| !rule.is_new) {
            return;
        }
        let Some(mut block) = self.block.take() else { return };
        self.is_looking_back = true;
        let base = |place: u64| log.block(place)[header::BASE].load(Relaxed);
        let mut places: Vec<u64> =
            (0..log.layout.blocks).filter(|&place| log.state(place) == state).collect();
        places.sort_unstable_by_key(|&place| base(place));
        for place in places {
            let is_asked = |head: &Head| {
                state == State::Held || head.sequence == self.seen[place as usize].sequence
            };
            if self.store.ring().load(place, &mut block) && is_asked(&block.head) {
                let head = block.head;
                block.events().for_each(|slot| self.look_at(log, &head, &slot));
            }
        }
        self.block = Some(block);
        self.is_looking_back = false;
        self.rules.iter_mut().for_each(|rule| rule.is_new = false);
    }

    /// Looks at a block.
    fn visit(&mut self, log: &Log, place: u64) {
        let Some(mut block) = self.block.take() else { return };
        if self.store.ring().load(place, &mut block) {
            let head = block.head;
            let mut until = head.base;
            let mut records = block.records();
            while let Some(record) = records.next() {
                match record {
                    Record::Event(slot) => {
                        until = until.max(head.base.saturating_add(slot.start));
                        self.look_at(log, &head, &slot);
                        self.add_if_effect(log, &head, &slot);
                    }
                    Record::Mark(mark) => self.add_mark(log, &head, &mark, records.slot()),
                }
            }
            self.seen[place as usize] = Seen { sequence: head.sequence, until };
            self.latest = self.latest.max(until);
            if let Some(places) = log.kept_places.asked() {
                places.searched(place);
            }
        }
        self.block = Some(block);
    }

    /// Begins a unit if an event meets a rule.
    #[inline]
    fn look_at(&mut self, log: &Log, head: &Head, slot: &Slot) {
        // A site without a name may be any.
        if self.sites.get(slot.site as usize) == Some(&false) {
            return;
        }
        if slot.outcome() == Outcome::Running {
            if self.running.len() < RUNNING {
                self.running.entry(head.id(slot.slot)).or_default();
            } else {
                log.count(sb::KEPT_CUT, 1);
            }
            return;
        }
        for reason in self.reasons(head, slot) {
            self.keep(log, head, slot, &reason);
        }
    }

    /// Why an event that has ended is kept: by one rule, or by several.
    fn reasons(&mut self, head: &Head, slot: &Slot) -> Vec<Reason> {
        let ring = self.store.ring();
        let mut found = Vec::new();
        for (rule, ruling) in self.rules.iter_mut().enumerate() {
            if ruling.is_new || !self.is_looking_back {
                found.extend(ruling.judge(ring, head, slot).map(|judged| Reason { rule, judged }));
            }
        }
        if found.is_empty() {
            return found;
        }
        let is_in = |id: u64, rule: usize| self.units.is_of_rule(id, rule);
        // Events inside an event that is kept for the same reason are kept with it.
        found.retain(|found: &Reason| {
            !is_in(slot.cause, found.rule) && !is_in(head.id(slot.slot).raw(), found.rule)
        });
        found
    }

    /// Begins a unit: an event and its causes.
    fn keep(&mut self, log: &Log, head: &Head, slot: &Slot, reason: &Reason) {
        let id = head.id(slot.slot);
        let mut begun = self.units.begin(id, reason.rule, reason.judged.score);
        if begun.is_none()
            && let Some(least) = self.units.least()
            && (least.rule != reason.rule || least.score < reason.judged.score)
        {
            self.give_up(log, least.row);
            log.count(sb::KEPT_GONE, 1);
            begun = self.units.begin(id, reason.rule, reason.judged.score);
        }
        let Some(row) = begun else { return log.count(sb::KEPT_GONE, 1) };
        let is_kept = self.add(log, row, id, true);
        if !is_kept {
            // Its block is being folded.
            return self.loose.extend(self.units.remove(row));
        }
        if let Some(place) = reason.judged.sampled
            && let Some((row, before)) =
                self.rules[reason.rule].samples.put(slot.site, place, (row, id))
            && self.units.is_about(row, before)
        {
            self.give_up(log, row);
        }
        self.ordinary = 0;
        self.units.spread(row, id);
        self.add_causes(log, row, slot.cause);
        let cells = &log.cells()[log.layout.kept.at + row * sb::kept::WORDS..][..sb::kept::WORDS];
        cells[sb::kept::RULE_EVENTS]
            .store(join(reason.rule as u32, self.units.events_of(row) as u32), Relaxed);
        cells[sb::kept::THRESHOLD].store(reason.judged.threshold, Relaxed);
        cells[sb::kept::FOUND].store(clock::now(), Relaxed);
        cells[sb::kept::EVENT].store(id.raw(), Release);
        log.word(sb::KEPT_USED).fetch_max(row as u64 + 1, Release);
        self.look_for_effects(head, slot);
    }

    /// Effects of an event are in blocks that are looked at from now on, or in some that were
    /// looked at before. Of one lane, blocks are looked at in order, so hardly any is looked at
    /// again.
    #[inline]
    fn look_for_effects(&mut self, head: &Head, slot: &Slot) {
        let start = head.base.saturating_add(slot.start);
        if start <= self.latest {
            self.again_from = Some(self.again_from.map_or(start, |from| from.min(start)));
        }
    }

    /// Adds a cause, and its causes up to the root.
    fn add_causes(&mut self, log: &Log, row: usize, mut cause: u64) {
        for _ in 0..CAUSES {
            let Some(id) = EventId::from_raw(cause).filter(|_| cause != slot::EARLIER) else {
                return;
            };
            let ring = self.store.ring();
            let (next, is_event) = match ring.peek(id) {
                Some((_, slot)) => (slot.cause, true),
                // A cause in another process has a mark.
                None if ring.remote(id).is_some() => (0, false),
                None => return log.count(sb::KEPT_CUT, 1),
            };
            if !self.add(log, row, id, is_event) {
                return;
            }
            cause = next;
        }
    }

    /// Adds an event that an event of a unit led to.
    #[inline]
    fn add_if_effect(&mut self, log: &Log, head: &Head, slot: &Slot) {
        if slot.cause == 0 || slot.cause == self.ordinary {
            return;
        }
        // Hardly any event is an effect of a kept one, so nothing is allocated.
        let rows = self.units.spreads(slot.cause).to_vec();
        if rows.is_empty() {
            self.ordinary = slot.cause;
            return;
        }
        for row in rows {
            let id = head.id(slot.slot);
            if self.add(log, row, id, true) {
                self.units.spread(row, id);
                self.note_events(log, row);
                self.look_for_effects(head, slot);
            }
        }
    }

    /// Adds a mark of a kept event, and the events that it links to.
    #[inline]
    fn add_mark(&mut self, log: &Log, head: &Head, mark: &MarkSlot<'_>, behind: usize) {
        if matches!(mark.mark, Mark::Open | Mark::Folded | Mark::Remote) {
            return;
        }
        if mark.mark == Mark::End
            && let Some(id) = EventId::from_raw(mark.event)
            && let Some(row) = self.running.remove(&id)
        {
            self.settle(log, id, row);
        }
        let slots = match mark.mark {
            Mark::Detail => slot::detail_slots((mark.start as usize).min(slot::DETAIL_MAX)),
            _ => 1,
        };
        for row in self.units.spreads(mark.event).to_vec() {
            self.add(log, row, head.id(behind - slots), false);
            if mark.mark == Mark::Link {
                self.add_causes(log, row, mark.words[0]);
            }
        }
    }

    /// Adds an event to a unit, or a mark about one. False if its block is being folded, or if the
    /// unit has too many.
    fn add(&mut self, log: &Log, row: usize, id: EventId, is_event: bool) -> bool {
        let place = header::place(id.sequence(), log.layout.blocks);
        let Some(places) = log.kept_places.asked() else { return false };
        let was_wanted = places.is_wanted(place);
        places.want(place);
        let is_there = match log.state(place) {
            State::Full | State::Held | State::Kept => true,
            State::Folding => self.folding == Some(place),
            State::Empty | State::Ready => false,
        };
        let is_its = log.block(place)[header::SEQUENCE].load(Acquire) == id.sequence();
        match (is_there && is_its).then(|| self.units.add(row, id, is_event)) {
            Some(Added::Is | Added::Was) => true,
            found => {
                if found.is_none() && !was_wanted {
                    places.want_not(place);
                }
                log.count(sb::KEPT_CUT, 1);
                false
            }
        }
    }

    fn note_events(&self, log: &Log, row: usize) {
        let word = &log.cells()[log.layout.kept.at + row * sb::kept::WORDS + sb::kept::RULE_EVENTS];
        let rule = word.load(Relaxed) as u32;
        word.store(join(rule, self.units.events_of(row) as u32), Relaxed);
    }

    /// Looks again at the events that ran.
    fn settle_all(&mut self, log: &Log) {
        for (id, row) in std::mem::take(&mut self.running) {
            match self.store.ring().peek(id) {
                Some((_, slot)) if slot.outcome() == Outcome::Running => {
                    self.running.insert(id, row);
                }
                _ => self.settle(log, id, row),
            }
        }
    }

    /// Looks again at an event that ran and has ended. `row` has it while it runs.
    fn settle(&mut self, log: &Log, id: EventId, row: Option<usize>) {
        if let Some((head, slot)) = self.store.ring().peek(id) {
            for reason in self.reasons(&head, &slot) {
                self.keep(log, &head, &slot, &reason);
            }
        }
        if let Some(row) = row.filter(|row| self.units.is_about(*row, id)) {
            self.give_up(log, row);
        }
    }

    /// Keeps the events of a block that still run when its turn comes: the ones that last longest.
    /// If there is no room, they give way first, because nobody knows whether they will meet a
    /// rule.
    fn keep_running(&mut self, log: &Log, sequence: u64) {
        let ids = |slot| EventId::new(sequence, slot);
        let (Some(first), Some(last)) = (ids(1), ids(BLOCK_SLOTS as u64 - 1)) else { return };
        for (id, _) in
            self.running.range(first..=last).map(|(id, row)| (*id, *row)).collect::<Vec<_>>()
        {
            let Some((_, slot)) =
                self.store.ring().peek(id).filter(|(_, slot)| slot.outcome() == Outcome::Running)
            else {
                continue;
            };
            let rule = self.rules.iter().position(|rule| rule.may_meet(slot.site)).unwrap_or(0);
            if let Some(row) = self.units.begin(id, rule, 0) {
                self.add(log, row, id, true);
                self.running.insert(id, Some(row));
            }
        }
    }

    /// Searches blocks that were looked at for effects of units that began since.
    fn search_again(&mut self, log: &Log) {
        let Some(from) = self.again_from.take() else { return };
        let Some(mut block) = self.block.take() else { return };
        for _ in 0..TURNS {
            let before = self.units.spreading();
            for place in 0..log.layout.blocks {
                let seen = self.seen[place as usize];
                let is_later = seen.until >= from && log.state(place) == State::Full;
                if !is_later
                    || !self.store.ring().load(place, &mut block)
                    || block.head.sequence != seen.sequence
                {
                    continue;
                }
                let head = block.head;
                let mut records = block.records();
                while let Some(record) = records.next() {
                    match record {
                        Record::Event(slot) => self.add_if_effect(log, &head, &slot),
                        Record::Mark(mark) => self.add_mark(log, &head, &mark, records.slot()),
                    }
                }
            }
            if self.units.spreading() == before {
                break;
            }
        }
        self.block = Some(block);
        self.again_from = None;
    }

    /// Folds a block whose turn has come, except its kept events.
    pub fn fold(&mut self, log: &Log, folder: &mut Folder, place: u64, freed: &mut Vec<Freed>) {
        let Some(places) = log.kept_places.asked() else { return };
        let sequence = log.block(place)[header::SEQUENCE].load(Acquire);
        self.folding = Some(place);
        if self.seen[place as usize].sequence != sequence {
            self.visit(log, place);
        }
        self.keep_running(log, sequence);
        self.folding = None;
        loop {
            self.fold_loose(log, places, folder, freed);
            let kept = self.units.slots(sequence);
            if kept.is_empty() {
                return freed.extend(log.fold(folder, place));
            }
            if places.blocks() < self.room {
                log.fold_others(folder, place, kept);
                places.kept.fetch_add(1, Relaxed);
                return log.set_state(place, State::Kept);
            }
            let Some(least) = self.units.least() else {
                return freed.extend(log.fold(folder, place));
            };
            self.give_up(log, least.row);
            log.count(sb::KEPT_GONE, 1);
        }
    }

    /// Gives up a unit. Events that no other unit needs can be folded.
    fn give_up(&mut self, log: &Log, row: usize) {
        log.cells()[log.layout.kept.at + row * sb::kept::WORDS + sb::kept::EVENT].store(0, Release);
        self.loose.extend(self.units.remove(row));
    }

    /// Folds the events in kept blocks that no unit needs any more.
    fn fold_loose(
        &mut self,
        log: &Log,
        places: &KeptPlaces,
        folder: &mut Folder,
        freed: &mut Vec<Freed>,
    ) {
        for sequence in std::mem::take(&mut self.loose) {
            let (place, kept) =
                (header::place(sequence, log.layout.blocks), self.units.slots(sequence));
            if log.block(place)[header::SEQUENCE].load(Acquire) != sequence {
                continue;
            }
            if log.state(place) != State::Kept || !log.claim_kept(place) {
                if kept.is_empty() {
                    places.want_not(place);
                }
                continue;
            }
            log.fold_others(folder, place, kept);
            if kept.is_empty() {
                places.kept.fetch_sub(1, Relaxed);
                freed.extend(log.fold(folder, place));
            } else {
                log.set_state(place, State::Kept);
            }
        }
    }
}
