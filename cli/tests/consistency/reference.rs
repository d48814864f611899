//! What a function did, from the events of a recording: the simplest reader, with one thread and
//! nothing remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metaspy_core::{Event, LaneId, Outcome, Store};
use metaspy_reader::{Filter, Position};

/// What a function did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub count: u64,
    pub total_ns: u64,
    pub own_ns: u64,
}

/// What the calls of a row did, async ones as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub count: u64,
    /// The time in which a call was open, or polled.
    pub total_ns: u64,
    /// What is certain of it, where calls of the row may be inside the polls of others.
    pub least_ns: u64,
    pub own_ns: u64,
    pub wall_ns: u64,
    pub max_ns: u64,
}

/// The name of a row, as the report's JSON has it: the site beside a subject, and the path, the
/// kind and key of a subject, or what stands for it.
pub type RowName = (String, String);

/// All that was recorded.
pub struct Reference {
    store: Store,
    events: Vec<Timed>,
    /// By the paths of functions. Async ones have no totals here: one event has all of their polls.
    pub by_site: BTreeMap<String, Numbers>,
}

/// An event, and the ticks of it that are in no event within it.
struct Timed {
    event: Event,
    path: String,
    is_async: bool,
    /// Negative where a call is no part of the polls of its cause.
    own: i64,
    /// The lanes in which an async call was polled, beside that in which it began.
    lanes: BTreeSet<LaneId>,
    /// True if an async call began outside of the polls of its cause.
    is_apart: bool,
    /// The ticks in which an async call was polled.
    polled: u64,
    /// The place of its direct cause among the events.
    cause: Option<usize>,
}

impl Reference {
    /// Reads the one recording of a run.
    pub fn read(run: &Path) -> Reference {
        let files =
            std::fs::read_dir(run).expect("there is a run").flatten().map(|entry| entry.path());
        let spy: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|end| end == "spy")).collect();
        let store = Store::open(&spy[0]).expect("it is a recording");
        assert_eq!((spy.len(), store.totals().folded, store.totals().lost), (1, 0, 0));
        let polled_lanes = store.polled_lanes();
        let timed = |event: Event| {
            let is_async = store.site(event.site).is_some_and(|site| site.kind.name() == "async");
            let span = event.span.unwrap_or(0);
            let polls = store.polls(event.id);
            let polled = polls.map_or(if is_async { span } else { 0 }, |polls| polls.busy_ticks);
            let is_apart = polls.is_some_and(|polls| polls.is_apart);
            let lanes = polled_lanes.get(&event.id).cloned().unwrap_or_default();
            let path = store.site_path(event.site).to_owned();
            let own = if is_async { polled } else { span } as i64;
            Timed { own, path, is_async, polled, lanes, is_apart, cause: None, event }
        };
        let events = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events;
        let mut events: Vec<Timed> = events.into_iter().map(timed).collect();
        let places: BTreeMap<_, _> =
            events.iter().enumerate().map(|(at, timed)| (timed.event.id, at)).collect();
        for timed in &mut events {
            timed.cause = timed.event.cause.and_then(|cause| places.get(&cause).copied());
        }
        subtract_calls(&mut events);
        let paths: BTreeSet<String> = events.iter().map(|event| event.path.clone()).collect();
        let mut reference = Reference { store, events, by_site: BTreeMap::new() };
        let row = |path: String| (path.clone(), reference.of(|at| at == path));
        reference.by_site = paths.into_iter().map(row).collect();
        reference
    }

    /// What the functions did together that have such a path.
    pub fn of(&self, is_of: impl Fn(&str) -> bool) -> Numbers {
        self.of_events(|event| is_of(&event.path))
    }

    /// What the calls of one object did together, at one site or at all.
    pub fn of_subject(&self, key: u64, site: Option<&str>) -> Numbers {
        self.of_events(|event| event.is_of_subject(key, site))
    }

    /// How many calls of one object at a site ended so.
    pub fn ended(&self, key: u64, site: &str, outcome: Outcome) -> u64 {
        let ended =
            |event: &&Timed| event.is_of_subject(key, Some(site)) && event.event.outcome == outcome;
        self.events.iter().filter(ended).count() as u64
    }

    /// The rows of a grouping.
    pub fn rows(&self, by: &str) -> BTreeMap<RowName, Times> {
        let mut rows: BTreeMap<RowName, Vec<usize>> = BTreeMap::new();
        for at in 0..self.events.len() {
            rows.entry(self.row_of(by, at)).or_default().push(at);
        }
        rows.into_iter().map(|(name, calls)| (name, self.times(&calls))).collect()
    }

    fn row_of(&self, by: &str, at: usize) -> RowName {
        let Timed { event, path, cause, .. } = &self.events[at];
        let none = String::new();
        let subject = |event: &Event| {
            event.subject.map_or(String::new(), |subject| {
                let kind =
                    self.store.kind(subject.kind).map_or(String::new(), |kind| kind.whole_name());
                format!("{kind} {}", subject.key)
            })
        };
        match (by, cause) {
            ("subject", _) => (none, subject(event)),
            ("site,subject", _) => (path.clone(), subject(event)),
            ("cause", _) => {
                let root = std::iter::successors(Some(at), |at| self.events[*at].cause).last();
                (none, self.events[root.unwrap_or(at)].path.clone())
            }
            ("sender", Some(cause)) => (none, self.events[*cause].path.clone()),
            ("cause,subject", Some(cause)) => {
                (self.events[*cause].path.clone(), subject(&self.events[*cause].event))
            }
            ("sender" | "cause,subject", None) => (none, "no cause".to_owned()),
            _ => (none, path.clone()),
        }
    }

    fn times(&self, calls: &[usize]) -> Times {
        let all: Vec<&Timed> = calls.iter().map(|at| &self.events[*at]).collect();
        let (polled, plain): (Vec<&Timed>, Vec<&Timed>) =
            all.iter().copied().partition(|timed| timed.is_async);
        let sum = |of: fn(&Timed) -> u64, timed: &[&Timed]| {
            timed.iter().map(|timed| of(timed)).sum::<u64>()
        };
        let is_inside = |at: usize| {
            let mut causes =
                std::iter::successors(self.events[at].cause, |at| self.events[*at].cause);
            causes.any(|cause| calls.binary_search(&cause).is_ok())
        };
        // Calls inside others of the row are polled while these are.
        let outermost: u64 =
            calls.iter().filter(|at| !is_inside(**at)).map(|at| self.events[*at].polled).sum();
        let (union, busy) = (union(&plain), sum(|timed| timed.polled, &polled));
        let is_mixed = !polled.is_empty() && !plain.is_empty();
        let ns = |ticks| self.store.span_ns(ticks);
        Times {
            count: all.len() as u64,
            total_ns: ns(union + busy),
            least_ns: ns(if is_mixed { union.max(outermost) } else { union + outermost }),
            own_ns: ns(own(&all)),
            wall_ns: ns(sum(|timed| timed.event.span.unwrap_or(0), &polled)),
            max_ns: ns(all.iter().filter_map(|timed| timed.event.span).max().unwrap_or(0)),
        }
    }

    fn of_events(&self, is_of: impl Fn(&Timed) -> bool) -> Numbers {
        let events: Vec<&Timed> = self.events.iter().filter(|event| is_of(event)).collect();
        let is_async = events.iter().any(|event| event.is_async);
        let total = if is_async { 0 } else { union(&events) };
        let span_ns = |ticks| self.store.span_ns(ticks);
        Numbers {
            count: events.len() as u64,
            total_ns: span_ns(total),
            own_ns: span_ns(own(&events)),
        }
    }

    /// True if some of these functions are async.
    pub fn is_async(&self, is_of: impl Fn(&str) -> bool) -> bool {
        self.events.iter().any(|event| event.is_async && is_of(&event.path))
    }

    /// No function has more time of its own than in all, none has more than the lanes, and own
    /// times are disjoint. Where calls are polled, those within a poll on another lane than the
    /// call began on are not taken off its own time: it is bounded by the lanes alone.
    pub fn assert_bounds(&self, name: &str) {
        let run = self.store.span_ns(union(&self.events.iter().collect::<Vec<_>>()));
        let most_of_lanes = if self.is_async(|_| true) { self.lanes_ns() } else { run };
        for (path, numbers) in &self.by_site {
            let is_async = self.is_async(|at| at == path);
            let most = if is_async { most_of_lanes } else { numbers.total_ns };
            let most_of_all = if is_async { most_of_lanes } else { run };
            assert!(
                numbers.own_ns <= most && most <= most_of_all,
                "{name} {path} {numbers:?} {most_of_all}"
            );
        }
        let own: u64 = self.by_site.values().map(|numbers| numbers.own_ns).sum();
        assert!(own <= most_of_lanes, "{name}: {own} of {most_of_lanes}");
    }

    /// The time from the first event to the last end, once for each lane.
    fn lanes_ns(&self) -> u64 {
        let lanes: BTreeSet<_> = self.events.iter().map(|timed| timed.event.lane).collect();
        let first = self.events.iter().map(|timed| timed.event.start).min().unwrap_or(0);
        let last = self.events.iter().map(Timed::end).max().unwrap_or(0);
        self.store.span_ns((last - first) * lanes.len() as u64)
    }
}

impl Timed {
    fn end(&self) -> u64 {
        self.event.start + self.event.span.unwrap_or(0)
    }

    fn is_of_subject(&self, key: u64, site: Option<&str>) -> bool {
        self.event.subject.is_some_and(|subject| subject.key == key)
            && site.is_none_or(|site| self.path == site)
    }
}

/// Takes the time of a call off the time that the call around it has for itself: the async call
/// that is its cause and is polled in its lane, unless it is a spawned task, or else the nearest
/// one in its lane. They come in the order of their starts.
fn subtract_calls(events: &mut [Timed]) {
    let mut open: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for at in 0..events.len() {
        let Timed { event, is_async, polled, cause, is_apart, .. } = &events[at];
        let (start, is_async, spent) =
            (event.start, *is_async, if *is_async { *polled } else { event.span.unwrap_or(0) });
        let around = open.entry(event.lane).or_default();
        while around.last().is_some_and(|around| events[*around].end() <= start) {
            around.pop();
        }
        let polling = cause.filter(|cause| {
            let cause = &events[*cause];
            let is_polled_here =
                cause.event.lane == event.lane || cause.lanes.contains(&event.lane);
            cause.is_async && is_polled_here && !is_apart
        });
        let is_around = |caller: &usize| events[*caller].end() >= events[at].end();
        let caller = polling.filter(is_around).or(around.last().copied().filter(is_around));
        if !is_async {
            around.push(at);
        }
        if let Some(caller) = caller {
            events[caller].own -= spent as i64;
        }
    }
}

/// The ticks that calls have for themselves.
fn own(events: &[&Timed]) -> u64 {
    events.iter().map(|timed| timed.own).sum::<i64>().max(0) as u64
}

/// The ticks in which at least one of these events was open. They come in the order of their
/// starts.
fn union(events: &[&Timed]) -> u64 {
    let mut until = BTreeMap::new();
    let mut sum = 0;
    for Timed { event, .. } in events {
        let until = until.entry(event.lane).or_insert(0);
        let end = event.start + event.span.unwrap_or(0);
        sum += end.saturating_sub(event.start.max(*until));
        *until = end.max(*until);
    }
    sum
}
