//! `failing-subject`, for units of work: the failures of a site occur in one kind of request, and
//! hardly in the others.

use metaspy_probe::SiteId;
use metaspy_reader::{EventId, ResolvedEvent};

use super::failing_subject::{KIND, SITE_PERCENT, SUBJECT_PERCENT, TIMES};
use super::finding::NAMED;
use super::map::{ByPair, HashMap};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Least number of kinds of units of work that call the site. Where there are two kinds, one of
/// them may expect failures.
const UNITS: usize = 3;
/// Least number of failures, and of calls of each kind of units.
const CALLS: u64 = 20;

/// Detector of kinds of requests in which a site fails.
#[derive(Default)]
pub(super) struct FailingUnit {
    /// Calls by their site and the site of their unit of work.
    calls: ByPair<Calls>,
}

/// Calls of a site in units of work of one kind.
#[derive(Default)]
struct Calls {
    calls: u64,
    failures: u64,
    failed_ticks: u64,
    events: Vec<EventId>,
}

impl Detector for FailingUnit {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.sites_with_events().filter(|site| context.failures_of(*site) >= CALLS).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let Some(unit) = event.unit.filter(|unit| unit.id != it.id) else { continue };
            let calls = self.calls.of(it.site, unit.site);
            calls.calls += 1;
            if context.is_failure(event) {
                calls.failures += 1;
                calls.failed_ticks = calls.failed_ticks.saturating_add(context.busy_ticks(event));
                if calls.events.len() < NAMED {
                    calls.events.push(it.id);
                }
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut sites: HashMap<SiteId, HashMap<SiteId, &Calls>> = HashMap::default();
        for ((site, unit), calls) in self.calls.iter() {
            sites.entry(site).or_default().insert(unit, calls);
        }
        sites.iter().filter_map(|(&site, units)| finding(site, units, context)).collect()
    }
}

fn finding(
    site: SiteId,
    units: &HashMap<SiteId, &Calls>,
    context: &Context<'_>,
) -> Option<Finding> {
    let (&unit, failing) = units.iter().max_by_key(|&(unit, calls)| (calls.failures, *unit))?;
    let calls: u64 = units.values().map(|calls| calls.calls).sum();
    let failures: u64 = units.values().map(|calls| calls.failures).sum();
    let calls_of_rest = calls - failing.calls;
    let of_rest = failures - failing.failures;
    let is_often =
        failing.failures >= CALLS && failing.failures * 100 >= failing.calls * SUBJECT_PERCENT;
    let has_others = units.len() >= UNITS && units.values().all(|calls| calls.calls >= CALLS);
    let is_most = failing.failures * 100 >= failures * SITE_PERCENT;
    // failing.failures / failing.calls >= TIMES * of_rest / calls_of_rest
    let is_apart = u128::from(failing.failures) * u128::from(calls_of_rest)
        >= u128::from(TIMES) * u128::from(of_rest) * u128::from(failing.calls);
    if !is_often || !has_others || !is_most || !is_apart || context.are_of_tests(&failing.events) {
        return None;
    }
    let name = context.name(site);
    let below = context.name(unit);
    let title = format!("{name} fails below {below} and hardly below the others");
    let mut finding = Finding::new(KIND, title, vec![context.site(site), context.site(unit)]);
    finding.cost = Cost::of_work(context.ns(failing.failed_ticks), failing.failures);
    finding.evidence = Evidence {
        text: format!(
            "{} of {} failures are in `{below}`: {} of its {} calls fail, and {} of the {} calls in {} other kinds of units \
             of work.",
            grouped(failing.failures),
            grouped(failures),
            percent(failing.failures, failing.calls),
            grouped(failing.calls),
            percent(of_rest, calls_of_rest),
            grouped(calls_of_rest),
            units.len() - 1,
        ),
        numbers: vec![
            ("failures", failures),
            ("failures_of_unit", failing.failures),
            ("calls", calls),
        ],
        events: failing.events.clone(),
        filter: format!(
            "{} cause:{} outcome:failed,panicked",
            context.filter(site),
            context.store.site_path(unit)
        ),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; failures may be expected in these units of work".to_owned(),
    );
    finding.advice = format!("look at what {below} passes on that the others do not");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Books for these callers 60 times each. `fails` decides by caller and round.
    fn check(callers: &[&str], fails: impl Fn(&str, u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for round in 0..60 {
            for caller in callers {
                let outcome =
                    if fails(caller, round) { Outcome::Failed } else { Outcome::Succeeded };
                run.call(caller, None, |run| {
                    _ = run.ended_call("clinic::book", round, outcome, |run| run.work(100))
                });
            }
        }
        assert_eq!(run.found(FailingUnit::default()), expected);
    }

    #[test]
    fn failures_below_one_caller_are_found() {
        let found = "book fails below import and hardly below the others: failures=51 failures_of_unit=50 calls=180";
        let fails = |caller: &str, round| {
            if caller == "clinic::import" {
                round >= 10
            } else {
                caller == "clinic::desk" && round == 3
            }
        };
        check(&["clinic::desk", "clinic::import", "clinic::website"], fails, &[found]);
    }

    #[test]
    fn failures_below_all_and_below_one_of_two_are_silent() {
        check(&["clinic::desk", "clinic::import", "clinic::website"], |_, round| round >= 10, &[]);
        check(&["clinic::desk", "clinic::import"], |caller, _| caller == "clinic::import", &[]);
    }

    #[test]
    fn failures_of_a_test_are_silent() {
        let check = |words: &str, expected: usize| {
            let mut run = Run::new();
            run.function("clinic", "clinic::books", words);
            run.call("clinic::books", None, |run| {
                for caller in
                    (0..60).flat_map(|_| ["clinic::desk", "clinic::import", "clinic::website"])
                {
                    let outcome = if caller == "clinic::import" {
                        Outcome::Failed
                    } else {
                        Outcome::Succeeded
                    };
                    run.call(caller, None, |run| {
                        _ = run.ended_call("clinic::book", None, outcome, |run| run.work(100))
                    });
                }
            });
            assert_eq!(run.found(FailingUnit::default()).len(), expected);
        };
        check("self=none", 1);
        check("test", 0);
    }
}
