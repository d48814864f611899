//! Threads that call one method as fast as they can, and count what they do.

use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use metaspy::instrumenter::Arming;
use metaspy::recording::Policy;
use metaspy::store::{By, Scope, Store, Totals};
use metaspy::{Mode, Recording, observe, site};
use serde::{Deserialize, Serialize};

use crate::arming;
use crate::check::at_rest;
use crate::child::{is_smoke, option};
use crate::clock::{self, Ns, Took};
use crate::stats::median;
use crate::things::Dense;
use crate::workload::{BATCH, Dice};

/// What is recorded, by how many threads, for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    threads: usize,
    policy: String,
    file: bool,
    subjects: usize,
    mebibytes: u64,
    seconds: f64,
}

/// What the recording holds, and what an event costs.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measured {
    emitted: u64,
    stored: u64,
    folded: u64,
    lost: u64,
    /// Events that the ring can hold.
    room: u64,
    /// ns a call, by the wall and by the thread's processor time.
    full: [f64; 2],
    /// The same of two reads of the clock, on as many threads.
    floor: [f64; 2],
    /// 1 in 1,000 calls takes longer than this, in ns: a block's turn is 1 in 127.
    slow_ns: f64,
}

/// An object that counts its calls.
#[derive(Debug)]
struct Counted {
    dense: Dense,
    calls: u64,
}

impl Counted {
    #[inline(never)]
    fn plain(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }

    #[inline(always)]
    fn between_clocks(&mut self) -> u64 {
        let before = clock::ticks();
        let value = self.plain();
        black_box(clock::ticks().wrapping_sub(before));
        value
    }
}

#[observe]
impl Counted {
    #[observe(subject = self.dense)]
    #[inline(never)]
    fn observed(&mut self) -> u64 {
        self.calls += 1;
        self.calls
    }
}

impl Case {
    /// The cases of the command line.
    pub fn wanted() -> Vec<Case> {
        let number = |name: &str, default: f64| {
            option(name).map_or(default, |text| text.parse().expect("a number"))
        };
        let seconds = number("--seconds", if is_smoke() { 0.2 } else { 60.0 });
        let (subjects, mebibytes) =
            (number("--subjects", 1_000.0) as usize, number("--mebibytes", 64.0) as u64);
        let threads = option("--threads").unwrap_or("2,8".into());
        let policies = option("--policy").unwrap_or("newest,oldest,grow".into());
        let mut cases = Vec::new();
        for threads in threads.split(',').map(|text| text.parse().expect("a number of threads")) {
            for policy in policies.split(',').map(str::to_owned) {
                let file =
                    policy != "newest" || std::env::args().any(|argument| argument == "--file");
                cases.push(Case { threads, policy, file, subjects, mebibytes, seconds });
            }
        }
        cases
    }

    /// Runs it in this process. Panics if the recording does not hold what the threads did.
    pub fn run(&self) -> Measured {
        let floor_before = self.phase(self.seconds / 8.0, |object| object.between_clocks()).0;
        let name = format!("stress-{}.spy", std::process::id());
        let path = crate::report::target().join(name);
        let builder = if self.file { Recording::file(&path) } else { Recording::memory() };
        let policy = match self.policy.as_str() {
            "newest" => Policy::KeepNewest,
            "oldest" => Policy::KeepOldest,
            "grow" => Policy::Grow,
            other => panic!("no policy {other}: newest, oldest, grow"),
        };
        let recording = builder
            .budget(self.mebibytes << 20)
            .policy(policy)
            .start()
            .expect("a recording starts");
        let installed =
            arming::observe(&[site!(Counted::observed).site()], Arming::all(Mode::Full));
        let (full, counts, _) = self.phase(self.seconds, Counted::observed);
        let (_, more, mut steps) = self.phase(self.seconds / 8.0, |object| {
            let before = clock::ticks();
            let value = object.observed();
            self::step(clock::ticks().wrapping_sub(before));
            value
        });
        let counts: Vec<u64> = counts.iter().zip(more).map(|(calls, more)| calls + more).collect();
        let totals = self.check(&recording.store(), &counts);
        drop(installed);
        if self.file {
            recording.close();
            let store = Store::open(&path).expect("the file is a recording");
            assert!(store.verify().is_sound(), "{:?}", store.verify());
            self.check(&store, &counts);
            std::fs::remove_file(path).expect("the file is ours");
        }
        let floor_after = self.phase(self.seconds / 8.0, |object| object.between_clocks()).0;
        steps.sort_unstable();
        let slow = steps.get(steps.len().saturating_sub(steps.len() / 1_000)).copied().unwrap_or(0);
        let floor = (floor_before + floor_after) / 2.0;
        Measured {
            emitted: totals.emitted,
            stored: totals.stored,
            folded: totals.folded,
            lost: totals.lost,
            room: recording.store().header().blocks * 127,
            full: [full.wall, full.cpu],
            floor: [floor.wall, floor.cpu],
            slow_ns: slow as f64 * ns_of_a_tick(),
        }
    }

    /// Every thread calls `one` for this long: ns a call, calls by key, and the noted steps.
    fn phase(
        &self,
        seconds: f64,
        one: impl Fn(&mut Counted) -> u64 + Sync,
    ) -> (Ns, Vec<u64>, Vec<u32>) {
        let barrier = Barrier::new(self.threads);
        let one = &one;
        let thread = |seed: usize| {
            let mut objects: Vec<Counted> = (0..self.subjects)
                .map(|key| Counted { dense: Dense(key as u32), calls: 0 })
                .collect();
            let mut dice = Dice::new(seed as u64 + 1);
            let mut calls = 0;
            barrier.wait();
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            let (took, ()) = Took::by(|| {
                while Instant::now() < end {
                    for _ in 0..BATCH {
                        let (at, _) = dice.roll(objects.len());
                        black_box(one(&mut objects[at]));
                    }
                    calls += BATCH;
                }
            });
            (took.each(calls.max(1)), objects, STEPS.take())
        };
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..self.threads).map(|seed| scope.spawn(move || thread(seed))).collect();
            threads.into_iter().map(|thread| thread.join().expect("the thread returns")).collect()
        });
        let (wall, cpu): (Vec<f64>, Vec<f64>) =
            results.iter().map(|(ns, ..)| (ns.wall, ns.cpu)).unzip();
        let calls = (0..self.subjects)
            .map(|key| results.iter().map(|(_, objects, _)| objects[key].calls).sum());
        let steps = results.iter().flat_map(|(.., steps)| steps.iter().copied());
        (Ns { wall: median(&wall), cpu: median(&cpu) }, calls.collect(), steps.collect())
    }

    /// Compares a recording with the calls of each key.
    fn check(&self, store: &Store, counts: &[u64]) -> Totals {
        let totals = at_rest(|| store.totals(), |totals| totals.exact);
        let calls: u64 = counts.iter().sum();
        assert_eq!(totals.emitted, calls, "{totals:?}");
        assert_eq!((totals.counted, totals.unnamed), (0, 0), "{totals:?}");
        let tally =
            at_rest(|| store.tally(By::SiteSubject, &Scope::default()), |tally| tally.rows_exact);
        assert_eq!(
            tally.rows.iter().map(|row| row.measure.count).sum::<u64>(),
            calls,
            "{totals:?}"
        );
        assert_eq!(tally.rows.iter().map(|row| row.measure.running).sum::<u64>(), 0, "{totals:?}");
        if !tally.rows.iter().any(|row| row.is_others()) {
            for row in &tally.rows {
                let key = row.subject.expect("each call has a subject").key as usize;
                assert_eq!(row.measure.count, counts[key], "the calls of {key}: {totals:?}");
                assert_eq!(
                    row.measure.timed + row.measure.lost,
                    counts[key],
                    "the times of {key}: {totals:?}"
                );
            }
        } else {
            assert!(self.subjects > 1_000, "{} subjects have no row each", self.subjects);
        }
        totals
    }
}

/// Calls of a thread whose length is kept.
const MOST_STEPS: usize = 4 << 20;

thread_local! {
    static STEPS: std::cell::RefCell<Vec<u32>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Keeps the length of a call.
#[inline]
fn step(ticks: u64) {
    STEPS.with_borrow_mut(|steps| {
        if steps.capacity() == 0 {
            steps.reserve_exact(MOST_STEPS);
        }
        if steps.len() < MOST_STEPS {
            steps.push(ticks.min(u32::MAX.into()) as u32);
        }
    });
}

fn ns_of_a_tick() -> f64 {
    let began = Instant::now();
    let before = clock::ticks();
    std::thread::sleep(Duration::from_millis(20));
    began.elapsed().as_nanos() as f64 / clock::ticks().wrapping_sub(before) as f64
}

impl Measured {
    /// Prints the names of the columns.
    pub fn print_head() {
        println!(
            "{:<26} {:>11} {:>10} {:>11} {:>11} {:>7} {:>6} {:>8} {:>8} {:>8} {:>9}",
            "case",
            "emitted",
            "stored",
            "folded",
            "lost",
            "lost %",
            "full %",
            "ns",
            "x floor",
            "cpu x",
            "p99.9 ns"
        );
    }

    /// Prints a line. *full %* is the share of the ring that holds events: calls that are lost
    /// before it is full were lost although there was room.
    pub fn print(&self, case: &Case) {
        let of = |part: u64, all: u64| part as f64 * 100.0 / all.max(1) as f64;
        let place = if case.file { "file" } else { "memory" };
        println!(
            "{:<26} {:>11} {:>10} {:>11} {:>11} {:>7.3} {:>6.1} {:>8.2} {:>8.2} {:>8.2} {:>9.0}",
            format!("{} threads, {} ({place})", case.threads, case.policy),
            self.emitted,
            self.stored,
            self.folded,
            self.lost,
            of(self.lost, self.emitted),
            of(self.stored, self.room),
            self.full[0],
            self.full[0] / self.floor[0],
            self.full[1] / self.floor[1],
            self.slow_ns
        );
    }
}
