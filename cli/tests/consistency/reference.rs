//! What a function did, from the events of a recording: the simplest reader, with one thread and nothing remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metaspy_core::store::{Filter, Position};
use metaspy_core::{Event, Outcome, Store};

/// What a function did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    pub count: u64,
    pub total_ns: u64,
    pub own_ns: u64,
}

/// All that was recorded.
pub struct Reference {
    store: Store,
    events: Vec<Timed>,
    /// By the paths of functions. The times of async ones are 0: one event has all of their polls.
    pub by_site: BTreeMap<String, Numbers>,
}

/// An event, and the ticks of it that are in no event within it.
struct Timed {
    event: Event,
    path: String,
    is_async: bool,
    own: u64,
}

impl Reference {
    /// Reads the one recording of a run.
    pub fn read(run: &Path) -> Reference {
        let files = std::fs::read_dir(run).expect("there is a run").flatten().map(|entry| entry.path());
        let spy: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "spy")).collect();
        let store = Store::open(&spy[0]).expect("it is a recording");
        assert_eq!((spy.len(), store.totals().folded, store.totals().lost), (1, 0, 0));
        let timed = |event: Event| {
            let is_async = store.site(event.site).is_some_and(|site| site.kind.name() == "async");
            Timed { own: event.span.unwrap_or(0), path: store.site_path(event.site).to_owned(), is_async, event }
        };
        let events = store.forward(Position::Start, &Filter::all(), usize::MAX, usize::MAX).events;
        let mut events: Vec<Timed> = events.into_iter().map(timed).collect();
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
        let ended = |event: &&Timed| event.is_of_subject(key, Some(site)) && event.event.outcome == outcome;
        self.events.iter().filter(ended).count() as u64
    }

    fn of_events(&self, is_of: impl Fn(&Timed) -> bool) -> Numbers {
        let events: Vec<&Timed> = self.events.iter().filter(|event| is_of(event)).collect();
        let count = events.len() as u64;
        if events.iter().any(|event| event.is_async) {
            return Numbers { count, ..Numbers::default() };
        }
        let own = events.iter().map(|event| event.own).sum();
        Numbers { count, total_ns: self.store.span_ns(union(&events)), own_ns: self.store.span_ns(own) }
    }

    /// True if some of these functions are async.
    pub fn is_async(&self, is_of: impl Fn(&str) -> bool) -> bool {
        self.events.iter().any(|event| event.is_async && is_of(&event.path))
    }

    /// No function has more time of its own than in all, none has more than the lanes, and own times are disjoint.
    pub fn assert_bounds(&self, name: &str) {
        let run = self.store.span_ns(union(&self.events.iter().collect::<Vec<_>>()));
        for (path, numbers) in &self.by_site {
            assert!(numbers.own_ns <= numbers.total_ns && numbers.total_ns <= run, "{name} {path} {numbers:?} {run}");
        }
        let own: u64 = self.by_site.values().map(|numbers| numbers.own_ns).sum();
        assert!(own <= run, "{name}: {own} of {run}");
    }
}

impl Timed {
    fn is_of_subject(&self, key: u64, site: Option<&str>) -> bool {
        self.event.subject.is_some_and(|subject| subject.key == key) && site.is_none_or(|site| self.path == site)
    }
}

/// Takes the time of a call off the time that the call around it has for itself. They come in the order of their starts.
fn subtract_calls(events: &mut [Timed]) {
    let mut open: BTreeMap<_, Vec<(usize, u64)>> = BTreeMap::new();
    for at in 0..events.len() {
        let Timed { event, is_async: false, .. } = &events[at] else { continue };
        let (start, span) = (event.start, event.span.unwrap_or(0));
        let around = open.entry(event.lane).or_default();
        while around.last().is_some_and(|(_, end)| *end <= start) {
            around.pop();
        }
        let caller = around.last().map(|(caller, _)| *caller);
        around.push((at, start + span));
        if let Some(caller) = caller {
            events[caller].own -= span;
        }
    }
}

/// The ticks in which at least one of these events was open. They come in the order of their starts.
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
