//! What it costs to keep what is surprising, and whether it is kept.
//!
//! A server takes requests of nine events, 1 M events a second, into a recording of 64 MiB. One
//! request in 100,000 is slow, and one fails. Without an option: the processor time of the
//! collector, with rules and without, `--rounds N` (5) times. `--minutes N`: one run that long, and
//! how many of these requests are in the recording with all of their events. `--smoke` or
//! `METASPY_BENCH_SMOKE=1` for a second.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use metaspy::instrumenter::Arming;
use metaspy::{Identify, Mode, Recording, observe, site};
use metaspy_benches::arming;
use metaspy_benches::child::{self, is_smoke};
use metaspy_benches::clock::Took;
use metaspy_benches::recording::number;
use metaspy_benches::stats::median;
use serde::{Deserialize, Serialize};

const RULES: &str = "took:>p99.9 at site:Server::request; outcome:failed at site:Server::request";
const BUDGET: u64 = 64 << 20;
/// Of so many requests one is slow, and another one fails.
const RARE: u64 = 100_000;
const SLOW: Duration = Duration::from_millis(3);
/// Events of a request, with the request's own.
const EVENTS: u64 = 9;
/// Requests that come at once, and how often: 1 M events a second.
const AT_ONCE: u64 = 111;
const EVERY: Duration = Duration::from_millis(1);

struct Server;

#[derive(Identify)]
struct Request(u64);

struct Failed;

#[observe]
impl Server {
    #[observe(subject = Request(number))]
    fn request(&mut self, number: u64) -> Result<(), Failed> {
        (1..EVENTS).try_for_each(|step| self.step(number, step))
    }

    fn step(&mut self, number: u64, step: u64) -> Result<(), Failed> {
        let is_last = step == EVENTS - 1;
        if is_last && is_slow(number) {
            let began = Instant::now();
            while began.elapsed() < SLOW {}
        }
        if is_last && fails(number) { Err(Failed) } else { Ok(()) }
    }
}

fn is_slow(number: u64) -> bool {
    number % RARE == RARE / 2
}

fn fails(number: u64) -> bool {
    number % RARE == RARE / 4
}

/// A run: how long, and with which rules.
#[derive(Debug, Serialize, Deserialize)]
struct Case {
    seconds: f64,
    rules: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Measured {
    requests: u64,
    /// Processor time of the collector in seconds.
    collector_s: f64,
    emitted: u64,
    lost: u64,
    exact: bool,
    /// Failing and slow requests, and those of them that are kept with all of their events.
    planted: [u64; 2],
    kept: [u64; 2],
    kept_events: u64,
    kept_blocks: u64,
    gone: u64,
    unseen_blocks: u64,
}

impl Case {
    fn run(&self) -> Measured {
        let recording = Recording::memory().budget(BUDGET).collector(false).keep(&self.rules);
        let recording = recording.start().expect("there is room");
        let sites = [site!(Server::request).site(), site!(Server::step).site()];
        let installed = arming::observe(&sites, Arming::all(Mode::Full));
        let is_over = AtomicBool::new(false);
        let (requests, took) = std::thread::scope(|scope| {
            let collector = scope.spawn(|| collect(&recording, &is_over));
            let requests = serve(Duration::from_secs_f64(self.seconds));
            is_over.store(true, Ordering::Release);
            (requests, collector.join().expect("it collects"))
        });
        drop(installed);
        recording.close();
        let store = recording.store();
        let totals = store.totals();
        let mut measured = Measured {
            requests,
            collector_s: took.cpu.as_secs_f64(),
            emitted: totals.emitted,
            lost: totals.lost,
            exact: totals.exact && totals.emitted == requests * EVENTS,
            planted: [fails, is_slow]
                .map(|is_rare| (0..requests).filter(|&number| is_rare(number)).count() as u64),
            ..Measured::default()
        };
        let Some(kept) = store.kept() else { return measured };
        (measured.kept_events, measured.kept_blocks) = (kept.events, kept.blocks);
        (measured.gone, measured.unseen_blocks) = (kept.gone, kept.unseen_blocks);
        for unit in
            kept.units.iter().filter(|unit| !unit.is_ordinary && u64::from(unit.events) == EVENTS)
        {
            let number = store
                .event(unit.event)
                .and_then(|event| event.subject)
                .map_or(0, |subject| subject.key);
            measured.kept[0] += u64::from(unit.rule == 1 && fails(number));
            measured.kept[1] += u64::from(unit.rule == 0 && is_slow(number));
        }
        measured
    }
}

/// The rounds of the collector, as its own thread does them.
fn collect(recording: &Recording, is_over: &AtomicBool) -> Took {
    let work = || {
        while !is_over.load(Ordering::Acquire) {
            if !recording.collect() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    };
    Took::by(work).0
}

/// Takes requests for so long. Their number.
fn serve(long: Duration) -> u64 {
    let (mut server, mut number, began, mut next) = (Server, 0, Instant::now(), Duration::ZERO);
    while next < long {
        for _ in 0..AT_ONCE {
            // It counts with its outcome.
            let _ = server.request(number);
            number += 1;
        }
        next += EVERY;
        std::thread::sleep(next.saturating_sub(began.elapsed()));
    }
    number
}

fn main() -> ExitCode {
    if let Some(case) = child::case() {
        let case: Case = serde_json::from_str(&case).expect("the parent passes a case");
        child::report(&case.run());
        return ExitCode::SUCCESS;
    }
    let minutes = number("--minutes", 0);
    let measured = match minutes {
        0 => cost(),
        _ => long(minutes as f64 * 60.0),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn start(seconds: f64, rules: &str) -> Result<Measured, String> {
    let case = Case { seconds, rules: rules.to_owned() };
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let case = serde_json::to_string(&case).map_err(|error| error.to_string())?;
    let measured: Measured = child::start(&own, &case, &[])?;
    if measured.exact {
        Ok(measured)
    } else {
        Err(format!("some calls are counted twice or not at all: {measured:?}"))
    }
}

/// The collector's time with rules, as a part of that without.
fn cost() -> Result<(), String> {
    let (seconds, rounds) = if is_smoke() { (0.5, 1) } else { (12.0, number("--rounds", 5)) };
    let (mut without, mut with) = (Vec::new(), Vec::new());
    let per_million = |it: &Measured| it.collector_s * 1e9 / it.emitted.max(1) as f64;
    for _ in 0..rounds {
        without.push(per_million(&start(seconds, "")?));
        with.push(per_million(&start(seconds, RULES)?));
    }
    let ratios: Vec<f64> =
        with.iter().zip(&without).map(|(with, without)| with / without).collect();
    println!(
        "collector, processor time of a million events: {:.1} ms without rules, {:.1} ms with two; {:.2} × (median of {rounds})",
        median(&without),
        median(&with),
        median(&ratios)
    );
    Ok(())
}

/// A long run, and what is kept of it.
fn long(seconds: f64) -> Result<(), String> {
    let it = start(seconds, RULES)?;
    println!("{} events in {seconds} s, {} lost; counts are exact", it.emitted, it.lost);
    for (name, kept, planted) in
        [("failing", it.kept[0], it.planted[0]), ("slow", it.kept[1], it.planted[1])]
    {
        println!("{kept} of {planted} {name} requests are kept with their {EVENTS} events");
    }
    println!(
        "{} events are kept in {} blocks, {:.1} of {} MiB; {} units gave way, {} blocks were not seen",
        it.kept_events,
        it.kept_blocks,
        it.kept_blocks as f64 * 4096.0 / f64::from(1 << 20),
        BUDGET >> 20,
        it.gone,
        it.unseen_blocks
    );
    Ok(())
}
