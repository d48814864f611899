//! What the layer adds to `tracing`: entering and leaving a live span, and a span from its creation
//! to its close, beside the registry alone, a layer that does nothing, and `tracing-chrome`.
//!
//! `--rounds N` (9), `--smoke` or `METASPY_BENCH_SMOKE=1` for one tiny round, `--cpu` to judge by
//! processor time.

use std::process::ExitCode;

use metaspy::Mode;
use metaspy::{Profiler, Recording};
use metaspy_benches::child::{self, CaseResult, Size, time};
use metaspy_benches::clock;
use metaspy_benches::report::{self, Budget, Clock, Line};
use metaspy_benches::rounds::{self, Runner, interleave};
use metaspy_benches::things::Thing;
use metaspy_benches::workload::{Workload, nothing};
use metaspy_instrumenters::spans::{layer, spans};
use tracing::{Span, Subscriber, info_span, subscriber};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry;

/// The case, and what it is. `live` enters and leaves a span, `span` makes and closes one as well.
const CASES: [(&str, &str); 16] = [
    ("plain", "the plain call"),
    ("floor", "two readings of the time stamp counter"),
    ("live_alone", "enter and leave: the registry alone"),
    ("live_empty", "... and a layer that does nothing"),
    ("live_unarmed", "... and ours, not armed"),
    ("live_tally", "... and ours, spans are counted"),
    ("live_full", "... and ours, spans are events"),
    ("span_off", "a span: no subscriber"),
    // It gives no span's room back, as only a layer requests it.
    ("span_alone", "a span: the registry alone"),
    ("span_empty", "... and a layer that does nothing"),
    ("span_unarmed", "... and ours, not armed"),
    ("span_tally", "... and ours, spans are counted"),
    ("span_sampled", "... and ours, an event each, 1 in 16 timed"),
    ("span_full", "... and ours, spans are events"),
    ("span_fields", "... and ours, events with two fields as details"),
    ("span_chrome", "... and tracing-chrome's, writing to nowhere"),
];

fn main() -> ExitCode {
    if let Some(name) = child::case() {
        child::report(&run(&name));
        return ExitCode::SUCCESS;
    }
    let own = std::env::current_exe().expect("a bench knows its own program");
    let runners = CASES.map(|(case, what)| Runner { case, what, program: own.clone() });
    match interleave(&runners, rounds::wanted()) {
        Ok(rows) => {
            let lines = report::lines(&rows, Clock::wanted());
            report::print(&lines);
            println!();
            report::print_budgets(&budgets(&lines));
            match report::write("spans.json", &lines) {
                Ok(path) => println!("\nwritten to {}", path.display()),
                Err(error) => eprintln!("the results cannot be written: {error}"),
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// What the issue of the layer promises.
fn budgets(lines: &[Line]) -> Vec<Budget> {
    // By the clock that the rows were made with.
    let ns = |case: &str| {
        let line = lines.iter().find(|line| line.case == case).expect("all cases were run");
        if Clock::wanted() == Clock::Cpu { line.cpu_ns } else { line.ns }
    };
    let live = (ns("live_full") - ns("live_alone")) / ns("floor");
    let full = ns("span_full") / ns("span_empty");
    let sampled = ns("span_sampled") / ns("span_empty");
    let chrome = ns("span_full") / ns("span_chrome");
    let own = (ns("span_full") - ns("span_empty")) / (ns("span_chrome") - ns("span_empty"));
    vec![
        Budget { what: "live: floors over the registry alone", is: live, pass: 2.0, aim: 2.0 },
        Budget { what: "a span: ratio to an empty layer", is: full, pass: 1.5, aim: 1.5 },
        Budget { what: "a span, 1 in 16 timed: likewise", is: sampled, pass: 1.5, aim: 1.5 },
        Budget { what: "a span: ratio to tracing-chrome", is: chrome, pass: 0.125, aim: 0.125 },
        Budget {
            what: "what is added: times what tracing-chrome adds",
            is: own,
            pass: 0.125,
            aim: 0.125,
        },
    ]
}

/// A layer that does nothing.
struct Empty;

impl<S: Subscriber> Layer<S> for Empty {}

fn run(case: &str) -> CaseResult {
    let (what, with) = case.split_once('_').unwrap_or((case, ""));
    let recording = Recording::memory().start().expect("a recording starts");
    let mode = match with {
        "tally" => Some(Mode::Tally),
        "sampled" => Some(Mode::Sampled),
        "full" | "fields" => Some(Mode::Full),
        _ => None,
    };
    let installed = mode.map(|mode| {
        let observed = spans("spans::*").mode(mode);
        let observed = if with == "fields" { observed.details() } else { observed };
        Profiler::new("spans").observe(observed).install().expect("there may be none yet")
    });
    let mut flush = None;
    match with {
        "alone" => set(registry()),
        "empty" => set(registry().with(Empty)),
        "unarmed" | "tally" | "sampled" | "full" | "fields" => set(registry().with(layer())),
        "chrome" => {
            let (chrome, guard) =
                tracing_chrome::ChromeLayerBuilder::new().writer(std::io::sink()).build();
            flush = Some(guard);
            set(registry().with(chrome));
        }
        _ => {}
    }
    let size = match (what, with) {
        // Until the ring has gone round, its pages are new.
        ("span", "full" | "sampled" | "fields") => Size::of(9_000_000, 1_000_000),
        // What tracing-chrome has not written yet takes memory.
        ("span", "chrome") => Size::of(20_000, 100_000),
        _ => Size::of(500_000, 1_000_000),
    };
    let size = if child::is_smoke() { size.smoke() } else { size };
    let mut workload = Workload::new(1_000, 1, Thing::new);
    let live = info_span!("live");
    let ns = match (what, with) {
        ("plain", _) => time(size, &mut workload, nothing, Thing::work),
        ("floor", _) => time(size, &mut workload, nothing, floor),
        ("live", _) => time(size, &mut workload, nothing, |thing, by| entered(&live, thing, by)),
        ("span", "fields") => time(size, &mut workload, nothing, with_fields),
        _ => time(size, &mut workload, nothing, with_span),
    };
    drop(live);
    drop(flush);
    let Some(installed) = installed else { return CaseResult::of(ns) };
    // What was timed is read back; the live span is one as well.
    let expected = if what == "span" { workload.done() } else { 0 } + 1;
    let counted = installed.uninstall().counts().total();
    let totals = recording.store().totals();
    assert_eq!(counted, expected, "{totals:?}");
    CaseResult { emitted: totals.emitted, lost: totals.lost, ..CaseResult::default() }.taking(ns)
}

fn set(subscriber: impl Subscriber + Send + Sync) {
    subscriber::set_global_default(subscriber).expect("there is no other one");
}

#[inline(never)]
fn floor(thing: &mut Thing, by: u64) -> u64 {
    let from = clock::ticks();
    let value = thing.work(by);
    value ^ clock::ticks().wrapping_sub(from) >> 63
}

#[inline(never)]
fn entered(live: &Span, thing: &mut Thing, by: u64) -> u64 {
    let _entered = live.enter();
    thing.work(by)
}

#[inline(never)]
fn with_span(thing: &mut Thing, by: u64) -> u64 {
    let _span = info_span!("span").entered();
    thing.work(by)
}

#[inline(never)]
fn with_fields(thing: &mut Thing, by: u64) -> u64 {
    let _span = info_span!("span", by, name = "thing").entered();
    thing.work(by)
}
