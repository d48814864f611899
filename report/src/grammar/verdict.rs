//! Failures that make the command end with 1.

use super::Report;
use crate::text::clean;

/// Why the report fails, as sentences; none if it does not.
pub fn failures(fail_under: Option<f64>, report: &Report) -> Vec<String> {
    let mut failures = Vec::new();
    if let Some(least) = fail_under.filter(|&least| report.coverage < least) {
        failures.push(format!("FAILED: --fail-under {least} (it is {})", percent(report.coverage)));
    }
    if let Some(comparison) = &report.comparison {
        for (what, names) in [("matched", &comparison.lost), ("accepted", &comparison.rejected)] {
            if !names.is_empty() {
                failures.push(format!(
                    "FAILED: --baseline (no longer {what}: {})",
                    clean(&some(names))
                ));
            }
        }
    }
    failures
}

/// Decides whether the gates can be decided. The sentence of an undecided one states the reason.
pub fn undecided(fail_under: Option<f64>, report: &Report, is_exact: bool) -> Option<String> {
    let least = fail_under?;
    if report.in_use().next().is_none() {
        return Some("--fail-under cannot be decided: no production is in use".to_owned());
    }
    if report.coverage < least && !is_exact {
        let known = percent(report.coverage);
        return Some(format!(
            "--fail-under {least} cannot be decided: {known} are known to have matched, and some counts are lower \
             bounds; a larger METASPY_BUDGET has room for every call"
        ));
    }
    None
}

/// Names that a sentence contains.
const NAMES: usize = 20;

fn some(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES)].join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A percentage with one decimal, cut instead of rounded.
///
/// So 100.0 % is all of it, and a shown percentage passes `--fail-under`.
pub fn percent(value: f64) -> String {
    format!("{:.1} %", (value * 10.0).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_almost_all_is_not_all() {
        assert_eq!(percent(100.0 * 2999.0 / 3000.0), "99.9 %");
        assert_eq!(percent(100.0), "100.0 %");
        assert_eq!(percent(100.0 * 36.0 / 37.0), "97.2 %");
    }
}
