//! Conditions on a run: what makes the command end with another exit code than cargo's.

use std::fs;
use std::path::Path;

use anyhow::{Result, anyhow, bail};
use metaspy_core::Selector;
use metaspy_report::coverage::{Baseline, Comparison, Run};
use metaspy_report::text::{counted, percent};

use crate::cargo_metaspy::UNUSABLE;
use crate::cargo_metaspy::arguments::Woven;
use crate::cargo_metaspy::profilers::Requested;

/// Lost methods that are named.
const NAMED: usize = 20;

/// The conditions of a run.
pub struct Conditions {
    fail_under: Option<f64>,
    baseline: Option<Baseline>,
    callers: Option<Selector>,
}

/// A condition that does not hold, or a name that means nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is wrong, and what to do.
    pub message: String,
    /// The exit code.
    pub code: u8,
}

impl Conditions {
    /// The conditions of the options. Fails before the build if they cannot be checked, and `records` is false if nothing is
    /// recorded.
    pub fn of(options: &Woven, records: bool) -> Result<Conditions> {
        let options_of_runs = [
            ("--lcov", options.lcov.is_some()),
            ("--blueprint", options.blueprint.is_some()),
            ("--cobertura", options.cobertura.is_some()),
            ("--callers", options.callers.is_some()),
            ("--profile", !options.profile.is_empty()),
            ("--by-test", options.by_test),
            ("--contexts", options.contexts),
            ("--allocations", options.allocations),
            ("--fail-under", options.least.fail_under.is_some()),
            ("--baseline", options.baseline.is_some()),
        ];
        if let Some((word, _)) = options_of_runs.into_iter().find(|(_, is_set)| *is_set && !records) {
            bail!("{word} needs a recorded run: use `run`, `test` or `bench`, and unset METASPY_RECORD");
        }
        Ok(Conditions {
            fail_under: options.least.fail_under,
            baseline: options.baseline.as_deref().map(read_baseline).transpose()?,
            callers: options.callers.as_deref().map(str::parse).transpose()?,
        })
    }

    /// The functions of `--callers`.
    pub fn callers(&self) -> Option<&Selector> {
        self.callers.as_ref()
    }

    /// The comparison with the baseline, if there is one.
    pub fn comparison(&self, run: &Run) -> Option<Comparison> {
        Some(Comparison::new(self.baseline.as_ref()?, &run.program))
    }

    /// The conditions that do not hold.
    pub fn failures(&self, run: &Run, profilers: &Requested, comparison: Option<&Comparison>) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut fail = |code, message| failures.push(Failure { message, code });
        let recorded = run.processes.unwrap_or(0) > 0;
        let profiles = &run.program.profiles;
        for name in profilers.names().filter(|name| recorded && !profiles.contains(name)) {
            fail(UNUSABLE, format!("--profile: no program has a profiler `{name}`: link one with --profiler"));
        }
        if let Some(selector) = self.callers.as_ref().filter(|_| recorded)
            && !run.program.methods().any(|method| selector.matches(method.path_text()))
        {
            fail(UNUSABLE, format!("--callers: `{selector}` matches no function of the programs"));
        }
        let is_gate = self.fail_under.is_some() || self.baseline.is_some();
        if is_gate && !recorded {
            fail(1, "no program recorded anything, so --fail-under and --baseline do not hold".to_owned());
        } else if let Some(least) = self.fail_under {
            let ratio = run.program.ratio();
            if ratio.methods == 0 {
                fail(1, "--fail-under: the programs have no functions with a hook".to_owned());
            } else if ratio.rate() * 100.0 < least {
                let ran = percent(ratio.covered.into(), ratio.methods.into());
                let of = format!("{} of {}", ratio.covered, counted(ratio.methods.into(), "method"));
                fail(1, format!("--fail-under: {of} ran ({ran}), and {least} % is required"));
            }
        }
        if let Some(Comparison { lost, .. }) = comparison.filter(|it| recorded && !it.lost.is_empty()) {
            let more = lost.len().saturating_sub(NAMED);
            let mut names: Vec<String> = lost.iter().take(NAMED).cloned().collect();
            if more > 0 {
                names.push(format!("{more} more"));
            }
            let what = counted(lost.len() as u64, "method");
            fail(1, format!("--baseline: {what} ran before and not now: {}", names.join(", ")));
        }
        failures
    }
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let wrong = |what: String| anyhow!("--baseline: {}: {what}", path.display());
    let json = fs::read(path)
        .map_err(|error| wrong(format!("cannot be read: {error}; `cargo metaspy test --json=FILE` writes one")))?;
    Baseline::parse(&json).map_err(wrong)
}
