//! The table for people, the lines of JSON for programs, and the budgets of the design.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use crate::rounds::CaseRounds;
use crate::stats::{median, quantile};

/// Where results and temporary recordings go: `target` of this package, wherever cargo puts its
/// own.
pub fn target() -> PathBuf {
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    fs::create_dir_all(&target).expect("the package's target directory can be made");
    target
}

/// What the ratios, the quartiles and the added time go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The clock on the wall.
    Wall,
    /// The processor time of the calling thread: for a machine that is busy with other things.
    Cpu,
}

impl Clock {
    /// The processor's if `--cpu` is among the arguments.
    pub fn wanted() -> Clock {
        if std::env::args().any(|argument| argument == "--cpu") { Clock::Cpu } else { Clock::Wall }
    }
}

/// A row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The case.
    pub case: &'static str,
    /// ns a call: the median of the rounds.
    pub ns: f64,
    /// The same by the processor time of the calling thread.
    pub cpu_ns: f64,
    /// How often two readings of the clock it costs: the median over the rounds, each compared with
    /// its own floor.
    pub floor_ratio: f64,
    /// ns over the plain call, likewise.
    pub added_ns: f64,
    /// A quarter of the rounds lies below, a quarter above.
    pub quartiles_ns: [f64; 2],
    /// Calls that found no room in the log, of all.
    pub lost_share: f64,
    #[serde(skip)]
    what: &'static str,
}

/// What the rounds come to, ratios by this clock. Objects by the million have a base of their own.
pub fn lines(rows: &[CaseRounds], clock: Clock) -> Vec<Line> {
    let ns = |row: &CaseRounds| -> Vec<f64> {
        row.rounds
            .iter()
            .map(|found| if clock == Clock::Wall { found.ns } else { found.cpu_ns })
            .collect()
    };
    let of = |case: &str| rows.iter().find(|row| row.case == case).map(ns);
    let base = |case: &str, row: &CaseRounds| {
        let own = row.case.ends_with("_million").then(|| of(&format!("{case}_million"))).flatten();
        own.or_else(|| of(case)).unwrap_or_else(|| vec![f64::NAN; row.rounds.len()])
    };
    let line = |row: &CaseRounds| {
        let own = ns(row);
        let floor = base("floor", row);
        let plain = base("plain", row);
        let paired = |other: &[f64], f: fn(f64, f64) -> f64| -> f64 {
            median(&own.iter().zip(other).map(|(own, other)| f(*own, *other)).collect::<Vec<_>>())
        };
        let (lost, emitted) = row
            .rounds
            .iter()
            .fold((0, 0), |(lost, all), found| (lost + found.lost, all + found.emitted));
        Line {
            case: row.case,
            ns: median(&row.rounds.iter().map(|found| found.ns).collect::<Vec<_>>()),
            cpu_ns: median(&row.rounds.iter().map(|found| found.cpu_ns).collect::<Vec<_>>()),
            floor_ratio: paired(&floor, |own, floor| own / floor),
            added_ns: paired(&plain, |own, plain| own - plain),
            quartiles_ns: [quantile(&own, 0.25), quantile(&own, 0.75)],
            lost_share: lost as f64 / emitted.max(1) as f64,
            what: row.what,
        }
    };
    rows.iter().map(line).collect()
}

/// Prints the table.
pub fn print(lines: &[Line]) {
    println!(
        "{:<16} {:>8} {:>8} {:>15} {:>8} {:>9}  what",
        "case", "ns", "cpu ns", "quartiles", "x floor", "added ns"
    );
    for line in lines {
        let [low, high] = line.quartiles_ns;
        let lost = match line.lost_share {
            0.0 => String::new(),
            share => format!(" ({:.1} % lost)", share * 100.0),
        };
        println!(
            "{:<16} {:>8.2} {:>8.2} {:>7.2}-{:<7.2} {:>8.2} {:>9.2}  {}{lost}",
            line.case, line.ns, line.cpu_ns, low, high, line.floor_ratio, line.added_ns, line.what
        );
    }
}

/// Prints a table in Markdown: these rows, and behind them those of the peers, the fastest first.
pub fn print_readme(lines: &[Line], rows: &[(&str, &str)], peers: &[(&str, &str)]) {
    let ns = |line: &Line| if Clock::wanted() == Clock::Cpu { line.cpu_ns } else { line.ns };
    let find = |(case, what): &(&str, &str)| {
        let line = lines.iter().find(|line| line.case == *case)?;
        Some((ns(line), line.floor_ratio, (*what).to_owned()))
    };
    let mut peers: Vec<_> = peers.iter().filter_map(find).collect();
    peers.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("| | ns | times the floor |\n|---|---:|---:|");
    for (ns, ratio, what) in rows.iter().filter_map(find).chain(peers) {
        println!("| {what} | {ns:.1} | {ratio:.2} |");
    }
}

/// Writes one line of JSON a case into a file of [`target`].
pub fn write<T: Serialize>(file: &str, lines: &[T]) -> io::Result<PathBuf> {
    let path = target().join(file);
    let text: Result<Vec<String>, _> = lines.iter().map(serde_json::to_string).collect();
    fs::write(&path, text?.join("\n") + "\n")?;
    Ok(path)
}

/// A promise of section 11 of the design.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// What is promised.
    pub what: &'static str,
    /// What it came to.
    pub is: f64,
    /// The most that it may be.
    pub pass: f64,
    /// What to aim for.
    pub aim: f64,
}

/// Prints promises beside what became of them.
pub fn print_budgets(budgets: &[Budget]) {
    for Budget { what, is, pass, aim } in budgets {
        let verdict = match *is {
            is if is <= *aim => "met",
            is if is <= *pass => "passed, short of the aim",
            _ => "MISSED",
        };
        println!("{what:<52} {is:>7.2}  budget {pass:.2}, aim {aim:.2}: {verdict}");
    }
}
