//! One pass over the events in the window, adding them up in rows.
//!
//! Blocks are read in the order of time, so that each lane is met in its own order and self time can be told; several
//! threads take a stretch of time each.

use std::collections::HashSet;

use crate::blocks::{Block, Head, MarkSlot, Record, Ring, Slot};
use crate::chunks::Unit;
use crate::event::{EventId, Outcome};
use crate::lineage::{GONE, Lineage};
use crate::matcher::{Matcher, Memory};
use crate::measure::Measure;
use crate::scan::{self, Levels};
use crate::selfs::{NO_ROW, Selfs};
use crate::table::{Key, Table};
use crate::tally::{By, Scope, Tally, TallyRow, What};
use metaspy_format::row::OTHERS;
use metaspy_format::slot::{Mark, SPAN_MAX};
use metaspy_format::{high, join, low};
use metaspy_probe::SiteId;
use metaspy_probe::{KindId, Subject};

/// What is added up, and of which events.
pub(crate) struct Job<'a> {
    pub ring: Ring<'a>,
    pub by: By,
    pub matcher: &'a Matcher,
    pub scope: &'a Scope,
    /// The levels that count, if nothing but these is asked for.
    pub plain: Option<Levels>,
    /// Events that a link says belong under [`Scope::under`].
    pub adopted: &'a HashSet<EventId>,
    /// Sequences of blocks that a pending fold has taken.
    pub folded: &'a [u64],
    /// Whether a site is async, by number.
    pub asyncs: &'a [bool],
}

/// Rows, added up from a part of the events.
pub(crate) struct Part {
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
struct Walk<'a> {
    part: Part,
    memory: Memory,
    /// Whether events are under the one that is asked about.
    lineage: Option<Lineage>,
    /// The sites of their roots: another value, so another memory.
    roots: Option<Lineage>,
    selfs: Option<Selfs<'a>>,
    /// Lent out while it is being added up.
    block: Option<Box<Block>>,
}

impl<'a> Job<'a> {
    /// Counts only: in any order, passing over chunks in which nothing can match.
    pub fn counts(&self) -> Part {
        let chunks = self.ring.chunks().into_iter().filter(|chunk| self.matcher.wants_chunk(chunk));
        let units: Vec<Unit> = chunks.map(Unit::Chunk).collect();
        let threads = scan::threads_for(units.len());
        let walks = scan::each(&units, threads, || self.walk(None), |walk, unit| self.unit(walk, *unit));
        merged(walks)
    }

    /// Outcomes and times.
    pub fn all(&self) -> Part {
        self.on_threads(scan::threads_for(self.ring.chunk_count() as usize))
    }

    /// As [`Job::all`], each thread taking one stretch of time.
    pub fn on_threads(&self, threads: usize) -> Part {
        let units = self.ring.units();
        let stretches: Vec<(usize, &[Unit])> = units.chunks(units.len().div_ceil(threads).max(1)).enumerate().collect();
        let walks = scan::each(
            &stretches,
            threads,
            || Some(Vec::new()),
            |walks, &(number, units)| {
                let walk = self.stretch(units, number == 0);
                *walks = walks.take().zip(walk).map(|(mut walks, walk)| {
                    walks.push(walk);
                    walks
                });
            },
        );
        match walks.into_iter().collect::<Option<Vec<_>>>() {
            Some(walks) => merged(walks.into_iter().flatten()),
            // A lane was in the middle of something that its causes do not tell: read it from its beginning.
            None => merged(self.stretch(&units, true)),
        }
    }

    /// One stretch of the window; `None` if it is not the first and a lane's beginning in it is not clear.
    fn stretch(&self, units: &[Unit], is_first: bool) -> Option<Walk<'a>> {
        let mut walk = self.walk(Some(Selfs::new(self.asyncs)));
        for unit in units {
            if !is_first {
                self.enter_lanes(&mut walk, *unit)?;
            }
            self.unit(&mut walk, *unit);
        }
        Some(walk)
    }

    fn walk(&self, selfs: Option<Selfs<'a>>) -> Walk<'a> {
        Walk {
            part: Part::new(),
            memory: self.matcher.memory(),
            lineage: self.scope.under.map(|_| Lineage::new(self.ring.places())),
            roots: (self.by == By::RootCause).then(|| Lineage::new(self.ring.places())),
            selfs,
            block: Some(Block::boxed()),
        }
    }

    /// Sees to it that lanes that a stretch begins in the middle of know what is open.
    fn enter_lanes(&self, walk: &mut Walk<'a>, unit: Unit) -> Option<()> {
        for place in unit.places(self.ring) {
            let Some(head) = self.ring.head(place) else { continue };
            let known = walk.selfs.as_ref().is_none_or(|selfs| selfs.knows(head.lane));
            let block = walk.block.as_mut()?;
            if known || !self.ring.load(place, block) {
                continue;
            }
            let head = block.head;
            let Some(first) = block.events().next() else { continue };
            let mut selfs = walk.selfs.take()?;
            selfs.turn_to(head.lane);
            let clear = selfs.begin_at(self.ring, &head, &first, |head, slot| self.row(walk, head, slot));
            walk.selfs = Some(selfs);
            clear.then_some(())?;
        }
        Some(())
    }

    fn unit(&self, walk: &mut Walk<'a>, unit: Unit) {
        let Some(mut block) = walk.block.take() else { return };
        for place in unit.places(self.ring) {
            if self.ring.load(place, &mut block) && self.folded.binary_search(&block.head.sequence).is_err() {
                self.block(walk, &block);
            }
        }
        walk.block = Some(block);
    }

    fn block(&self, walk: &mut Walk<'a>, block: &Block) {
        if let Some(selfs) = &mut walk.selfs {
            selfs.turn_to(block.head.lane);
        }
        // The loop is made for each way of finding rows, as it runs once per event.
        match (self.plain, self.by) {
            (Some(levels), By::Site) => self.events(walk, block, |walk, slot| match levels.contains(slot.end) {
                true => walk.part.row(By::Site, Some(slot.site), None) as u32,
                false => NO_ROW,
            }),
            (Some(levels), By::Subject) => self.events(walk, block, |walk, slot| match levels.contains(slot.end) {
                true => walk.part.row(By::Subject, None, slot.subject()) as u32,
                false => NO_ROW,
            }),
            _ => self.events(walk, block, |walk, slot| self.row(walk, &block.head, slot)),
        }
    }

    #[inline(always)]
    fn events(&self, walk: &mut Walk<'a>, block: &Block, mut row: impl FnMut(&mut Walk<'a>, &Slot) -> u32) {
        let head = block.head;
        for record in block.records() {
            let slot = match record {
                Record::Event(slot) => slot,
                Record::Mark(mark) if mark.mark == Mark::End && walk.selfs.is_some() => {
                    self.overlong(walk, &mark);
                    continue;
                }
                Record::Mark(_) => continue,
            };
            let row = row(walk, &slot);
            let span = slot.span();
            if let Some(cell) = walk.part.cells.get_mut(row as usize) {
                cell.add(slot.outcome_bits(), span);
            }
            let Some(selfs) = &mut walk.selfs else { continue };
            let around = selfs.enter(head.id(slot.slot), head.base.saturating_add(slot.start), &slot, span, row);
            if let (Some(cell), Some(span)) = (walk.part.cells.get_mut(around as usize), span) {
                cell.own = cell.own.wrapping_sub(span);
            }
        }
    }

    /// Adds what an event took beyond the length that its slot can tell.
    #[cold]
    fn overlong(&self, walk: &mut Walk<'a>, mark: &MarkSlot<'_>) {
        let glimpse = |id| EventId::from_raw(id).and_then(|id| self.ring.glimpse(id));
        let Some((head, slot)) = glimpse(mark.event).filter(|(_, slot)| slot.span() == Some(SPAN_MAX)) else { return };
        // An event that has left the window has its whole length in the pages.
        let beyond = mark.words[0].saturating_sub(SPAN_MAX);
        let row = self.row(walk, &head, &slot);
        if let Some(cell) = walk.part.cells.get_mut(row as usize) {
            cell.total_ticks = cell.total_ticks.wrapping_add(beyond);
            cell.max_ticks = cell.max_ticks.max(SPAN_MAX.saturating_add(beyond));
            cell.own = cell.own.wrapping_add(beyond);
        }
        // What was inside it beyond that point was not seen to be inside.
        walk.part.self_exact = false;
    }

    /// The row of an event; [`NO_ROW`] if it is not wanted.
    fn row(&self, walk: &mut Walk<'a>, head: &Head, slot: &Slot) -> u32 {
        if !self.scope.epochs.contains(&head.epoch) || !self.matcher.matches(self.ring, head, slot, &mut walk.memory) {
            return NO_ROW;
        }
        let id = head.id(slot.slot);
        if let Some(under) = self.scope.under
            && !self.is_under(walk, under, id, slot)
        {
            return NO_ROW;
        }
        let site = match self.by {
            By::RootCause => self.root(walk, id, slot),
            _ => Some(slot.site),
        };
        walk.part.row(self.by, site, slot.subject()) as u32
    }

    fn is_under(&self, walk: &mut Walk<'a>, under: EventId, id: EventId, slot: &Slot) -> bool {
        if id == under || self.adopted.contains(&id) {
            return id != under;
        }
        let Some(cause) = EventId::from_raw(slot.cause) else { return false };
        let own = |id, _: &Slot| (id == under || self.adopted.contains(&id)).then_some(1);
        walk.lineage.as_mut().is_some_and(|lineage| lineage.value(self.ring, cause, own) == 1)
    }

    fn root(&self, walk: &mut Walk<'a>, id: EventId, slot: &Slot) -> Option<u32> {
        let roots = walk.roots.as_mut()?;
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

impl Part {
    pub fn new() -> Self {
        Part { table: Table::new(), cells: Vec::new(), exact: true, self_exact: true }
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
    pub fn into_tally(self, by: By, what: What) -> Tally {
        let mut tally = Tally { rows: Vec::new(), exact: self.exact, self_exact: self.self_exact };
        for (key, cell) in self.table.keys().iter().zip(&self.cells) {
            let mut measure = cell.whole().settled();
            if measure == Measure::default() {
                continue;
            }
            if what == What::Counts {
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
    fn merge(&mut self, other: Part) {
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

fn merged<'a>(walks: impl IntoIterator<Item = Walk<'a>>) -> Part {
    let mut whole = Part::new();
    for walk in walks {
        let gave_up =
            walk.memory.is_exhausted() || [&walk.lineage, &walk.roots].into_iter().flatten().any(Lineage::is_exhausted);
        let mut part = walk.part;
        part.exact &= !gave_up;
        part.self_exact &= walk.selfs.is_none_or(|selfs| selfs.is_exact());
        whole.merge(part);
    }
    whole
}
