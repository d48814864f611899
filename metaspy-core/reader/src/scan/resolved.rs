//! Events of the window in order of time, with their causes, units of work and self times resolved.
//!
//! A survey reads each lane once. It counts the events of each site, which decides on the units of
//! work, and adds up the time inside events that surround events of later blocks. The second
//! reading resolves blocks on all processors and merges the lanes, a group of chunks at a time, the
//! next one while the caller reads this one. So memory is bounded, and every caller sees the same
//! order.

use std::collections::HashMap;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use crate::Store;
use crate::event::{Event, EventId, LaneId, Outcome};
use crate::parallel::{each, threads_for};
use crate::platform::lock::lock;
use crate::platform::own_thread::without_signals;
use crate::ring::blocks::{Block, Head, Record, Ring, Slot};
use crate::ring::chunks::Unit;
use crate::ring::folds::Folds;
use crate::ring::links::Links;
use crate::scan::event_rows::{Pairs, Rows};
use crate::scan::survey::{SiteSurvey, Survey};
use crate::scan::unit_walk::UnitWalk;
use metaspy_format::CHUNK_BLOCKS;
use metaspy_format::slot::{self, Mark, SPAN_MAX};
use metaspy_probe::{SiteId, Subject};

/// Number of events that a site needs for its events to be units of work. Fewer are phases of the
/// program, such as `main`.
const UNIT_EVENTS: u64 = 20;
/// Number of chunks that are resolved at a time: about 30,000 events.
const GROUP_CHUNKS: usize = 4;
/// Maximum number of nested events. The self time of deeper events is unknown.
const DEPTH_MAX: usize = 1 << 16;

/// Event of the application with what is known of the events around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedEvent {
    /// The event itself.
    pub event: Event,
    /// Cause of the event.
    pub cause: Cause,
    /// Further reasons of the event, as far as they are in the window.
    pub links: Vec<Reason>,
    /// Unit of work that the event belongs to, possibly itself; `None` if it belongs to none, or if
    /// a cause left the window.
    pub unit: Option<UnitOfWork>,
    /// Duration in ticks without the timed events inside it on its lane. `None` for async calls,
    /// for running and for untimed events, and if it is not exact.
    pub self_ticks: Option<u64>,
    /// Number of the pair of site and subject, counted from 0; `None` for pairs beyond the first
    /// million.
    pub row: Option<u32>,
    /// Number of the subject, counted from 0; `None` without a subject, and for subjects beyond the
    /// first million.
    pub subject_row: Option<u32>,
    /// Start in the order of the lane.
    tick: u64,
}

/// Cause of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The event is a root.
    Root,
    /// The cause is in the window.
    Event(Reason),
    /// The cause is an event of another process.
    Remote,
    /// The cause left the window, or was never stored.
    Left,
}

/// Cause or link of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Id of the event.
    pub id: EventId,
    /// Site of the event.
    pub site: SiteId,
    /// Subject of the event; `None` if it has none.
    pub subject: Option<Subject>,
    /// Lane of the event.
    pub lane: LaneId,
    /// Start in ticks.
    pub start: u64,
    /// End in ticks; `None` if the event has not ended, or was not timed.
    pub end: Option<u64>,
}

/// Event that stands for a piece of work: a frame, a request, a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnitOfWork {
    /// Id of the event.
    pub id: EventId,
    /// Site of the event.
    pub site: SiteId,
}

/// Rule that decides which events are units of work.
#[derive(Clone, Debug, Default)]
pub enum UnitRule {
    /// The outermost cause whose site has at least twenty events.
    #[default]
    Outermost,
    /// The nearest event of one of these sites.
    Nearest(HashSet<SiteId>),
}

impl Cause {
    /// Returns the cause if it is in the window.
    #[inline]
    pub fn event(&self) -> Option<&Reason> {
        match self {
            Cause::Event(reason) => Some(reason),
            Cause::Root | Cause::Remote | Cause::Left => None,
        }
    }
}

/// Scan of the window's events in order of time; see [`Store::resolved`].
pub struct ResolvedScan {
    store: Store,
    units: Vec<Unit>,
    folds: Folds,
    asyncs: Vec<bool>,
    /// True for sites whose events are units of work, by number.
    unit_sites: Vec<bool>,
    is_nearest: bool,
    links: Arc<Links>,
    survey: Survey,
    /// Ticks inside events that surround events of later blocks, by id.
    inner: HashMap<u64, u64>,
}

impl Store {
    /// Surveys the window, and prepares a scan of its events in order of time.
    ///
    /// ```no_run
    /// use metaspy_reader::{Store, UnitRule};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let scan = Store::open("run.spy".as_ref())?.resolved(&UnitRule::default());
    /// let mut in_units = 0;
    /// scan.read(|events| {
    ///     in_units += events.iter().filter(|event| event.unit.is_some()).count();
    ///     true
    /// });
    /// println!("{in_units} of {} events belong to a unit of work", scan.survey().events);
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolved(&self, rule: &UnitRule) -> ResolvedScan {
        let ring = self.ring();
        let mut scan = ResolvedScan {
            store: self.clone(),
            units: ring.units(),
            folds: ring.folds(),
            asyncs: self.asyncs(),
            unit_sites: Vec::new(),
            is_nearest: matches!(rule, UnitRule::Nearest(_)),
            links: self.all_links(),
            survey: Survey::default(),
            inner: HashMap::new(),
        };
        scan.make_survey();
        let is_unit = |(site, numbers): (usize, &SiteSurvey)| match rule {
            UnitRule::Outermost => numbers.events >= UNIT_EVENTS,
            UnitRule::Nearest(sites) => sites.contains(&SiteId(site as u32)),
        };
        scan.unit_sites = scan.survey.sites.iter().enumerate().map(is_unit).collect();
        scan
    }
}

impl ResolvedScan {
    /// Returns the numbers of the survey.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Passes all events to `batch` in order of time, about 30,000 at once. Stops if it returns
    /// false. Returns the pairs of site and subject by the number of their row.
    pub fn read(&self, mut batch: impl FnMut(&[ResolvedEvent]) -> bool) -> Pairs {
        let mut rows = Rows::new();
        let groups: Vec<&[Unit]> = self.units.chunks(GROUP_CHUNKS).collect();
        let kept = Kept::default();
        thread::scope(|scope| {
            let groups = &groups;
            let kept = &kept;
            // The next group is resolved while this one is read.
            let (sender, receiver) = mpsc::sync_channel(0);
            let resolve_all = move || {
                _ = groups.iter().try_for_each(|group| sender.send(self.group(group, kept)))
            };
            if groups.len() > 1 {
                // If the system refuses a thread, this one does its work.
                _ = without_signals(|| thread::Builder::new().spawn_scoped(scope, resolve_all));
            } else {
                drop(resolve_all);
            }
            let mut pending: Vec<ResolvedEvent> = Vec::new();
            let mut later: Vec<ResolvedEvent> = Vec::new();
            for (number, group) in groups.iter().enumerate() {
                for mut events in receiver.recv().unwrap_or_else(|_| self.group(group, kept)) {
                    pending.append(&mut events);
                    lock(&kept.parts).push(events);
                }
                let order = |event: &ResolvedEvent| (event.tick, event.event.lane, event.event.id);
                if !pending.is_sorted_by_key(order) {
                    // Events are large, so each is moved once.
                    pending.sort_by_cached_key(order);
                }
                // Later groups have no event before the beginning of the next one.
                if let Some(next) =
                    groups.get(number + 1).and_then(|group| group.first()).map(Unit::first)
                {
                    let ready = pending.partition_point(|event| event.tick < next);
                    later.extend(pending.drain(ready..));
                }
                pending.iter_mut().for_each(|event| rows.number(event));
                if !pending.is_empty() && !batch(&pending) {
                    break;
                }
                pending.clear();
                std::mem::swap(&mut pending, &mut later);
            }
        });
        rows.into_pairs()
    }

    /// Returns the events of some chunks, in the order of the chunks.
    fn group(&self, units: &[Unit], kept: &Kept) -> Vec<Vec<ResolvedEvent>> {
        let ring = self.store.ring();
        let items: Vec<(usize, Unit)> = units.iter().copied().enumerate().collect();
        let threads = threads_for(items.len().saturating_mul(CHUNK_BLOCKS));
        let worker =
            || Worker { walk: lock(&kept.walks).pop(), parts: Vec::new(), block: Block::boxed() };
        let workers = each(&items, threads, worker, |worker, (at, unit)| {
            let mut events = lock(&kept.parts).pop().unwrap_or_default();
            let walk = worker.walk.get_or_insert_with(|| UnitWalk::new(ring.places()));
            for place in unit.places(ring) {
                if ring.load_stored(place, &self.folds, &mut worker.block)
                    && !worker.block.head.is_kept
                {
                    self.resolve(&worker.block, walk, &mut events);
                }
            }
            worker.parts.push((*at, events));
        });
        let mut parts = Vec::new();
        for worker in workers {
            parts.extend(worker.parts);
            lock(&kept.walks).extend(worker.walk);
        }
        parts.sort_by_key(|(at, _)| *at);
        parts.into_iter().map(|(_, events)| events).collect()
    }

    fn make_survey(&mut self) {
        let ring = self.store.ring();
        let mut nests: HashMap<u32, Nest> = HashMap::new();
        let mut lanes: HashSet<u32> = HashSet::new();
        let mut block = Block::boxed();
        let has_folded = self.store.totals().folded > 0;
        let survey = &mut self.survey;
        survey.has_links = !self.links.is_empty();
        for place in self.units.iter().flat_map(|unit| unit.places(ring)) {
            if !ring.load_stored(place, &self.folds, &mut block) {
                continue;
            }
            let head = block.head;
            lanes.insert(head.lane);
            if head.is_kept {
                survey.details +=
                    block.marks().filter(|mark| mark.mark == Mark::Detail).count() as u64;
                continue;
            }
            let is_first = !nests.contains_key(&head.lane);
            let nest = nests.entry(head.lane).or_default();
            for record in block.records() {
                let slot = match record {
                    Record::Event(slot) => slot,
                    Record::Mark(mark) => {
                        survey.details += u64::from(mark.mark == Mark::Detail);
                        continue;
                    }
                };
                let start = head.base.saturating_add(slot.start);
                if is_first && has_folded {
                    survey.whole_from = survey.whole_from.max(start);
                }
                let span = span_of(&self.store, &head, &slot);
                let is_async = is_async(&self.asyncs, slot.site);
                let inner = &mut self.inner;
                let is_inside =
                    nest.enter(head.id(slot.slot), start, span, &slot, is_async, |open| {
                        if open.is_crossing {
                            inner.insert(open.id, open.inner);
                        }
                    });
                if slot::level(slot.end) > 0 {
                    continue;
                }
                survey.events += 1;
                let number = slot.site as usize;
                if survey.sites.len() <= number {
                    survey.sites.resize(number + 1, SiteSurvey::default());
                }
                let site = &mut survey.sites[number];
                if let Some(span) = span {
                    let bits = (u64::BITS - span.leading_zeros()) as usize;
                    site.spans[bits.min(site.spans.len() - 1)] += 1;
                }
                let span = span.unwrap_or(0);
                site.events += 1;
                site.roots += u64::from(slot.cause == 0);
                let outcome = slot.outcome();
                site.failed += u64::from(outcome == Outcome::Failed);
                site.panicked += u64::from(outcome == Outcome::Panicked);
                site.ticks = site.ticks.saturating_add(span);
                if !is_async && !is_inside {
                    survey.work_ticks = survey.work_ticks.saturating_add(span);
                }
                if slot.cause == 0 {
                    survey.root_ticks = survey.root_ticks.saturating_add(span);
                }
            }
            nest.cross();
        }
        survey.lanes = lanes.len() as u64;
        for open in nests.into_values().flat_map(|nest| nest.open) {
            self.inner.insert(open.id, open.inner);
        }
    }

    /// Appends the events of a block.
    fn resolve(&self, block: &Block, walk: &mut UnitWalk, into: &mut Vec<ResolvedEvent>) {
        let ring = self.store.ring();
        let head = block.head;
        let mut links = Vec::new();
        self.links.of_block(head.sequence, &mut links);
        let mut nest = Nest::default();
        let mut tick = 0;
        // The place of each slot's event among the results.
        let mut at = [usize::MAX; metaspy_format::BLOCK_SLOTS];
        let set_inner = |into: &mut Vec<ResolvedEvent>, at: usize, inner: u64| {
            if let Some(event) = into.get_mut(at) {
                let known = event.self_ticks.filter(|_| inner != UNKNOWN);
                event.self_ticks = known.map(|ticks| ticks.saturating_sub(inner));
            }
        };
        for slot in block.events() {
            let id = head.id(slot.slot);
            let event = self.store.completed(head.event(&slot));
            let span = event.span;
            let is_async = is_async(&self.asyncs, slot.site);
            nest.enter(id, event.start, span, &slot, is_async, |open| {
                set_inner(into, at[open.slot], open.inner);
            });
            tick = event.start.max(tick);
            let unit = walk.unit(ring, id, &slot, &self.unit_sites, self.is_nearest);
            if event.level > 0 {
                continue;
            }
            at[slot.slot] = into.len();
            let own = links.iter().filter(|(effect, _)| *effect == id.raw());
            into.push(ResolvedEvent {
                event,
                cause: cause(ring, block, slot.cause),
                links: own
                    .filter_map(|(_, reason)| reason_at(ring, EventId::from_raw(*reason)?))
                    .collect(),
                unit,
                self_ticks: span.filter(|_| !is_async),
                row: None,
                subject_row: None,
                tick,
            });
        }
        for open in &nest.open {
            // What was still open at the end of the block may surround events of later blocks.
            set_inner(into, at[open.slot], self.inner.get(&open.id).copied().unwrap_or(UNKNOWN));
        }
    }
}

impl std::fmt::Debug for ResolvedScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolvedScan").field("survey", &self.survey).finish_non_exhaustive()
    }
}

/// What the threads keep from one group to the next.
#[derive(Default)]
struct Kept {
    walks: Mutex<Vec<UnitWalk>>,
    /// Room for the events of a chunk.
    parts: Mutex<Vec<Vec<ResolvedEvent>>>,
}

/// State of a thread.
struct Worker {
    walk: Option<UnitWalk>,
    parts: Vec<(usize, Vec<ResolvedEvent>)>,
    block: Box<Block>,
}

/// Stands for the time inside an event if it is not known.
const UNKNOWN: u64 = u64::MAX;

/// Events of a lane that surround its next event, outermost first.
#[derive(Default)]
struct Nest {
    open: Vec<Open>,
}

struct Open {
    id: u64,
    slot: usize,
    end: u64,
    /// Ticks of the events directly inside it, or [`UNKNOWN`].
    inner: u64,
    /// True if it was open when its block ended.
    is_crossing: bool,
}

impl Nest {
    /// Enters an event, and passes the events that have ended before it to `closed`. Returns true
    /// if the event's time is inside another event.
    #[inline(always)]
    fn enter(
        &mut self,
        id: EventId,
        start: u64,
        span: Option<u64>,
        slot: &Slot,
        is_async: bool,
        mut closed: impl FnMut(&Open),
    ) -> bool {
        while let Some(top) = self.open.pop_if(|top| top.end <= start) {
            closed(&top);
        }
        let outer = self.open.last_mut();
        let end = match span {
            Some(span) => start.saturating_add(span),
            None if slot.is_timed() && slot.outcome() != Outcome::Instant => u64::MAX,
            None => return outer.is_some(),
        };
        let mut is_inside = false;
        let mut limit = end;
        if let Some(outer) = outer {
            limit = end.min(outer.end);
            if is_async {
                // Its polls take time of the events around them, and only their sum is recorded.
                outer.inner = UNKNOWN;
            } else if end <= outer.end {
                is_inside = true;
                outer.inner = outer.inner.saturating_add(span.unwrap_or(UNKNOWN));
            }
        }
        if is_async {
            return is_inside;
        }
        if self.open.len() < DEPTH_MAX {
            self.open.push(Open {
                id: id.raw(),
                slot: slot.slot,
                end: limit,
                inner: 0,
                is_crossing: false,
            });
        } else if let Some(top) = self.open.last_mut() {
            top.inner = UNKNOWN;
        }
        is_inside
    }

    /// Notes that a block has ended.
    fn cross(&mut self) {
        self.open
            .iter_mut()
            .rev()
            .take_while(|open| !open.is_crossing)
            .for_each(|open| open.is_crossing = true);
    }
}

fn cause(ring: Ring<'_>, block: &Block, raw: u64) -> Cause {
    let Some(id) = EventId::from_raw(raw) else { return Cause::Root };
    // Most causes are in the block of their effect.
    let near = if id.sequence() == block.head.sequence { block.event_at(id.slot()) } else { None };
    match near.map(|slot| reason(id, &block.head, &slot)).or_else(|| reason_at(ring, id)) {
        Some(reason) => Cause::Event(reason),
        None if ring.remote(id).is_some() => Cause::Remote,
        None => Cause::Left,
    }
}

fn reason_at(ring: Ring<'_>, id: EventId) -> Option<Reason> {
    let (head, slot) = ring.peek(id)?;
    Some(reason(id, &head, &slot))
}

fn reason(id: EventId, head: &Head, slot: &Slot) -> Reason {
    let start = head.base.saturating_add(slot.start);
    Reason {
        id,
        site: SiteId(slot.site),
        subject: slot.subject(),
        lane: LaneId(head.lane),
        start,
        end: slot.span().map(|span| start.saturating_add(span)),
    }
}

/// Returns the duration of an event, also if it is too long for its slot.
fn span_of(store: &Store, head: &Head, slot: &Slot) -> Option<u64> {
    match slot.span() {
        Some(SPAN_MAX) => store.completed(head.event(slot)).span,
        span => span,
    }
}

fn is_async(asyncs: &[bool], site: u32) -> bool {
    asyncs.get(site as usize).copied().unwrap_or(false)
}
