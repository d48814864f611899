//! How fast a large recording is read, beside the memory that it lies in.
//!
//! A child makes the recording with the hook itself, into a file that grows. Others open it: the
//! first page, counts by site and by subject, everything by subject, the effects index. Each is
//! compared with a sum of all words of the file, on one core and on all of them.
//!
//! `--events 10M`, `--subjects 1M`, `--rounds N` (9), `--file PATH` to read a recording that is
//! there, `--smoke`.
//!
//! `--growth`: the most memory of each command, on recordings of more and more events and subjects.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use metaspy::store::{By, DetailLevel, EffectsIndex, Filter, Position, Scope, Store};
use metaspy_benches::child::{self, CaseResult, option};
use metaspy_benches::growth;
use metaspy_benches::recording;
use metaspy_benches::report;
use metaspy_benches::rounds;
use metaspy_benches::scan::{anonymous_mib, one_core, sum_of_words};
use metaspy_benches::stats::{median, quantile};
use serde::{Deserialize, Serialize};

/// What is timed, by name.
const READS: [(&str, &str); 7] = [
    ("floor", "sum of all words of the mapped file, one thread"),
    ("first_page", "open, and the newest 50 events"),
    ("counts_by_site", "counts by site"),
    ("counts_by_subject", "counts by subject"),
    ("all_by_site", "counts, outcomes and times by site"),
    ("all_by_subject", "counts, outcomes and times by subject"),
    ("effects_index", "the effects of every event"),
];

/// The measurements of a reader: ms of each repetition, and its anonymous memory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Read {
    ms: Vec<f64>,
    anonymous_mib: f64,
}

fn main() -> ExitCode {
    match child::case() {
        Some(name) if name == "record" => child::report(&recording::make(&file())),
        Some(name) => child::report(&read(&name)),
        None => {
            let is_of_growth = std::env::args().any(|argument| argument == "--growth");
            if let Err(why) = if is_of_growth { growth::print() } else { compare() } {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn file() -> PathBuf {
    option("--file").map_or_else(|| report::target().join("scan.spy"), PathBuf::from)
}

/// Times one way to read the file.
fn read(what: &str) -> Read {
    if option("--cores").is_some_and(|cores| cores == "1") {
        one_core();
    }
    let path = file();
    let times = if child::is_smoke() { 2 } else { 5 };
    let counts = Scope { detail: DetailLevel::Counts, ..Scope::default() };
    let everything = Scope::default();
    let mut ms = Vec::new();
    if what == "floor" {
        assert!(
            !Store::open(&path).expect("it is a recording").is_live(),
            "a recording that is not written any more"
        );
        let file = File::open(&path).expect("the recording is there");
        ms = sum_of_words(&file, times).iter().map(|took| took.as_secs_f64() * 1e3).collect();
        return Read { ms, anonymous_mib: anonymous_mib(std::process::id()) };
    }
    let store = Store::open(&path).expect("it is a recording");
    let events = store.totals().stored;
    let tally = |by, scope: &Scope| {
        let tally = store.tally(by, scope);
        let counted: u64 = tally.rows.iter().map(|row| row.measure.count - row.measure.lost).sum();
        assert!(tally.exact && counted == events, "{counted} of {events} events were counted");
    };
    for _ in 0..times {
        let began = Instant::now();
        match what {
            "first_page" => first_page(&path),
            "counts_by_site" => tally(By::Site, &counts),
            "counts_by_subject" => tally(By::Subject, &counts),
            "all_by_site" => tally(By::Site, &everything),
            "all_by_subject" => tally(By::Subject, &everything),
            "effects_index" => {
                drop(EffectsIndex::build(&store, |_, _| true).expect("the build is not cancelled"))
            }
            other => panic!("`{other}` is no way to read"),
        }
        ms.push(ms_of(began.elapsed()));
    }
    Read { ms, anonymous_mib: anonymous_mib(std::process::id()) }
}

fn first_page(path: &Path) {
    let store = Store::open(path).expect("it is a recording");
    let page = store.backward(Position::End, &Filter::all(), 50, 10_000);
    assert_eq!(page.events.len(), 50);
}

fn ms_of(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// Makes the recording if need be, reads it in all ways, and prints how that compares.
fn compare() -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let more: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if option("--file").is_none() {
        let made: CaseResult = child::start(&own, "record", &more)?;
        println!("recorded {} events ({} lost), {:.0} ns each", made.emitted, made.lost, made.ns);
    }
    let whole = fs::metadata(file()).map_err(|error| error.to_string())?.len();
    let events = Store::open(&file()).map_err(|error| error.to_string())?.totals().stored;
    // Tables and headers are not events: who reads these sees less of the file than the floor does.
    let bytes = events * 32;
    println!(
        "{}: {:.2} GB, {:.2} GB of it events\n",
        file().display(),
        whole as f64 / 1e9,
        bytes as f64 / 1e9
    );
    let mut found: Vec<(usize, &str, Vec<f64>, f64)> = Vec::new();
    for round in 0..rounds::wanted() {
        eprint!("\rround {} ", round + 1);
        for (at, cores) in (0..READS.len())
            .flat_map(|at| [(at, "1"), (at, "all")])
            .filter(|&pair| pair != (0, "all"))
        {
            let arguments: Vec<String> =
                more.iter().cloned().chain(["--cores".into(), cores.into()]).collect();
            let read: Read = child::start(&own, READS[at].0, &arguments)?;
            match found.iter_mut().find(|found| (found.0, found.1) == (at, cores)) {
                Some(found) => {
                    found.2.push(median(&read.ms));
                    found.3 = found.3.max(read.anonymous_mib);
                }
                None => found.push((at, cores, vec![median(&read.ms)], read.anonymous_mib)),
            }
        }
    }
    eprintln!();
    // Bytes a ms.
    let floor = found.first().map_or(f64::NAN, |found| whole as f64 / median(&found.2));
    println!(
        "{:<18} {:>5} {:>9} {:>17} {:>7} {:>11} {:>9}  what",
        "case", "cores", "ms", "quartiles", "GB/s", "% of floor", "anon MiB"
    );
    for (at, cores, ms, anonymous) in &found {
        let (name, what) = READS[*at];
        let (ms, low, high) = (median(ms), quantile(ms, 0.25), quantile(ms, 0.75));
        let rate = if *at == 0 { floor } else { bytes as f64 / ms };
        let (share, rate) = (rate / floor * 100.0, rate / 1e6);
        println!(
            "{name:<18} {cores:>5} {ms:>9.2} {low:>8.2}-{high:<8.2} {rate:>7.1} {share:>11.0} {anonymous:>9.1}  {what}"
        );
    }
    if option("--file").is_none() {
        fs::remove_file(file()).map_err(|error| error.to_string())?;
    }
    Ok(())
}
