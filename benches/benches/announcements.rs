//! The cost of observing both ends of a channel: a broadcast send and receive, plain, and through a
//! proxy that is or is not armed. Beside it, two events without length around the plain channel:
//! the least that any proxy costs. Then what a tap costs whoever sends: a send to one receiver that
//! is asleep, and to a tap besides.
//!
//! `--rounds N` (9), each of ten passes over all cases. By the processor time of the thread; ratios
//! are taken pass by pass.

use std::hint::black_box;
use std::process::ExitCode;

use metaspy::Mode;
use metaspy::channels::Bus;
use metaspy::instrumenter::register_dynamic;
use metaspy::{
    Owner, Profiler, Recording, Site, SiteDef, SiteKind, announcements, hook, methods, proxied,
};
use metaspy_benches::clock::Took;
use metaspy_benches::report;
use metaspy_benches::rounds;
use metaspy_benches::stats::{median, quantile};
use serde::Serialize;
use tokio::runtime::Builder;
use tokio::sync::broadcast;

/// Messages a pass.
const MESSAGES: u64 = 20_000;

/// Passes a round: short ones, so that what disturbs the machine disturbs all cases alike.
const PASSES: usize = 10;

/// A row.
#[derive(Serialize)]
struct Line {
    receive: &'static str,
    case: &'static str,
    /// ns for a message that is sent and received once.
    ns: f64,
    low: f64,
    high: f64,
    ratio: f64,
}

const CASES: [&str; 5] = ["plain", "two instants", "unarmed", "tally", "full"];

/// Sends and receives.
macro_rules! rally {
    (at_once, $around:expr, $sender:expr, $receiver:expr) => {{
        let (around, sender, mut receiver) = ($around, $sender, $receiver);
        for n in 0..MESSAGES {
            around();
            sender.send(black_box(n)).expect("there is a receiver");
            black_box(receiver.try_recv().expect("it was sent"));
            around();
        }
    }};
    (awaited, $around:expr, $sender:expr, $receiver:expr) => {{
        let (around, sender, mut receiver) = ($around, $sender, $receiver);
        let runtime = Builder::new_current_thread().build().expect("a runtime starts");
        runtime.block_on(async {
            for n in 0..MESSAGES {
                around();
                sender.send(black_box(n)).expect("there is a receiver");
                black_box(receiver.recv().await.expect("it was sent"));
                around();
            }
        });
    }};
}

/// The time of a case, in ns a message.
macro_rules! time {
    ($receive:ident, $case:expr, $instant:expr) => {{
        let ((sender, receiver), (spied, spied_receiver)) =
            (broadcast::channel(16), Bus::new("announcements_bench").broadcast(16));
        let (took, ()) = Took::by(|| match $case {
            "plain" => rally!($receive, || (), &sender, receiver),
            "two instants" => rally!($receive, $instant, &sender, receiver),
            _ => rally!($receive, || (), &spied, spied_receiver),
        });
        took.each(MESSAGES).cpu
    }};
}

fn main() -> ExitCode {
    let recording = Recording::memory().start().expect("a recording starts");
    let (owner, site) = (Owner::new("bench"), site());
    let instant = || _ = hook::instant(site, owner.subject(1_u64));
    // So that the name is known.
    let _channel = Bus::new("announcements_bench").broadcast::<u64>(16);
    let mut times: [[Vec<f64>; 5]; 2] = Default::default();
    let mut sends: [Vec<f64>; 2] = Default::default();
    for _ in 0..rounds::wanted() * PASSES {
        for (case, at) in CASES.iter().zip(0..) {
            let observed = match *case {
                "two instants" => Some(methods(site)),
                "tally" => Some(proxied("announcements_bench::*").mode(Mode::Tally)),
                "full" => Some(proxied("announcements_bench::*")),
                _ => None,
            };
            let install =
                |calls| Profiler::new("bench").observe(calls).install().expect("it is known");
            let installed = observed.map(install);
            times[0][at].push(time!(at_once, *case, instant));
            times[1][at].push(time!(awaited, *case, instant));
            if let Some(installed) = installed {
                assert_eq!(installed.uninstall().counts().total(), 4 * MESSAGES, "{case}");
            }
        }
        for (is_tapped, sends) in [false, true].into_iter().zip(&mut sends) {
            sends.push(send(is_tapped));
        }
    }
    println!("{MESSAGES} messages a pass; {} events lost\n", recording.store().totals().lost);
    println!("{:<9} {:<13} {:>9} {:>17} {:>7}", "receive", "case", "ns", "quartiles", "ratio");
    let mut lines = Vec::new();
    for (receive, times) in ["at once", "awaited"].into_iter().zip(&times) {
        let base = &times[0];
        for (case, times) in CASES.into_iter().zip(times) {
            let (ns, low, high) = (median(times), quantile(times, 0.25), quantile(times, 0.75));
            let ratios: Vec<f64> = times.iter().zip(base).map(|(ns, base)| ns / base).collect();
            let ratio = median(&ratios);
            println!("{receive:<9} {case:<13} {ns:>9.2} {low:>8.2}-{high:<8.2} {ratio:>7.2}");
            lines.push(Line { receive, case, ns, low, high, ratio });
        }
    }
    let ratio = |receive, case| {
        let line = lines.iter().find(|line| line.receive == receive && line.case == case);
        line.map_or(f64::NAN, |line| line.ratio)
    };
    for receive in ["awaited", "at once"] {
        let (full, instants) = (ratio(receive, "full"), ratio(receive, "two instants"));
        print!(
            "\nfull, received {receive}: {full:.2} x the plain channel (two instants alone: {instants:.2})"
        );
        // The budget is of a receiver that awaits; one that tries at once has less to pay, and is
        // shown for comparison.
        if receive == "awaited" {
            print!("  budget 2.00: {}", if full <= 2.0 { "met" } else { "MISSED" });
        }
    }
    let [plain, tapped] = sends.each_ref().map(|sends| median(sends));
    println!("\n\na send alone: {plain:.0} ns; with a tap besides: {tapped:.0} ns");
    for (case, times) in ["plain", "tapped"].into_iter().zip(&sends) {
        let (ns, low, high) = (median(times), quantile(times, 0.25), quantile(times, 0.75));
        lines.push(Line { receive: "never", case, ns, low, high, ratio: ns / plain });
    }
    match report::write("announcements.json", &lines) {
        Ok(path) => println!("\nwritten to {}", path.display()),
        Err(error) => eprintln!("the results cannot be written: {error}"),
    }
    ExitCode::SUCCESS
}

/// The time of a send to a receiver that never looks, in ns.
fn send(is_tapped: bool) -> f64 {
    let (bus, _receiver) = broadcast::channel(1024);
    let tap = || Profiler::new("tap").observe(announcements(&bus).named("announcements_bench_tap"));
    let installed = is_tapped.then(|| tap().install().expect("it is a bus"));
    let (took, ()) = Took::by(|| {
        for n in 0..MESSAGES {
            bus.send(black_box(n)).expect("there is a receiver");
        }
    });
    if let Some(installed) = installed {
        assert_eq!(
            installed.uninstall().counts().total(),
            MESSAGES,
            "received and missed are sent"
        );
    }
    took.each(MESSAGES).cpu
}

fn site() -> &'static Site {
    let (file, lines) = (file!(), (line!(), line!()));
    let (module, name) = ("announcements_bench_instants", "instant");
    register_dynamic(SiteDef {
        kind: SiteKind::Announcement,
        module,
        name,
        file,
        lines,
        skipped: None,
    })
}
