//! One pass over the events in the window, adding them up in rows.
//!
//! Blocks are read in the order of time, so that each lane is met in its own order and self time can be told; several
//! threads take a stretch of time each.

use std::collections::HashSet;

use crate::causes::root_cause::{CauseChains, GONE};
use crate::event::{EventId, Outcome};
use crate::filter::matcher::{Matcher, Memory};
use crate::scan::blocks::{Block, Head, MarkSlot, Record, Ring, Slot};
use crate::scan::chunks::Unit;
use crate::scan::{self, Levels};
use crate::tally::measure::Measure;
use crate::tally::row_table::{Key, Table};
use crate::tally::self_time::{NO_ROW, SelfTimes};
use crate::tally::{By, DetailLevel, Scope, Tally, TallyRow};
use metaspy_format::row::OTHERS;
use metaspy_format::slot::{Mark, SPAN_MAX};
use metaspy_format::{high, join, low};
use metaspy_probe::SiteId;
use metaspy_probe::{KindId, Subject};

/// What is added up, and of which events.
pub(crate) struct Aggregation<'a> {
    pub ring: Ring<'a>,
    pub by: By,
    pub matcher: &'a Matcher,
    pub scope: &'a Scope,
    /// The levels that count, if nothing but these is asked for.
    pub plain: Option<Levels>,
    /// Events that a link says belong under [`Scope::under`].
    pub link_effects: &'a HashSet<EventId>,
    /// Sequences of blocks that a pending fold has taken.
    pub folded: &'a [u64],
    /// Whether a site is async, by number.
    pub asyncs: &'a [bool],
}

/// Rows, added up from a part of the events.
pub(crate) struct PartialTally {
    table: Table,
    pub cells: Vec<Cell>,
    pub exact: bool,
    self_exact: bool,
}

/// What a row has so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cell {
    /// What rows of tables brought.
    pub measure: Measure,
    /// Events in the window by outcome: counted without a branch, as outcomes are hard to foresee.
    outcomes: [u64; 8],
    timed: u64,
    total_ticks: u64,
    max_ticks: u64,
    /// Below 0 for a moment where the events inside come before the one around them.
    own: u64,
    /// Some of its timed calls have no self time.
    pub without_self: bool,
}

/// What a thread needs along the way.
struct Worker<'a> {
    part: PartialTally,
    memory: Memory,
    /// Whether events are under the one that is asked about.
    lineage: Option<CauseChains>,
    /// The sites of their roots: another value, so another memory.
    roots: Option<CauseChains>,
    self_times: Option<SelfTimes<'a>>,
    /// Lent out while it is being added up.
    block: Option<Box<Block>>,
}

impl<'a> Aggregation<'a> {
    /// Counts only: in any order, passing over chunks in which nothing can match.
    pub fn counts(&self) -> PartialTally {
        let chunks = self.ring.chunks().into_iter().filter(|chunk| self.matcher.wants_chunk(chunk));
        let units: Vec<Unit> = chunks.map(Unit::Chunk).collect();
        let threads = scan::threads_for(units.len());
        let workers = scan::each(&units, threads, || self.worker(None), |worker, unit| self.unit(worker, *unit));
        merged(workers)
    }

    /// Outcomes and times.
    pub fn all(&self) -> PartialTally {
        self.on_threads(scan::threads_for(self.ring.chunk_count() as usize))
    }

    /// As [`Aggregation::all`], each thread taking one stretch of time.
    pub fn on_threads(&self, threads: usize) -> PartialTally {
        let units = self.ring.units();
        let stretches: Vec<(usize, &[Unit])> = units.chunks(units.len().div_ceil(threads).max(1)).enumerate().collect();
        let workers = scan::each(
            &stretches,
            threads,
            || Some(Vec::new()),
            |workers, &(number, units)| {
                let worker = self.stretch(units, number == 0);
                *workers = workers.take().zip(worker).map(|(mut workers, worker)| {
                    workers.push(worker);
                    workers
                });
            },
        );
        match workers.into_iter().collect::<Option<Vec<_>>>() {
            Some(workers) => merged(workers.into_iter().flatten()),
            // A lane was in the middle of something that its causes do not tell: read it from its beginning.
            None => merged(self.stretch(&units, true)),
        }
    }

    /// One stretch of the window; `None` if it is not the first and a lane's beginning in it is not clear.
    fn stretch(&self, units: &[Unit], is_first: bool) -> Option<Worker<'a>> {
        let mut worker = self.worker(Some(SelfTimes::new(self.asyncs)));
        for unit in units {
            if !is_first {
                self.enter_lanes(&mut worker, *unit)?;
            }
            self.unit(&mut worker, *unit);
        }
        Some(worker)
    }

    fn worker(&self, self_times: Option<SelfTimes<'a>>) -> Worker<'a> {
        Worker {
            part: PartialTally::new(),
            memory: self.matcher.memory(),
            lineage: self.scope.under.map(|_| CauseChains::new(self.ring.places())),
            roots: (self.by == By::RootCause).then(|| CauseChains::new(self.ring.places())),
            self_times,
            block: Some(Block::boxed()),
        }
    }

    /// Sees to it that lanes that a stretch begins in the middle of know what is open.
    fn enter_lanes(&self, worker: &mut Worker<'a>, unit: Unit) -> Option<()> {
        for place in unit.places(self.ring) {
            let Some(head) = self.ring.head(place) else { continue };
            let known = worker.self_times.as_ref().is_none_or(|self_times| self_times.knows(head.lane));
            let block = worker.block.as_mut()?;
            if known || !self.ring.load(place, block) {
                continue;
            }
            let head = block.head;
            let Some(first) = block.events().next() else { continue };
            let mut self_times = worker.self_times.take()?;
            self_times.turn_to(head.lane);
            let clear = self_times.begin_at(self.ring, &head, &first, |head, slot| self.row(worker, head, slot));
            worker.self_times = Some(self_times);
            clear.then_some(())?;
        }
        Some(())
    }

    fn unit(&self, worker: &mut Worker<'a>, unit: Unit) {
        let Some(mut block) = worker.block.take() else { return };
        for place in unit.places(self.ring) {
            if self.ring.load(place, &mut block) && self.folded.binary_search(&block.head.sequence).is_err() {
                self.block(worker, &block);
            }
        }
        worker.block = Some(block);
    }

    fn block(&self, worker: &mut Worker<'a>, block: &Block) {
        if let Some(self_times) = &mut worker.self_times {
            self_times.turn_to(block.head.lane);
        }
        // The loop is made for each way of finding rows, as it runs once per event.
        match (self.plain, self.by) {
            (Some(levels), By::Site) => self.events(worker, block, |worker, slot| match levels.contains(slot.end) {
                true => worker.part.row(By::Site, Some(slot.site), None) as u32,
                false => NO_ROW,
            }),
            (Some(levels), By::Subject) => self.events(worker, block, |worker, slot| match levels.contains(slot.end) {
                true => worker.part.row(By::Subject, None, slot.subject()) as u32,
                false => NO_ROW,
            }),
            _ => self.events(worker, block, |worker, slot| self.row(worker, &block.head, slot)),
        }
    }

    #[inline(always)]
    fn events(&self, worker: &mut Worker<'a>, block: &Block, mut row: impl FnMut(&mut Worker<'a>, &Slot) -> u32) {
        let head = block.head;
        for record in block.records() {
            let slot = match record {
                Record::Event(slot) => slot,
                Record::Mark(mark) if mark.mark == Mark::End && worker.self_times.is_some() => {
                    self.overlong(worker, &mark);
                    continue;
                }
                Record::Mark(_) => continue,
            };
            let row = row(worker, &slot);
            let span = slot.span();
            if let Some(cell) = worker.part.cells.get_mut(row as usize) {
                cell.add(slot.outcome_bits(), span);
            }
            let Some(self_times) = &mut worker.self_times else { continue };
            let around = self_times.enter(head.id(slot.slot), head.base.saturating_add(slot.start), &slot, span, row);
            if let (Some(cell), Some(span)) = (worker.part.cells.get_mut(around as usize), span) {
                cell.own = cell.own.wrapping_sub(span);
            }
        }
    }

    /// Adds what an event took beyond the length that its slot can tell.
    #[cold]
    fn overlong(&self, worker: &mut Worker<'a>, mark: &MarkSlot<'_>) {
        let peek = |id| EventId::from_raw(id).and_then(|id| self.ring.peek(id));
        let Some((head, slot)) = peek(mark.event).filter(|(_, slot)| slot.span() == Some(SPAN_MAX)) else { return };
        // An event that has left the window has its whole length in the pages.
        let beyond = mark.words[0].saturating_sub(SPAN_MAX);
        let row = self.row(worker, &head, &slot);
        if let Some(cell) = worker.part.cells.get_mut(row as usize) {
            cell.total_ticks = cell.total_ticks.wrapping_add(beyond);
            cell.max_ticks = cell.max_ticks.max(SPAN_MAX.saturating_add(beyond));
            cell.own = cell.own.wrapping_add(beyond);
        }
        // What was inside it beyond that point was not seen to be inside.
        worker.part.self_exact = false;
    }

    /// The row of an event; [`NO_ROW`] if it is not wanted.
    fn row(&self, worker: &mut Worker<'a>, head: &Head, slot: &Slot) -> u32 {
        if !self.scope.epochs.contains(&head.epoch) || !self.matcher.matches(self.ring, head, slot, &mut worker.memory)
        {
            return NO_ROW;
        }
        let id = head.id(slot.slot);
        if let Some(under) = self.scope.under
            && !self.is_under(worker, under, id, slot)
        {
            return NO_ROW;
        }
        let site = match self.by {
            By::RootCause => self.root(worker, id, slot),
            _ => Some(slot.site),
        };
        worker.part.row(self.by, site, slot.subject()) as u32
    }

    fn is_under(&self, worker: &mut Worker<'a>, under: EventId, id: EventId, slot: &Slot) -> bool {
        if id == under || self.link_effects.contains(&id) {
            return id != under;
        }
        let Some(cause) = EventId::from_raw(slot.cause) else { return false };
        let own = |id, _: &Slot| (id == under || self.link_effects.contains(&id)).then_some(1);
        worker.lineage.as_mut().is_some_and(|lineage| lineage.value(self.ring, cause, own) == 1)
    }

    fn root(&self, worker: &mut Worker<'a>, id: EventId, slot: &Slot) -> Option<u32> {
        let roots = worker.roots.as_mut()?;
        // Under an event, what it led to directly is where chains begin.
        let under = self.scope.under.map_or(0, EventId::raw);
        let begins = |cause: u64| cause == 0 || cause == under;
        let root = |_: EventId, slot: &Slot| begins(slot.cause).then_some(slot.site);
        let value = match EventId::from_raw(slot.cause) {
            Some(cause) if !begins(slot.cause) => match roots.value(self.ring, cause, root) {
                GONE if self.ring.remote(cause).is_some() => slot.site,
                value => value,
            },
            _ => slot.site,
        };
        // Its effects come soon.
        roots.remember(id, value);
        (value != GONE).then_some(value)
    }
}

impl Cell {
    #[inline(always)]
    fn add(&mut self, outcome: u8, span: Option<u64>) {
        self.outcomes[outcome as usize % 8] += 1;
        let (span, has_span) = span.map_or((0, 0), |span| (span, 1));
        self.timed += has_span;
        self.total_ticks = self.total_ticks.wrapping_add(span);
        self.max_ticks = self.max_ticks.max(span);
        self.own = self.own.wrapping_add(span);
    }

    /// All of it as a measure; `own` is told apart.
    fn whole(&self) -> Measure {
        let of = |outcome: Outcome| self.outcomes[outcome as usize];
        let mut measure = Measure {
            count: self.outcomes.iter().sum(),
            timed: self.timed,
            instants: of(Outcome::Instant),
            total_ticks: self.total_ticks,
            max_ticks: self.max_ticks,
            failed: of(Outcome::Failed),
            panicked: of(Outcome::Panicked),
            cancelled: of(Outcome::Cancelled),
            // How an event that was moved out ended is in the pages, as an end of one that still runs here.
            running: of(Outcome::Running) + of(Outcome::Moved),
            ..Measure::default()
        };
        measure.add(&self.measure);
        measure
    }

    fn merge(&mut self, other: &Cell) {
        self.measure.add(&other.measure);
        (self.outcomes.iter_mut()).zip(other.outcomes).for_each(|(sum, count)| *sum += count);
        self.timed += other.timed;
        self.total_ticks = self.total_ticks.wrapping_add(other.total_ticks);
        self.max_ticks = self.max_ticks.max(other.max_ticks);
        self.own = self.own.wrapping_add(other.own);
        self.without_self |= other.without_self;
    }
}

/// The row of the others of a site.
fn others(key: Key) -> Key {
    Key { key: 0, who: join(low(key.who), OTHERS.into()) }
}

impl PartialTally {
    pub fn new() -> Self {
        PartialTally { table: Table::new(), cells: Vec::new(), exact: true, self_exact: true }
    }

    /// The row of a site and a subject, as far as the tally tells them apart.
    #[inline(always)]
    pub fn row(&mut self, by: By, site: Option<u32>, subject: Option<Subject>) -> usize {
        let subject = subject.unwrap_or(Subject::NONE);
        let kind = subject.kind.0.into();
        let site = site.map_or(0, |site| site + 1);
        // Dense numbers are found fastest as the first word of a key.
        let key = match by {
            By::Site | By::RootCause => Key { key: site.into(), who: 0 },
            By::Subject => Key { key: subject.key, who: join(0, kind) },
            By::SiteSubject => Key { key: subject.key, who: join(site, kind) },
        };
        let row = self.table.row(key, || others(key));
        if row >= self.cells.len() {
            self.cells.resize(row + 1, Cell::default());
        }
        row
    }

    /// Rows as they are handed out.
    pub fn into_tally(self, by: By, detail: DetailLevel) -> Tally {
        let mut tally = Tally { rows: Vec::new(), exact: self.exact, self_exact: self.self_exact };
        for (key, cell) in self.table.keys().iter().zip(&self.cells) {
            let mut measure = cell.whole().settled();
            if measure == Measure::default() {
                continue;
            }
            if detail == DetailLevel::Counts {
                let Measure { count, lost, .. } = measure;
                measure = Measure { count, lost, ..Measure::default() };
            }
            let knows_self = measure.timed != 0 && !cell.without_self;
            measure.self_ticks = knows_self.then(|| (cell.own as i64).max(0) as u64);
            tally.self_exact &= measure.timed == 0 || knows_self;
            let (site, kind) = match by {
                By::Site | By::RootCause => (key.key, 0),
                By::Subject | By::SiteSubject => (key.who, high(key.who) as u16),
            };
            tally.rows.push(TallyRow {
                site: (site as u32).checked_sub(1).map(SiteId),
                subject: (kind != 0).then_some(Subject::new(KindId(kind), key.key)),
                measure,
            });
        }
        tally.rows.sort_by_key(|row| (std::cmp::Reverse(row.measure.count), row.site, row.subject));
        tally
    }

    /// Adds the rows of another part.
    fn merge(&mut self, other: PartialTally) {
        for (key, cell) in other.table.keys().iter().zip(&other.cells) {
            let row = self.table.row(*key, || others(*key));
            if row >= self.cells.len() {
                self.cells.resize(row + 1, Cell::default());
            }
            self.cells[row].merge(cell);
        }
        self.exact &= other.exact;
        self.self_exact &= other.self_exact;
    }
}

fn merged<'a>(workers: impl IntoIterator<Item = Worker<'a>>) -> PartialTally {
    let mut whole = PartialTally::new();
    for worker in workers {
        let gave_up = worker.memory.is_exhausted()
            || [&worker.lineage, &worker.roots].into_iter().flatten().any(CauseChains::is_exhausted);
        let mut part = worker.part;
        part.exact &= !gave_up;
        part.self_exact &= worker.self_times.is_none_or(|self_times| self_times.is_exact());
        whole.merge(part);
    }
    whole
}
