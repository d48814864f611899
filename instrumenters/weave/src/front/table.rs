//! The results, for people.

use crate::front::cli::Woven;
use crate::front::results::{Ran, Results};

/// Reasons that are listed, the most frequent first.
const REASONS: usize = 4;

/// Prints how often each function ran.
pub fn print(results: &Results, asked: &Woven, is_terminal: bool) {
    let gap = if is_terminal { "\n" } else { "" };
    print!("{gap}{}", text(results, asked));
}

/// One line: how much was woven.
pub fn woven(results: &Results) -> String {
    let packages: Vec<String> = results
        .packages
        .iter()
        .map(|(package, functions)| format!("{functions} of {}", package.replace('@', " ")))
        .collect();
    match packages.is_empty() {
        true => "wove nothing".into(),
        false => format!("wove {} functions: {}", results.packages.values().sum::<usize>(), packages.join(", ")),
    }
}

fn text(results: &Results, asked: &Woven) -> String {
    let ran = results.methods.iter().filter(|ran| ran.calls.count > 0).count();
    let mut lines = vec![format!("metaspy {}", woven(results))];
    if results.processes == Some(0) {
        lines.push("no program recorded anything".into());
    }
    let shown = if asked.top == 0 { results.methods.len() } else { asked.top };
    let rows: Vec<&Ran> =
        results.methods.iter().take(shown).filter(|ran| ran.calls.count > 0 || asked.top == 0).collect();
    if !rows.is_empty() {
        lines.push(if asked.timed {
            format!("{:>14} {:>10} {:>10}  function", "calls", "total", "self")
        } else {
            format!("{:>14}  function", "calls")
        });
    }
    lines.extend(rows.iter().map(|ran| row(ran, asked.timed)));
    if ran > rows.len() {
        lines.push(format!("{:>14}  {} more functions ran; --top 0 shows all", "…", ran - rows.len()));
    }
    lines.push(format!("{ran} of {} functions ran", grouped(results.methods.len() as u64)));
    lines.extend(reasons(results));
    if results.invisible != (0, 0) {
        let (macros, derives) = results.invisible;
        lines.push(format!("not seen: what {macros} calls of macros and {derives} derived traits make"));
    }
    lines.extend(results.doubts.iter().cloned());
    lines.join("\n") + "\n"
}

fn row(Ran { method, calls }: &Ran, is_timed: bool) -> String {
    let time = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), duration);
    let count = grouped(calls.count);
    match is_timed {
        true => format!("{count:>14} {:>10} {:>10}  {}", time(calls.total_ns), time(calls.self_ns), method.path),
        false => format!("{count:>14}  {}", method.path),
    }
}

/// Why functions were left as they are.
fn reasons(results: &Results) -> Vec<String> {
    let mut counted: Vec<(usize, &str)> = Vec::new();
    for left in &results.skipped {
        match counted.iter_mut().find(|(_, reason)| *reason == left.reason) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, &left.reason)),
        }
    }
    counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let more = counted.len().saturating_sub(REASONS);
    let mut lines: Vec<String> =
        counted.iter().take(REASONS).map(|(count, reason)| format!("{count} not woven: {reason}")).collect();
    if more > 0 {
        lines.push(format!("{more} more reasons: --json FILE has them all"));
    }
    lines
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.2} µs", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}
