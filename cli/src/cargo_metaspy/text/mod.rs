//! The results, for people.

mod callers;
mod coverage;
mod flat;
mod numbers;
mod tree;

use std::io::{self, Write};

use crate::cargo_metaspy::arguments::Woven;
use crate::cargo_metaspy::results::{Package, Results, packages};

/// Reasons that are listed, the most frequent first.
const REASONS: usize = 4;

/// Prints what ran.
pub fn print(results: &Results, asked: &Woven, is_terminal: bool) {
    let gap = if is_terminal { "\n" } else { "" };
    // Whoever reads it may have read enough.
    let _ = write!(io::stdout(), "{gap}{}", text(results, asked));
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
    let mut lines = vec![format!("metaspy {}", woven(results))];
    if results.processes == Some(0) {
        lines.push("no program recorded anything".into());
    }
    let packages = packages(&results.methods);
    lines.extend(match asked.tree {
        true => tree::lines(&packages, results.looked),
        false => flat::lines(results, asked.top),
    });
    lines.extend(summary(results, &packages, asked));
    for report in &results.reports {
        lines.push(format!("{} in {} ({}):", report.profile, report.program, report.pid));
        lines.extend(report.text.lines().map(|line| format!("  {line}")));
    }
    lines.join("\n") + "\n"
}

fn summary(results: &Results, packages: &[Package<'_>], asked: &Woven) -> Vec<String> {
    let ran = results.methods.iter().filter(|ran| ran.has_run()).count();
    let mut lines = vec![format!("{ran} of {} functions ran", numbers::grouped(results.methods.len() as u64))];
    if results.looked.coverage {
        lines.extend(coverage::lines(packages, asked.top));
    }
    if results.looked.coverage && asked.returns {
        lines.extend(coverage::constant_lines(packages, asked.top));
    }
    if let Some(selector) = &asked.callers {
        lines.extend(callers::lines(&results.methods, selector));
    }
    lines.extend(reasons(results));
    if results.invisible != (0, 0) {
        let (macros, derives) = results.invisible;
        lines.push(format!("not seen: what {macros} calls of macros and {derives} derived traits make"));
    }
    lines.extend(results.doubts.iter().cloned());
    lines
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
