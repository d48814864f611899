//! How long a search for all kinds of findings takes, and how much memory, on recordings that grow
//! tenfold.
//!
//! The recording is of a shop: requests that look something up, price their items, take a lock, and
//! send a message whose receipt has effects. Some of the calls fail. So every kind has events to
//! look at.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use metaspy::channels::Bus;
use metaspy::locks::Mutex;
use metaspy::prelude::*;
use metaspy::{Lookups, Store};
use metaspy_benches::child::{self, CHILD, option};
use metaspy_benches::recording::number;
use metaspy_benches::scan::{anonymous_mib, one_core};
use metaspy_benches::stats::median;
use metaspy_benches::{report, rounds};
use metaspy_report::findings::{self, Config};
use serde::{Deserialize, Serialize};

use crate::programs::Numbers;

/// Words that begin the cases of this module.
const SERVE: &str = "serve";
const FIND: &str = "find";

/// Runs one of the cases of this module; false if it is none.
pub fn run(case: &str) -> bool {
    match case {
        SERVE => serve(number("--events", 1_000_000), number("--subjects", 10_000)),
        FIND => {
            child::report(&search(Path::new(&option("--file").expect("the parent passes a file"))))
        }
        _ => return false,
    }
    true
}

/// What a search takes.
#[derive(Serialize, Deserialize)]
struct Search {
    events: u64,
    kinds: usize,
    found: usize,
    ms: f64,
    peak_mib: f64,
}

/// Looks for all kinds.
fn search(file: &Path) -> Search {
    if option("--cores").is_some_and(|cores| cores == "1") {
        one_core();
    }
    let store = Store::open(file).expect("it is a recording");
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = 0.0_f64;
            while !is_over.load(Ordering::Relaxed) {
                peak = peak.max(anonymous_mib(std::process::id()));
                thread::sleep(Duration::from_millis(2));
            }
            peak
        });
        let began = Instant::now();
        let found = findings::find(&store, &Config::default());
        let ms = began.elapsed().as_secs_f64() * 1e3;
        is_over.store(true, Ordering::Relaxed);
        let peak_mib = watch.join().expect("nothing panics");
        Search {
            events: store.totals().stored,
            kinds: found.looked_for.len(),
            found: found.found.len(),
            ms,
            peak_mib,
        }
    })
}

/// Prints a row for each size.
pub fn compare() -> Result<(), String> {
    let sizes: &[(u64, u64)] = if child::is_smoke() {
        &[(20_000, 100)]
    } else if crate::has("--large") {
        &[
            (1_000_000, 10_000),
            (10_000_000, 10_000),
            (10_000_000, 1_000_000),
            (100_000_000, 1_000_000),
        ]
    } else {
        &[(1_000_000, 10_000), (10_000_000, 10_000), (10_000_000, 1_000_000)]
    };
    println!(
        "{:>12} {:>10} {:>5} {:>6} {:>6} {:>10} {:>9} {:>10}",
        "events", "subjects", "cores", "kinds", "found", "ms", "ns/event", "peak MiB"
    );
    for &(events, subjects) in sizes {
        let file = report::target().join("findings.spy");
        record(&file, events, subjects)?;
        for cores in ["1", "all"] {
            let own = std::env::current_exe().map_err(|error| error.to_string())?;
            let more =
                ["--file".into(), file.display().to_string(), "--cores".into(), cores.into()];
            let rounds: Vec<Search> = (0..rounds::wanted())
                .map(|_| child::start(&own, FIND, &more))
                .collect::<Result<_, _>>()?;
            let ms = median(&rounds.iter().map(|round| round.ms).collect::<Vec<f64>>());
            let peak = rounds.iter().fold(0.0, |peak: f64, round| peak.max(round.peak_mib));
            let Search { events, kinds, found, .. } = rounds[0];
            let each = ms * 1e6 / events as f64;
            println!(
                "{events:>12} {subjects:>10} {cores:>5} {kinds:>6} {found:>6} {ms:>10.1} {each:>9.1} {peak:>10.1}"
            );
        }
        std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Records a shop in a process of its own.
fn record(file: &Path, events: u64, subjects: u64) -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    // 32 bytes an event, and room for what is beside the events.
    let budget = events * 40 + (64 << 20);
    let mut command = Command::new(own);
    command.args([
        CHILD,
        SERVE,
        "--events",
        &events.to_string(),
        "--subjects",
        &subjects.to_string(),
    ]);
    command.env("METASPY_RECORD", file).env("METASPY_BUDGET", budget.to_string());
    let status = command.status().map_err(|error| format!("the shop cannot start: {error}"))?;
    if !status.success() {
        return Err(format!("the shop failed: {status}"));
    }
    let totals = Store::open(file).map_err(|error| error.to_string())?.totals();
    if totals.stored < totals.emitted * 99 / 100 {
        return Err(format!(
            "{} of {} events are stored: the machine is too busy",
            totals.stored, totals.emitted
        ));
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Item(u64);

#[derive(Clone, Copy, PartialEq, Eq, Identify)]
struct Customer(u64);

/// Events of a request: itself, five prices with their taxes and stocks, a lookup, a lock, a
/// message and its receipt.
const EVENTS_OF_REQUEST: u64 = 22;

fn serve(events: u64, subjects: u64) {
    let (orders, queue) = Bus::new("orders").wrap(mpsc::channel::<_>());
    let mut shop = Shop {
        stock: Mutex::new("Shop::stock", 0),
        lookups: Lookups::new("prices"),
        orders,
        numbers: Numbers::new(1),
        items: subjects,
    };
    for request in 0..events.div_ceil(EVENTS_OF_REQUEST) {
        shop.request(Customer(request % 1_000));
        while let Ok(item) = queue.try_recv() {
            let _because = queue.because();
            ship(item).unwrap_or_default();
        }
    }
}

struct Shop {
    stock: Mutex<u64>,
    lookups: Lookups,
    orders: metaspy::channels::std_mpsc::Sender<Item>,
    numbers: Numbers,
    items: u64,
}

#[observe]
impl Shop {
    #[observe(subject = customer)]
    fn request(&mut self, customer: Customer) {
        let first = Item(self.numbers.below(self.items));
        self.lookups.look_up(first, || first.0.is_multiple_of(3).then_some(customer.0));
        for _ in 0..5 {
            let item = Item(self.numbers.below(self.items));
            self.price(item);
        }
        *self.stock.lock().expect("nothing panics") += 1;
        self.orders.send(first).expect("the queue is there");
    }

    #[observe(subject = item)]
    fn price(&mut self, item: Item) -> u64 {
        tax(item) + rebate(item).unwrap_or_default()
    }
}

#[observe(subject = item)]
fn tax(item: Item) -> u64 {
    item.0 / 5
}

#[observe(subject = item)]
fn rebate(item: Item) -> Option<u64> {
    (!item.0.is_multiple_of(7)).then_some(item.0 / 10)
}

#[observe(subject = item)]
fn ship(item: Item) -> Result<u64, String> {
    if item.0.is_multiple_of(50) { Err("out of stock".into()) } else { Ok(item.0) }
}
