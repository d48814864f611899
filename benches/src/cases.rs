//! The cases that need no peer: the floor, and metaspy in each of its modes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Barrier;

use metaspy::Mode;
use metaspy::instrumenter::Arming;
use metaspy::recording::Builder;
use metaspy::store::Store;
use metaspy::{Identify, Recording, Site, site};

use crate::arming::observe;
use crate::check::{Expected, read_back};
use crate::child::{CaseResult, Size, is_smoke, middle, time};
use crate::things::{self, BY_HAND, Dense, Placed, Thing, batch};
use crate::workload::{BATCH, Workload, nothing};

/// A case: its name in the table and in the file, and what it measures.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    run: fn() -> CaseResult,
}

impl Case {
    /// Runs it, in this process.
    pub fn run(&self) -> CaseResult {
        (self.run)()
    }
}

const THOUSAND: usize = 1_000;
const MILLION: usize = 1_000_000;
/// Nothing to fill: caches and branch predictors only.
const SMALL: Size = Size::of(1_000_000, 2_000_000);
/// A default recording wraps after 7 million events; what is timed is the ring that goes round.
const RING: Size = Size::of(9_000_000, 2_000_000);
/// It does not wrap: every block is one that was never used.
const FRESH: Size = Size::of(200_000, 1_000_000);
/// The one subject of the object-specific case.
const CHOSEN: usize = 417;

/// All of them, in the order of the table.
pub const CASES: [Case; 22] = [
    Case { name: "plain", what: "the call alone", run: || base(THOUSAND, Thing::plain) },
    Case {
        name: "floor",
        what: "two reads of the clock around it",
        run: || base(THOUSAND, Thing::between_clocks),
    },
    Case { name: "unarmed", what: "a hook that is not armed", run: unarmed },
    Case { name: "tally_site", what: "counted by site", run: tally_site },
    Case { name: "tally_dense", what: "counted by subject, dense keys", run: || dense(tally(), 1) },
    Case { name: "tally_wide", what: "counted by subject, arbitrary keys", run: tally_wide },
    Case {
        name: "sampled",
        what: "an event each, 1 in 16 timed",
        run: || dense(Arming::all(Mode::Sampled), 1),
    },
    Case { name: "full", what: "an event each, all timed", run: || dense(full(), 1) },
    Case { name: "full_receiver", what: "... the receiver says who it is", run: full_receiver },
    Case { name: "full_place", what: "... the receiver has no identity", run: full_place },
    Case { name: "full_by_hand", what: "... without #[observe]", run: full_by_hand },
    Case { name: "object", what: "full for 1 of the 1,000", run: object },
    Case {
        name: "ten_profilers",
        what: "full for ten profilers at once",
        run: || dense(full(), 10),
    },
    Case { name: "two_threads", what: "full on two threads, a thread", run: two_threads },
    Case { name: "file", what: "full into a .spy file", run: || file(RING) },
    Case { name: "full_fresh", what: "full, in the first lap of the ring", run: full_fresh },
    Case {
        name: "file_fresh",
        what: "full into a .spy file, in its first lap",
        run: || file(FRESH),
    },
    Case {
        name: "plain_million",
        what: "the call alone, 1,000,000 objects",
        run: || base(MILLION, Thing::plain),
    },
    Case {
        name: "floor_million",
        what: "the floor, 1,000,000 objects",
        run: || base(MILLION, Thing::between_clocks),
    },
    Case { name: "full_million", what: "full, 1,000,000 objects", run: full_million },
    Case {
        name: "folding",
        what: "full, and the thread folds as many events",
        run: || folding(THOUSAND),
    },
    Case { name: "folding_million", what: "the same, 1,000,000 objects", run: || folding(MILLION) },
];

fn sized(size: Size) -> Size {
    if is_smoke() { size.smoke() } else { size }
}

fn full() -> Arming {
    Arming::all(Mode::Full)
}

fn tally() -> Arming {
    Arming::all(Mode::Tally)
}

/// Without a recording. `one` is a type, not a pointer: it is called directly, as the others are.
fn base(count: usize, one: impl Fn(&mut Thing, u64) -> u64) -> CaseResult {
    CaseResult::of(time(sized(SMALL), &mut things(count), nothing, one))
}

fn unarmed() -> CaseResult {
    assert!(!site!(Thing::by_dense).site().is_armed());
    base(THOUSAND, Thing::by_dense)
}

/// Which events a case makes.
struct Observed<T> {
    site: &'static Site,
    arming: Arming,
    profilers: usize,
    recording: Builder,
    size: Size,
    /// The key of each object's events; `None` if there are none of it.
    key: fn(usize, &T) -> Option<Option<u64>>,
}

impl<T> Observed<T> {
    fn new(
        site: &'static Site,
        arming: Arming,
        key: fn(usize, &T) -> Option<Option<u64>>,
    ) -> Observed<T> {
        let size = if arming.mode >= Mode::Sampled { RING } else { SMALL };
        Observed { site, arming, profilers: 1, recording: Recording::memory(), size, key }
    }

    /// Times the calls, and reads them back.
    fn time(self, mut workload: Workload<T>, one: impl Fn(&mut T, u64) -> u64) -> CaseResult {
        let recording = self.recording.clone().start().expect("a recording starts");
        let has_events = self.arming.mode >= Mode::Sampled;
        let installed: Vec<_> =
            (0..self.profilers).map(|_| observe(&[self.site], self.arming.clone())).collect();
        let around = site!(things::batch).site();
        let batches = has_events.then(|| observe(&[around], Arming::all(self.arming.mode)));
        let ns = time(sized(self.size), &mut workload, |run| batch(run), one);
        let expected = self.expected(&[&workload], batches.is_some());
        let found = match recording.path().map(PathBuf::from) {
            None => read_back(&recording.store(), &expected),
            Some(path) => {
                recording.close();
                let found =
                    read_back(&Store::open(&path).expect("the file is a recording"), &expected);
                std::fs::remove_file(path).expect("the file is ours");
                found
            }
        };
        for profiler in [installed.first(), installed.last()].into_iter().flatten() {
            let seen = profiler.so_far().counts().total();
            assert_eq!(seen, expected.calls.values().sum::<u64>(), "a profiler sees its own part");
        }
        found.taking(ns)
    }

    fn expected(&self, workloads: &[&Workload<T>], has_batches: bool) -> Expected {
        let mut calls: HashMap<Option<u64>, u64> = HashMap::new();
        for workload in workloads {
            for (at, count) in workload.replay().into_iter().enumerate() {
                if let Some(key) = (self.key)(at, &workload.things()[at]) {
                    *calls.entry(key).or_default() += count;
                }
            }
        }
        let done: u64 = workloads.iter().map(|workload| workload.done()).sum();
        let batches = has_batches.then(|| (site!(things::batch).site(), done / BATCH));
        Expected { site: self.site, mode: self.arming.mode, calls, batches }
    }
}

fn things(count: usize) -> Workload<Thing> {
    Workload::new(count, 1, Thing::new)
}

fn of_dense(arming: Arming) -> Observed<Thing> {
    Observed::new(site!(Thing::by_dense).site(), arming, |_, thing| {
        Some(Some(thing.dense.0.into()))
    })
}

fn dense(arming: Arming, profilers: usize) -> CaseResult {
    Observed { profilers, ..of_dense(arming) }.time(things(THOUSAND), Thing::by_dense)
}

fn tally_site() -> CaseResult {
    let none = site!(things::by_none).site();
    Observed::new(none, tally(), |_, _: &Thing| Some(None)).time(things(THOUSAND), things::by_none)
}

fn tally_wide() -> CaseResult {
    Observed::new(site!(Thing::by_wide).site(), tally(), |_, thing: &Thing| {
        Some(Some(thing.wide.0))
    })
    .time(things(THOUSAND), Thing::by_wide)
}

fn full_receiver() -> CaseResult {
    Observed { site: site!(Thing::by_receiver).site(), ..of_dense(full()) }
        .time(things(THOUSAND), Thing::by_receiver)
}

fn full_place() -> CaseResult {
    let key = |_, it: &Placed| Some(Some(std::ptr::from_ref(it).addr() as u64));
    Observed::new(site!(Placed::by_place).site(), full(), key)
        .time(Workload::new(THOUSAND, 1, Placed::new), Placed::by_place)
}

fn full_by_hand() -> CaseResult {
    Observed { site: &BY_HAND, ..of_dense(full()) }.time(things(THOUSAND), things::by_hand)
}

fn object() -> CaseResult {
    let arming = Arming::only(Mode::Full, vec![Dense(CHOSEN as u32).identify()]);
    let chosen = |at, thing: &Thing| (at == CHOSEN).then(|| Some(thing.dense.0.into()));
    Observed { key: chosen, ..of_dense(arming) }.time(things(THOUSAND), Thing::by_dense)
}

fn file(size: Size) -> CaseResult {
    let name = format!("hooks-{}.spy", std::process::id());
    let path = crate::report::target().join(name);
    Observed { recording: Recording::file(path), size, ..of_dense(full()) }
        .time(things(THOUSAND), Thing::by_dense)
}

fn full_fresh() -> CaseResult {
    Observed { size: FRESH, ..of_dense(full()) }.time(things(THOUSAND), Thing::by_dense)
}

fn full_million() -> CaseResult {
    of_dense(full()).time(things(MILLION), Thing::by_dense)
}

/// Without a collector: beside `full_fresh` it shows what a fold costs.
fn folding(count: usize) -> CaseResult {
    Observed { recording: Recording::memory().collector(false), ..of_dense(full()) }
        .time(things(count), Thing::by_dense)
}

fn two_threads() -> CaseResult {
    let observed = of_dense(full());
    let recording = observed.recording.clone().start().expect("a recording starts");
    let _installed = observe(&[observed.site, site!(things::batch).site()], full());
    let size = sized(RING);
    let barrier = Barrier::new(2);
    let run = |seed| {
        let mut workload = Workload::new(THOUSAND, seed, Thing::new);
        workload.run(size.warm / 2, |run| batch(run), Thing::by_dense);
        let ns = middle((0..size.repetitions).map(|_| {
            barrier.wait();
            workload.run(size.calls, |run| batch(run), Thing::by_dense).each(size.calls)
        }));
        (ns, workload)
    };
    let ((one, first), (two, second)) = std::thread::scope(|scope| {
        let other = scope.spawn(|| run(2));
        (run(1), other.join().expect("the second thread returns"))
    });
    let found = read_back(&recording.store(), &observed.expected(&[&first, &second], true));
    found.taking((one + two) / 2.0)
}
