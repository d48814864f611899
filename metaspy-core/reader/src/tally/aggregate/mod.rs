//! Single pass over the events in the window that adds them up in rows.
//!
//! Blocks are read in order of time. Each lane then comes in its own order, which self time needs.
//! Each thread takes its own stretch of time.

mod block;
mod partial_tally;

use std::sync::Arc;

use self::block::RowBuffer;
use crate::causes::reasons::{NOTHING, Reached, Reasons};
use crate::causes::roots::Roots;
use crate::event::{EventId, Outcome};
use crate::filter::matcher::{DirectCause, Matcher, Memory};
use crate::measure::Measure;
use crate::parallel;
use crate::ring::blocks::{Block, Head, Ring, Slot};
use crate::ring::chunks::Unit;
use crate::ring::counts::Levels;
use crate::ring::folds::Folds;
use crate::ring::links::Links;
use crate::ring::row_table::Table;
use crate::tally::cover::{Cover, Covers};
use crate::tally::first_rows::Share;
use crate::tally::self_time::{NO_ROW, SelfTimes};
use crate::tally::shares::Shares;
use crate::tally::{By, NO_CAUSE, REMOTE_CAUSE, Scope};
use metaspy_format::nesting::{OpenCall, Unnamed};
use metaspy_probe::{KindId, Subject};

/// Events that are added up, and their grouping.
pub(crate) struct Aggregation<'a> {
    pub ring: Ring<'a>,
    pub by: By,
    pub matcher: &'a Matcher,
    pub scope: &'a Scope,
    /// Levels that count, if the filter has no other condition.
    pub plain: Option<Levels>,
    /// Links, if reasons are followed.
    pub links: &'a Arc<Links>,
    pub roots: &'a Roots,
    pub folds: &'a Folds,
    /// True for async sites, by number.
    pub asyncs: &'a [bool],
    /// Subjects that have rows.
    pub share: Share,
}

/// Rows from a part of the events.
pub(crate) struct PartialTally {
    table: Table,
    pub cells: Vec<Cell>,
    pub exact: bool,
    /// Number of calls for which a condition is unknown.
    pub unknown: u64,
    self_exact: bool,
    /// Number of calls with several root causes.
    shared: u64,
    /// Amount that these calls add to the sums of all rows.
    repeated: Shares,
    /// True if the calls around some calls in the window are not known.
    pub totals_at_most: bool,
    /// Subjects that have rows.
    share: Share,
    /// True if the share exceeded its maximum number of rows, so that the sums are useless.
    pub is_cut: bool,
}

/// Sums of a row. Millions of subjects have one each, so it is small.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    /// Sums that few rows need, boxed to keep a cell small.
    rare: Option<Box<RareSums>>,
    /// Events in the window by outcome. An index needs no branch, and outcomes are hard to predict.
    outcomes: [u64; 8],
    timed: u64,
    total_ticks: u64,
    max_ticks: u64,
    cover: Cover,
    /// Self ticks, as two's complement. Negative for a moment if inner events come before the outer
    /// event.
    own: u64,
    /// True if some ticks may count twice.
    pub at_most: bool,
    /// True if some timed calls of the row have no self time.
    pub without_self: bool,
}

/// Sums from rows of tables, and of async calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct RareSums {
    /// Sums from rows of tables.
    pub measure: Measure,
    /// Ticks of rows of tables that the row counts already.
    pub again_ticks: u64,
    /// Number of timed calls whose time is that of their polls.
    polled: u64,
}

/// State of a thread.
struct Worker<'a> {
    part: PartialTally,
    memory: Memory,
    /// Finds the events under [`Scope::under`].
    under: Option<Reasons>,
    /// Finds the sites of the root causes. They are another value, so they need another cache.
    roots: Option<Reasons>,
    self_times: Option<SelfTimes<'a>>,
    covers: Covers,
    /// Buffer for blocks; `None` while a block is being added up.
    block: Option<Box<Block>>,
    rows: RowBuffer,
}

impl<'a> Aggregation<'a> {
    /// Adds up counts only, in any order, and skips chunks without a match.
    pub fn counts(&self) -> PartialTally {
        let chunks = self.ring.chunks().into_iter().filter(|chunk| self.matcher.wants_chunk(chunk));
        let units: Vec<Unit> = chunks.map(Unit::Chunk).collect();
        let threads = parallel::threads_for(units.len());
        let wanted = |place: &u64| self.matcher.wants_words(self.ring.block(*place));
        let workers = parallel::each(
            &units,
            threads,
            || self.worker(None),
            |worker, unit| self.places(worker, unit.places(self.ring).filter(wanted)),
        );
        self.merged(workers)
    }

    /// Adds up outcomes and times.
    pub fn all(&self) -> PartialTally {
        // Polls of an async call may be anywhere behind its begin.
        let has_asyncs = !self.asyncs.is_empty();
        self.on_threads(if has_asyncs || self.share.is_part() {
            1
        } else {
            parallel::threads_for(self.ring.chunk_count() as usize)
        })
    }

    /// Adds up like [`Aggregation::all`]. Each thread takes its own stretch of time.
    pub(crate) fn on_threads(&self, threads: usize) -> PartialTally {
        let units = self.ring.units();
        let stretches: Vec<(usize, &[Unit])> =
            units.chunks(units.len().div_ceil(threads).max(1)).enumerate().collect();
        let workers = parallel::each(
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
            Some(workers) => self.merged(workers.into_iter().flatten()),
            // The causes did not show the open events of a lane at the beginning of a stretch, so
            // all stretches are read as one.
            None => self.merged(self.stretch(&units, true)),
        }
    }

    /// Adds up a stretch of the window. `None` if it is not the first stretch, and the open events
    /// of a lane at its beginning are unclear.
    fn stretch(&self, units: &[Unit], is_first: bool) -> Option<Worker<'a>> {
        let mut worker = self.worker(Some(SelfTimes::new(self.asyncs)));
        for unit in units.iter().take_while(|_| !parallel::is_interrupted()) {
            if !is_first {
                self.enter_lanes(&mut worker, *unit)?;
            }
            self.places(&mut worker, unit.places(self.ring));
        }
        Some(worker)
    }

    fn worker(&self, self_times: Option<SelfTimes<'a>>) -> Worker<'a> {
        Worker {
            part: PartialTally::of(self.share),
            memory: self.matcher.memory_with(self.links),
            under: self.scope.under.map(|_| Reasons::new(self.ring.places(), self.links)),
            roots: (self.by == By::RootCause).then(|| Reasons::new(self.ring.places(), self.links)),
            self_times,
            covers: Covers::default(),
            block: Some(Block::boxed()),
            rows: RowBuffer::default(),
        }
    }

    /// Finds the open events of each lane in whose middle a stretch begins.
    fn enter_lanes(&self, worker: &mut Worker<'a>, unit: Unit) -> Option<()> {
        for place in unit.places(self.ring) {
            let Some(head) = self.ring.head(place) else { continue };
            let known =
                worker.self_times.as_ref().is_none_or(|self_times| self_times.knows(head.lane));
            let block = worker.block.as_mut()?;
            if known || !self.ring.load(place, block) {
                continue;
            }
            let head = block.head;
            let Some(first) = block.events().next() else { continue };
            let mut self_times = worker.self_times.take()?;
            self_times.turn_to(head.lane);
            let clear = self_times
                .begin_at(self.ring, &head, &first, |head, slot| self.row(worker, head, slot));
            for (row, end) in self_times.open_rows() {
                worker.cover(row, head.lane, end, end);
            }
            worker.self_times = Some(self_times);
            let block = worker.block.take()?;
            self.enter_outside(worker, &block);
            worker.block = Some(block);
            clear.then_some(())?;
        }
        Some(())
    }

    /// Notes the calls that are open when the first stored block of a lane begins, and that are not
    /// stored themselves.
    fn enter_outside(&self, worker: &mut Worker<'a>, block: &Block) {
        for mark in block.open_marks() {
            let Some(call) = OpenCall::read(mark) else {
                let unnamed = Unnamed::read(mark[2]);
                let is_partly_known =
                    if self.by == By::Site { unnamed.sites } else { unnamed.any() };
                if let Some(self_times) = worker.self_times.as_mut().filter(|_| is_partly_known) {
                    self_times.outside_is_partly_known();
                }
                continue;
            };
            let is_stored = |id: EventId| {
                self.folds.first_stored(id.sequence()) <= id.slot() && self.ring.peek(id).is_some()
            };
            if EventId::from_raw(call.id).is_some_and(is_stored) {
                continue;
            }
            let row = self.row_outside(worker, &call);
            if let Some(self_times) = &mut worker.self_times {
                self_times.add_outside(call.id, row, call.is_end_marked);
            }
        }
        // A block that is being folded also begins with events that are not stored.
        let start = block.events().next().map_or(u64::MAX, |event| event.start);
        for event in block.folded_events() {
            let is_open = event.span().is_none_or(|span| event.start.saturating_add(span) > start);
            let is_async = self.asyncs.get(event.site as usize).copied().unwrap_or(false);
            if !is_open || is_async || !event.is_timed() || event.outcome() == Outcome::Instant {
                continue;
            }
            let row = self.row(worker, &block.head, &event);
            if let Some(self_times) = &mut worker.self_times {
                self_times.add_outside(block.head.id(event.slot).raw(), row, false);
            }
        }
    }

    /// Returns the row of a call that is not stored.
    fn row_outside(&self, worker: &mut Worker<'a>, call: &OpenCall) -> u32 {
        if !self.scope.is_plain() {
            return NO_ROW;
        }
        let subject = (call.kind != 0).then_some(Subject::new(KindId(call.kind), call.key));
        // The cause of such a call is not known.
        let is_known = self.by != By::RootCause && !self.by.is_of_senders();
        match self.matcher.matches_row(call.site, subject, 0, false) {
            Some(true) => {
                let of_row = subject.filter(|_| !self.by.is_of_senders());
                worker.part.row(self.by, is_known.then_some(call.site), of_row) as u32
            }
            Some(false) => NO_ROW,
            None => {
                worker.part.totals_at_most = true;
                NO_ROW
            }
        }
    }

    fn places(&self, worker: &mut Worker<'a>, places: impl Iterator<Item = u64>) {
        let Some(mut block) = worker.block.take() else { return };
        for place in places {
            if worker.part.is_cut {
                break;
            }
            if self.ring.load_stored(place, self.folds, &mut block) {
                self.block(worker, &block);
            }
        }
        worker.block = Some(block);
    }

    /// Returns the row of an event; [`NO_ROW`] if it is not selected.
    fn row(&self, worker: &mut Worker<'a>, head: &Head, slot: &Slot) -> u32 {
        if !self.scope.epochs.contains(&head.epoch)
            || !self.matcher.matches(self.ring, head, slot, &mut worker.memory)
        {
            return NO_ROW;
        }
        let id = head.id(slot.slot);
        if let Some(under) = self.scope.under
            && !self.is_under(worker, under, id, slot)
        {
            return NO_ROW;
        }
        let (site, subject) = match self.by {
            By::RootCause => (self.root(worker, id, slot), slot.subject()),
            By::Sender | By::SenderSubject => self.sender(slot),
            _ => (Some(slot.site), slot.subject()),
        };
        worker.part.row(self.by, site, subject) as u32
    }

    /// Returns the site and the subject of the direct cause of an event; no site if it left the
    /// window.
    fn sender(&self, slot: &Slot) -> (Option<u32>, Option<Subject>) {
        match DirectCause::of(self.ring, slot) {
            DirectCause::Known(cause) => (Some(cause.site), cause.subject()),
            DirectCause::None => (Some(NO_CAUSE.0), None),
            DirectCause::Remote => (Some(REMOTE_CAUSE.0), None),
            DirectCause::Left => (None, None),
        }
    }

    fn is_under(&self, worker: &mut Worker<'a>, under: EventId, id: EventId, slot: &Slot) -> bool {
        let reached = Reached(|id: EventId, _: &Slot| id == under);
        id != under
            && worker
                .under
                .as_mut()
                .is_some_and(|reasons| reasons.inherited(self.ring, id, slot, &reached) == 1)
    }

    /// Returns the root causes of an event, as a value of [`Roots`].
    fn root(&self, worker: &mut Worker<'a>, id: EventId, slot: &Slot) -> Option<u32> {
        let value = worker.roots.as_mut()?.inherited(self.ring, id, slot, self.roots);
        (value != NOTHING).then_some(value)
    }

    fn merged(&self, workers: impl IntoIterator<Item = Worker<'a>>) -> PartialTally {
        let mut whole: Option<PartialTally> = None;
        for worker in workers {
            let gave_up = worker.memory.is_incomplete()
                || [&worker.under, &worker.roots].into_iter().flatten().any(Reasons::is_exhausted);
            let mut part = worker.part;
            part.exact &= !gave_up;
            part.self_exact &= worker.self_times.is_none_or(|self_times| self_times.is_exact());
            match &mut whole {
                Some(whole) => whole.merge(part),
                None => whole = Some(part),
            }
        }
        let mut whole = whole.unwrap_or_else(|| PartialTally::of(self.share));
        if self.by == By::RootCause {
            whole.divide_roots(self.roots);
        }
        whole
    }
}

impl Cell {
    /// Returns the rare sums, and allocates them at first use.
    pub fn rare(&mut self) -> &mut RareSums {
        self.rare.get_or_insert_default()
    }

    fn polled(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.polled)
    }

    /// Adds calls whose outcome and time are not needed.
    pub fn count(&mut self, events: u64) {
        self.outcomes[Outcome::Returned as usize] += events;
    }

    #[inline(always)]
    fn add(&mut self, outcome: u8, span: Option<u64>) {
        self.outcomes[outcome as usize % 8] += 1;
        let (span, has_span) = span.map_or((0, 0), |span| (span, 1));
        self.timed += has_span;
        self.max_ticks = self.max_ticks.max(span);
    }

    /// Returns the sums as a measure, without self time.
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
            // The outcome of a moved event is in the pages, as the end of an event that still runs
            // in this sum.
            running: of(Outcome::Running) + of(Outcome::Moved),
            ..Measure::default()
        };
        if let Some(rare) = &self.rare {
            measure.add(&rare.measure);
            measure.total_ticks = measure.total_ticks.saturating_sub(rare.again_ticks);
        }
        measure.total_at_most = self.at_most && measure.timed > 0;
        measure
    }

    fn merge(&mut self, other: &Cell) {
        if let Some(others) = &other.rare {
            let rare = self.rare();
            rare.measure.add(&others.measure);
            rare.again_ticks = rare.again_ticks.wrapping_add(others.again_ticks);
            rare.polled += others.polled;
        }
        (self.outcomes.iter_mut()).zip(other.outcomes).for_each(|(sum, count)| *sum += count);
        self.timed += other.timed;
        self.total_ticks = self.total_ticks.wrapping_add(other.total_ticks);
        self.at_most |= other.at_most;
        self.max_ticks = self.max_ticks.max(other.max_ticks);
        self.own = self.own.wrapping_add(other.own);
        self.without_self |= other.without_self;
    }
}
