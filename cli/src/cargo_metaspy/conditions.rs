//! Conditions on a run, which make the command end with another exit code than cargo's.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use metaspy_core::Selector;
use metaspy_reader::files;
use metaspy_report::coverage::{Baseline, Comparison, Run, gate};
use metaspy_report::gate::Decision;

use crate::cargo_metaspy::UNUSABLE;
use crate::cargo_metaspy::arguments::Woven;
use crate::cargo_metaspy::profilers::Requested;
use crate::cargo_metaspy::{results, text};

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
    /// The conditions of the options. Fails before the build if they cannot be checked, and
    /// `records` is false if nothing is recorded.
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
        if let Some((word, _)) = options_of_runs.into_iter().find(|(_, is_set)| *is_set && !records)
        {
            bail!(
                "{word} needs a recorded run: use `run`, `test` or `bench`, and unset METASPY_RECORD"
            );
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

    /// The requests of the build that were not met: a hook that the user named, and that the
    /// compiler refuses.
    pub fn refusals(woven: &results::Woven) -> Vec<Failure> {
        let refused = woven.refused().into_iter().filter(|refused| refused.asked_by.is_some());
        refused
            .map(|refused| Failure { message: text::refused(&refused), code: UNUSABLE })
            .collect()
    }

    /// The conditions that do not hold.
    pub fn failures(
        &self,
        run: &Run,
        profilers: &Requested,
        comparison: Option<&Comparison>,
    ) -> Vec<Failure> {
        let mut failures = Vec::new();
        let mut fail = |code, message| failures.push(Failure { message, code });
        let recorded = run.processes.unwrap_or(0) > 0;
        let profiles = &run.program.profiles;
        for name in profilers.names().filter(|name| recorded && !profiles.contains(name)) {
            fail(
                UNUSABLE,
                format!("--profile: no program has a profiler `{name}`: link one with --profiler"),
            );
        }
        if let Some(selector) = self.callers.as_ref().filter(|_| recorded)
            && !run.program.methods().any(|method| selector.matches(method.path_text()))
        {
            fail(UNUSABLE, format!("--callers: `{selector}` matches no function of the programs"));
        }
        let is_gate = self.fail_under.is_some() || self.baseline.is_some();
        if is_gate && !recorded {
            fail(
                1,
                "no program recorded anything, so --fail-under and --baseline do not hold"
                    .to_owned(),
            );
            return failures;
        }
        let fail_under = self.fail_under.map(|least| gate::fail_under(least, run));
        let baseline = self
            .baseline
            .as_ref()
            .zip(comparison)
            .map(|(before, it)| gate::baseline(before, it, run));
        for decision in [fail_under, baseline].into_iter().flatten() {
            match decision {
                Decision::Holds => {}
                Decision::Fails(message) => fail(1, message),
                Decision::Undecided(message) => fail(UNUSABLE, message),
            }
        }
        failures
    }
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let wrong = |what: String| anyhow!("--baseline: {}: {what}", path.display());
    let json = files::read_argument(path).map_err(|error| {
        wrong(format!("cannot be read: {error}; `cargo metaspy test --json=FILE` writes one"))
    })?;
    Baseline::parse(&json).map_err(wrong)
}
