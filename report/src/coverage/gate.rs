//! `--fail-under` and `--baseline`: the part of a program that has to run.

use super::{Baseline, Comparison, Run};
use crate::gate::Decision;
use crate::program::Ratio;
use crate::text::{counted, percent};

/// Methods that a sentence names.
const NAMED: usize = 20;
/// Decimals that a percentage has at most.
const DECIMALS: usize = 15;

/// Decides `--fail-under`: at least this part of the methods ran, in percent.
pub fn fail_under(least: f64, run: &Run) -> Decision {
    let ratio = run.program.ratio();
    if ratio.methods == 0 {
        return Decision::Fails(
            "--fail-under: the programs have no functions with a hook".to_owned(),
        );
    }
    let is_reached = ratio.rate() * 100.0 >= least;
    let rate = percent(ratio.covered.into(), ratio.methods.into());
    let of = format!("{} of {}", ratio.covered, counted(ratio.methods.into(), "method"));
    if let Some(unread) = run.unread.first() {
        // Its methods may be missing from both numbers.
        let what = format!("{of} are known to have run ({rate})");
        return Decision::Undecided(format!(
            "--fail-under cannot be decided: {what}, but {unread}"
        ));
    }
    // A count that is too low is no less than 1 if the method is known to have run.
    if is_reached {
        return Decision::Holds;
    }
    let rate = rate_below(least, ratio, &rate);
    if !run.program.exact {
        let what = format!("{of} are known to have run ({rate}), and {least} % is required");
        return Decision::Undecided(format!(
            "--fail-under cannot be decided: {what}; {}",
            lower_bounds(run)
        ));
    }
    Decision::Fails(format!("--fail-under: {of} ran ({rate}), and {least} % is required"))
}

/// The rate in as many decimals as distinguish it from the least one, which it does not reach.
fn rate_below(least: f64, ratio: Ratio, rate: &str) -> String {
    let is_below = |text: &str| {
        text.trim_end_matches(" %").parse::<f64>().is_ok_and(|percent| percent < least)
    };
    if is_below(rate) || rate.starts_with(['<', '>']) {
        return rate.to_owned();
    }
    let with_decimals = |decimals: usize| format!("{:.decimals$} %", ratio.rate() * 100.0);
    (2..DECIMALS)
        .map(with_decimals)
        .find(|text| is_below(text))
        .unwrap_or_else(|| with_decimals(DECIMALS))
}

/// Decides `--baseline`: every method that ran before, and still exists, runs.
pub fn baseline(before: &Baseline, comparison: &Comparison, run: &Run) -> Decision {
    if comparison.common == 0 {
        let what = "no method is both in the baseline and in these programs";
        return Decision::Undecided(format!(
            "--baseline cannot be decided: {what}; name the baseline of this program"
        ));
    }
    if let Some(unread) = run.unread.first() {
        return Decision::Undecided(format!("--baseline cannot be decided: {unread}"));
    }
    if !comparison.lost.is_empty() {
        let what = counted(comparison.lost.len() as u64, "method");
        let names = names(&comparison.lost);
        if !run.program.exact {
            let lost = format!("{what} ran before, and may have run now: {names}");
            return Decision::Undecided(format!(
                "--baseline cannot be decided: {lost}; {}",
                lower_bounds(run)
            ));
        }
        return Decision::Fails(format!("--baseline: {what} ran before and not now: {names}"));
    }
    if !before.exact {
        let what = "the counts of the baseline are lower bounds, so more methods may have run then";
        return Decision::Undecided(format!(
            "--baseline cannot be decided: {what}; write it again, from an exact run"
        ));
    }
    Decision::Holds
}

/// Returns the reason why counts are lower bounds, and a remedy.
fn lower_bounds(run: &Run) -> String {
    let why = run.doubts.first().map_or("some counts are lower bounds", String::as_str);
    format!("{why}: a larger METASPY_BUDGET has room for every call")
}

fn names(methods: &[String]) -> String {
    let mut names: Vec<String> = methods.iter().take(NAMED).cloned().collect();
    match methods.len().saturating_sub(NAMED) {
        0 => {}
        more => names.push(format!("{more} more")),
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::{program, woven};

    /// A run of one of two methods, as it was read.
    fn run(is_exact: bool, unread: &[&str]) -> Run {
        let mut program = program(&[(woven("a", "ran", "c=1"), 2), (woven("a", "idle", "c=1"), 0)]);
        program.exact = is_exact;
        let unread = unread.iter().map(|text| (*text).to_owned()).collect();
        Run { program, processes: Some(1), unread, ..Run::default() }
    }

    fn word(decision: &Decision) -> &'static str {
        match decision {
            Decision::Holds => "holds",
            Decision::Fails(_) => "fails",
            Decision::Undecided(_) => "undecided",
        }
    }

    #[test]
    fn a_part_that_ran_decides_as_far_as_it_is_known() {
        for (least, is_exact, unread, expected) in [
            (50.0, true, &[][..], "holds"),
            (50.1, true, &[], "fails"),
            // More may have run, and that is no reason to fail.
            (50.0, false, &[], "holds"),
            (50.1, false, &[], "undecided"),
            // More methods may exist.
            (50.0, true, &["b.spy cannot be read"], "undecided"),
        ] {
            let decision = fail_under(least, &run(is_exact, unread));
            assert_eq!(word(&decision), expected, "{least} {is_exact} {unread:?}: {decision:?}");
        }
        assert_eq!(word(&fail_under(0.0, &Run::default())), "fails", "nothing has a hook");
    }

    #[test]
    fn a_rate_that_fails_differs_from_the_required_one() {
        for (covered, methods, least, expected) in [
            (6, 32, 18.8, "18.75 %"),
            (6, 32, 20.0, "18.8 %"),
            (2, 3, 66.67, "66.667 %"),
            (1, 3, 33.333_34, "33.3 %"),
            (9_999, 10_000, 99.995, ">99.9 %"),
            (9_999, 10_000, 100.0, ">99.9 %"),
            (1, 100_000, 0.1, "<0.1 %"),
        ] {
            let ratio = Ratio { methods, covered, types: 0, covered_types: 0 };
            let rate = percent(covered.into(), methods.into());
            assert_eq!(rate_below(least, ratio, &rate), expected, "{covered} of {methods}");
        }
    }

    #[test]
    fn a_baseline_decides_as_far_as_both_runs_are_known() {
        let before = |method: &str, exact: bool| {
            let json = format!(
                r#"{{ "format": 1, "exact": {exact}, "methods": [{{ "path": "a::{method}", "executions": 1 }}] }}"#
            );
            Baseline::parse(json.as_bytes()).expect("it is a baseline")
        };
        for (method, was_exact, is_exact, unread, expected) in [
            ("ran", true, true, &[][..], "holds"),
            ("idle", true, true, &[], "fails"),
            ("idle", false, true, &[], "fails"),
            ("idle", true, false, &[], "undecided"),
            ("ran", false, true, &[], "undecided"),
            ("ran", true, false, &[], "holds"),
            ("ran", true, true, &["b.spy cannot be read"], "undecided"),
            ("of_another_program", true, true, &[], "undecided"),
        ] {
            let before = before(method, was_exact);
            let now = run(is_exact, unread);
            let decision = baseline(&before, &Comparison::new(&before, &now.program), &now);
            assert_eq!(
                word(&decision),
                expected,
                "{method} {was_exact} {is_exact} {unread:?}: {decision:?}"
            );
        }
    }
}
