//! How quick the crawler is on a large recording: the first screen, keys while the user scrolls,
//! searches and filters, a full scan, counts of a million subjects, and memory.
//!
//! A child makes the recording, as for `scan`. Another one crawls: each key is applied and drawn
//! into memory, as the loop of the crawler does it, while jobs run on their threads. A third
//! records 5 M events/s, with and without a crawler that is attached to it, in turns; the processor
//! time of all its threads counts.
//!
//! `--events 10M`, `--subjects 1M`, `--rounds N` (3), `--file PATH` to crawl a recording that is
//! there, `--smoke`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use metaspy::store::platform::allocator;
use metaspy::store::{By, DetailLevel, Filter, Scope, Store};
use metaspy_benches::child::{self, CaseResult, option};
use metaspy_benches::live_cost::Program;
use metaspy_benches::scan::anonymous_mib;
use metaspy_benches::stats::{median, quantile};
use metaspy_benches::{recording, report, rounds};
use metaspy_tui::crawler::draw::draw;
use metaspy_tui::crawler::state::Crawler;
use metaspy_tui::crawler::worker::Worker;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde::{Deserialize, Serialize};

/// The screen.
const SIZE: (u16, u16) = (200, 60);
/// The longest wait for a job.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a crawl takes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Crawl {
    first_screen_ms: f64,
    /// Each sort of keys, with ms of each key.
    keys: Vec<(String, Vec<f64>)>,
    /// Events that are tested in a second by a filter that needs the event itself.
    scan_per_s: f64,
    /// ns an event for the counts of all subjects.
    subjects_ns: f64,
    anonymous_mib: f64,
}

fn main() -> ExitCode {
    match child::case().as_deref() {
        Some("record") => child::report(&recording::make(&file())),
        Some("live") => child::report(&live()),
        Some("attach") => child::report(&attach()),
        Some(_) => child::report(&crawl()),
        None => {
            if let Err(why) = compare() {
                eprintln!("{why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn file() -> PathBuf {
    option("--file").map_or_else(|| report::target().join("crawler.spy"), PathBuf::from)
}

/// The recording of the live program.
fn live_file() -> PathBuf {
    report::target().join("crawler-live.spy")
}

/// A crawler with its threads, on a screen in memory.
struct Session {
    crawler: Crawler,
    worker: Worker<Crawler>,
    screen: Terminal<TestBackend>,
}

impl Session {
    fn open(file: &Path) -> Self {
        let store = Store::open(file).expect("it is a recording");
        let crawler = Crawler::new(store, "crawler.spy", SIZE);
        let screen = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a screen in memory");
        let mut session = Session { crawler, worker: Worker::new(), screen };
        session.frame();
        session
    }

    /// What the loop of the crawler does between two keys.
    fn frame(&mut self) {
        for queued in self.crawler.take_jobs() {
            self.worker.submit(&self.crawler.store, queued);
        }
        for reply in self.worker.replies() {
            self.crawler.accept(reply);
        }
        let crawler = &self.crawler;
        self.screen.draw(|frame| draw(frame, crawler)).expect("a screen in memory");
    }

    /// Presses a key, and returns its ms up to the drawn screen.
    fn key(&mut self, code: KeyCode) -> f64 {
        let began = Instant::now();
        if let Some(command) =
            self.crawler.keys.command(KeyEvent::new(code, KeyModifiers::NONE), self.crawler.mode())
        {
            self.crawler.apply(command);
        }
        self.frame();
        let ms = began.elapsed().as_secs_f64() * 1e3;
        // The next key comes some ms later, and finds the replies of jobs.
        std::thread::sleep(Duration::from_millis(2));
        ms
    }

    fn keys(&mut self, times: usize, codes: &[KeyCode]) -> Vec<f64> {
        (0..times)
            .flat_map(|_| codes.iter().map(|&code| self.key(code)).collect::<Vec<_>>())
            .collect()
    }

    fn type_text(&mut self, text: &str) -> Vec<f64> {
        text.chars().map(|c| self.key(KeyCode::Char(c))).collect()
    }

    /// Waits until no job runs.
    fn settle(&mut self) {
        let began = Instant::now();
        while self.crawler.is_waiting() && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
            self.frame();
        }
        assert!(!self.crawler.is_waiting(), "a job did not end");
    }
}

fn crawl() -> Crawl {
    // As the command does it.
    allocator::return_large_blocks();
    let times = if child::is_smoke() { 2 } else { 60 };
    let began = Instant::now();
    let mut session = Session::open(&file());
    let first_screen_ms = began.elapsed().as_secs_f64() * 1e3;
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    let mut add = |name: &str, ms: Vec<f64>| found.push((name.into(), ms));
    use KeyCode::{
        Backspace, Char, Down, End, Enter, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up,
    };
    add("scroll", session.keys(times, &[Down, Down, PageDown, PageDown, Up, PageUp, PageDown]));
    add("ends", session.keys(times / 4 + 1, &[End, PageUp, Home, PageDown]));
    add(
        "walk",
        session.keys(times / 4 + 1, &[Right, Down, Right, Left, Char('c'), Backspace, Tab]),
    );
    session.settle();
    let mut ms = Vec::new();
    for _ in 0..times / 6 + 1 {
        ms.extend(session.keys(1, &[Char('/')]));
        ms.extend(session.type_text("by_dense"));
        ms.extend(session.keys(1, &[Enter, Char('n'), Char('N')]));
        session.settle();
    }
    add("search", ms);
    let mut ms = Vec::new();
    for text in ["site:batch", "took:>1s", "outcome:failed", "site:by_dense took:>100us"] {
        ms.extend(session.keys(1, &[Char('f')]));
        ms.extend(session.type_text(text));
        ms.extend(session.keys(1, &[Enter, Down, PageDown, End, Home, Esc, Esc]));
        session.settle();
    }
    add("filter", ms);
    let mut ms = Vec::new();
    for digit in ['2', '3', '4', '6', '1'] {
        ms.extend(session.keys(1, &[Char(digit)]));
        session.settle();
        ms.extend(session.keys(times / 12 + 1, &[Down, PageDown, Home]));
    }
    add("screens", ms);
    session.settle();
    let anonymous_mib = anonymous_mib(std::process::id());
    drop(session);
    let store = Store::open(&file()).expect("it is a recording");
    let events = store.totals().stored;
    let (mut scans, mut subjects) = (Vec::new(), Vec::new());
    for _ in 0..if child::is_smoke() { 1 } else { 5 } {
        let filter: Filter = "took:>1s".parse().expect("a filter");
        let scope = Scope { detail: DetailLevel::Counts, ..Scope::matching(filter) };
        let began = Instant::now();
        store.tally(By::Site, &scope);
        scans.push(events as f64 / began.elapsed().as_secs_f64());
        let began = Instant::now();
        store.tally(By::Subject, &Scope { detail: DetailLevel::Counts, ..Scope::default() });
        subjects.push(began.elapsed().as_nanos() as f64 / events as f64);
    }
    Crawl {
        first_screen_ms,
        keys: found,
        scan_per_s: median(&scans),
        subjects_ns: median(&subjects),
        anonymous_mib,
    }
}

/// The time between two updates of a crawler that follows.
const TICK: Duration = Duration::from_millis(100);
/// A crawler attaches, and stays for a measurement.
const ATTACH: Duration = Duration::from_millis(500);
const MEASURE: Duration = Duration::from_secs(2);

/// Processor time of a live program for an event, with a crawler in ratio to that without one: a
/// value of each turn.
fn live() -> Vec<f64> {
    let own = std::env::current_exe().expect("the bench is a file");
    let turns = if child::is_smoke() { 1 } else { 9 };
    let program = Program::start(&live_file());
    let measure = || {
        let before = program.read();
        std::thread::sleep(MEASURE);
        program.read().since(before)
    };
    std::thread::sleep(ATTACH);
    let turn = |_| {
        let alone = measure();
        let reader = std::thread::scope(|scope| {
            let reader = scope.spawn(|| child::start::<u64>(&own, "attach", &[]));
            std::thread::sleep(ATTACH);
            let observed = measure();
            let screens = reader.join().expect("it does not panic").expect("it crawls");
            assert!(screens > 0, "the crawler drew nothing");
            observed
        });
        reader / alone
    };
    let ratios = (0..turns).map(turn).collect();
    program.stop();
    let _ = fs::remove_file(live_file());
    ratios
}

/// Follows the live program. Returns the number of screens.
fn attach() -> u64 {
    let began = Instant::now();
    let mut session = Session::open(&live_file());
    assert!(session.crawler.store.is_live(), "the program still records");
    let mut screens = 0;
    while began.elapsed() < 2 * ATTACH + MEASURE {
        session.crawler.tick(began.elapsed().as_nanos() as u64);
        session.frame();
        screens += 1;
        std::thread::sleep(TICK);
    }
    screens
}

fn compare() -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let more: Vec<String> =
        std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if option("--file").is_none() {
        let made: CaseResult = child::start(&own, "record", &more)?;
        println!("recorded {} events ({} lost), {:.0} ns each", made.emitted, made.lost, made.ns);
    }
    let mut crawls: Vec<Crawl> = Vec::new();
    for round in
        0..if option("--rounds").is_some() { rounds::wanted() } else { rounds::wanted().min(3) }
    {
        eprint!("\rround {} ", round + 1);
        crawls.push(child::start(&own, "crawl", &more)?);
    }
    eprintln!();
    let of = |get: &dyn Fn(&Crawl) -> f64| median(&crawls.iter().map(get).collect::<Vec<_>>());
    println!("{:<28} {:>10} {:>10} {:>10}   goal", "", "median", "p99", "longest");
    println!(
        "{:<28} {:>10.1} {:>10} {:>10}   100 ms",
        "first screen, ms",
        of(&|it| it.first_screen_ms),
        "",
        ""
    );
    for at in 0..crawls.first().map_or(0, |crawl| crawl.keys.len()) {
        let ms: Vec<f64> =
            crawls.iter().flat_map(|crawl| crawl.keys[at].1.iter().copied()).collect();
        println!(
            "{:<28} {:>10.2} {:>10.2} {:>10.2}   16 ms p99",
            format!("key: {}, ms", crawls[0].keys[at].0),
            median(&ms),
            quantile(&ms, 0.99),
            quantile(&ms, 1.0)
        );
    }
    println!(
        "{:<28} {:>10.1} {:>10} {:>10}   100",
        "filter, M events/s",
        of(&|it| it.scan_per_s) / 1e6,
        "",
        ""
    );
    println!(
        "{:<28} {:>10.1} {:>10} {:>10}   60",
        "count by subject, ns/event",
        of(&|it| it.subjects_ns),
        "",
        ""
    );
    println!(
        "{:<28} {:>10.1} {:>10} {:>10}   200",
        "anonymous memory, MiB",
        of(&|it| it.anonymous_mib),
        "",
        ""
    );
    let live: Vec<f64> = child::start::<Vec<f64>>(&own, "live", &[])?
        .iter()
        .map(|ratio| (ratio - 1.0) * 100.0)
        .collect();
    let (cost, longest) = (median(&live), quantile(&live, 1.0));
    println!("{:<28} {:>10.1} {:>10} {:>10.1}   2", "live, % more CPU an event", cost, "", longest);
    if option("--file").is_none() {
        fs::remove_file(file()).map_err(|error| error.to_string())?;
    }
    Ok(())
}
