//! `failing-subject`: the failures of a site concentrate on few subjects.

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::HashMap;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::median::median;
use crate::text::{grouped, percent};

/// Word of the kind.
pub(super) const KIND: &str = "failing-subject";
/// Maximum number of failing subjects of a site.
const FAILING: usize = 3;
/// Least number of subjects of a site.
const SUBJECTS: usize = 8;
/// Least number of failures of a failing subject.
const FAILURES: u32 = 5;
/// Least share of failures among the calls of a failing subject, in percent.
pub(super) const SUBJECT_PERCENT: u64 = 30;
/// Least share of the site's failures that the failing subjects have, in percent.
pub(super) const SITE_PERCENT: u64 = 50;
/// Least ratio between the rate of failures of a failing subject and that of all others.
pub(super) const TIMES: u64 = 5;
/// Share of failures from which on a failing subject never works, in percent. Below it, a subject
/// with `BUSIER` times the calls of the others may be refused because of its many calls, as by a
/// limit or a balance.
const BROKEN_PERCENT: u64 = 75;
const BUSIER: u64 = 3;

/// Detector of subjects that fail.
#[derive(Default)]
pub(super) struct FailingSubject {
    rows: Vec<Calls>,
    /// First failures of each pair of site and subject, as long as they are few.
    events: HashMap<u32, Vec<EventId>>,
}

/// Calls of a site on a subject.
#[derive(Clone, Copy, Default)]
struct Calls {
    calls: u32,
    failures: u32,
    failed_ticks: u64,
}

/// Calls of a site on one subject, with the row of the pair.
struct OfSubject {
    row: u32,
    subject: Subject,
    calls: Calls,
}

impl Detector for FailingSubject {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let may_fail = |site: &SiteId| context.failures_of(*site) >= u64::from(FAILURES);
        context.sites_with_events().filter(may_fail).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for event in events.iter().copied().filter(|event| event.event.subject.is_some()) {
            let Some(row) = event.row else { continue };
            let at = row as usize;
            if self.rows.len() <= at {
                self.rows.resize(at + 1, Calls::default());
            }
            let calls = &mut self.rows[at];
            calls.calls = calls.calls.saturating_add(1);
            if context.is_failure(event) {
                calls.failures = calls.failures.saturating_add(1);
                calls.failed_ticks = calls.failed_ticks.saturating_add(context.busy_ticks(event));
                if calls.failures as usize <= NAMED {
                    self.events.entry(row).or_default().push(event.event.id);
                }
            }
        }
    }

    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        context.missing_failures().or_else(|| context.missing_window())
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut sites: HashMap<SiteId, Vec<OfSubject>> = HashMap::default();
        for (row, calls) in (0..).zip(&self.rows) {
            if let Some((site, Some(subject))) = context.pairs.get(row)
                && calls.calls > 0
                && context.is_one_object(subject)
            {
                sites.entry(site).or_default().push(OfSubject { row, subject, calls: *calls });
            }
        }
        sites
            .into_iter()
            .filter_map(|(site, subjects)| self.finding(site, subjects, context))
            .collect()
    }
}

impl FailingSubject {
    fn finding(
        &self,
        site: SiteId,
        mut subjects: Vec<OfSubject>,
        context: &Context<'_>,
    ) -> Option<Finding> {
        let sum = |of: &[OfSubject], number: fn(&Calls) -> u32| {
            of.iter().map(|it| u64::from(number(&it.calls))).sum()
        };
        let failures: u64 = sum(&subjects, |calls| calls.failures);
        let all: u64 = sum(&subjects, |calls| calls.calls);
        if failures < u64::from(FAILURES) || subjects.len() < SUBJECTS {
            return None;
        }
        subjects.sort_by_key(|it| (std::cmp::Reverse(it.calls.failures), it.row));
        let is_failing = |it: &&OfSubject| {
            let Calls { calls, failures, .. } = it.calls;
            failures >= FAILURES && u64::from(failures) * 100 >= u64::from(calls) * SUBJECT_PERCENT
        };
        let count = subjects.iter().take_while(is_failing).count();
        let (failing, rest) = subjects.split_at(count);
        let of_failing: u64 = sum(failing, |calls| calls.failures);
        let calls_of_failing: u64 = sum(failing, |calls| calls.calls);
        let of_rest = failures - of_failing;
        let calls_of_rest = all - calls_of_failing;
        let is_few = (1..=FAILING).contains(&count) && count * 2 < subjects.len();
        let is_most = of_failing * 100 >= failures * SITE_PERCENT;
        // of_failing / calls_of_failing >= TIMES * of_rest / calls_of_rest
        let is_apart = u128::from(of_failing) * u128::from(calls_of_rest)
            >= u128::from(TIMES) * u128::from(of_rest) * u128::from(calls_of_failing);
        if !is_few || !is_most || !is_apart || calls_of_rest == 0 {
            return None;
        }
        let usual = median(rest.iter().map(|it| u64::from(it.calls.calls)));
        let is_busier =
            calls_of_failing >= usual.saturating_mul(BUSIER).saturating_mul(count as u64);
        if is_busier && !is_share(of_failing, calls_of_failing, BROKEN_PERCENT) {
            return None;
        }
        let events: Vec<EventId> = failing
            .iter()
            .flat_map(|it| self.events.get(&it.row).into_iter().flatten().copied())
            .collect();
        if context.are_of_tests(&events) {
            return None;
        }
        let name = context.name(site);
        let words = if count == 1 { "one subject".to_owned() } else { format!("{count} subjects") };
        let mut finding = Finding::new(
            KIND,
            format!("{name} fails on {words} and hardly on the others"),
            vec![context.site(site)],
        );
        finding.subjects = context
            .subjects(&failing.iter().map(|it| (it.subject, it.calls.failures.into())).collect());
        let ticks = failing.iter().map(|it| it.calls.failed_ticks).sum();
        finding.cost = Cost::of_work(context.ns(ticks), of_failing);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} failures are of {words}: {} of their {} calls fail, and {} of the {} calls on {} others.",
                grouped(of_failing),
                grouped(failures),
                percent(of_failing, calls_of_failing),
                grouped(calls_of_failing),
                percent(of_rest, calls_of_rest),
                grouped(calls_of_rest),
                grouped(rest.len() as u64),
            ),
            numbers: vec![
                ("failures", failures),
                ("failures_of_subjects", of_failing),
                ("calls", all),
            ],
            events,
            filter: format!("{} outcome:failed,panicked", context.filter(site)),
        };
        finding.certainty = context.counted("counts exact");
        finding.advice =
            "look at what these subjects have in common: state, input, quota, connection"
                .to_owned();
        Some(finding)
    }
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Calls each of twelve tenants 30 times. `fails` decides by tenant and round.
    fn check(fails: impl Fn(u64, u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for round in 0..30 {
            for tenant in 0..12 {
                let outcome =
                    if fails(tenant, round) { Outcome::Failed } else { Outcome::Succeeded };
                run.ended_call("shop::handle", tenant, outcome, |run| run.work(100));
            }
        }
        assert_eq!(run.found(FailingSubject::default()), expected);
    }

    #[test]
    fn failures_of_one_or_of_few_subjects_are_found() {
        let one = "handle fails on one subject and hardly on the others: failures=24 failures_of_subjects=24 calls=360";
        check(|tenant, round| tenant == 7 && round > 5, &[one]);
        let two = "handle fails on 2 subjects and hardly on the others: failures=61 failures_of_subjects=60 calls=360";
        check(|tenant, round| tenant < 2 || (tenant == 5 && round == 9), &[two]);
    }

    #[test]
    fn failures_that_are_spread_over_all_are_silent() {
        check(|tenant, round| (tenant + round) % 6 == 0, &[]);
        check(|tenant, round| tenant == 7 && round < 4, &[]);
        check(|tenant, _| tenant < 4, &[]);
        check(|_, _| true, &[]);
    }

    #[test]
    fn those_who_ask_too_often_and_are_refused_now_and_then_are_silent() {
        let found = |calls: u64, refused: u64| {
            let mut run = Run::new();
            for round in 0..30 {
                for tenant in 0..12 {
                    for call in 0..if tenant == 7 { calls } else { 1 } {
                        let outcome = if tenant == 7 && call < refused {
                            Outcome::Failed
                        } else {
                            Outcome::Succeeded
                        };
                        run.ended_call("shop::handle", tenant, outcome, |run| run.work(round));
                    }
                }
            }
            run.found(FailingSubject::default()).len()
        };
        assert_eq!((found(6, 3), found(6, 5), found(2, 1)), (0, 1, 1));
    }

    /// Reads twelve cells 30 times, of which one fails. `self_kind` tells how the calls take their
    /// cells.
    fn check_cells(self_kind: &str, reader: &str, expected: &[&str]) {
        let mut run = Run::new();
        run.function("page", "page::Cell::read", &format!("type=Cell self={self_kind}"));
        run.function("page", "page::reads", reader);
        run.at_places();
        run.call("page::reads", None, |run| {
            for cell in (0..30).flat_map(|_| 0..12) {
                let outcome = if cell == 7 { Outcome::Failed } else { Outcome::Succeeded };
                run.ended_call("page::Cell::read", cell, outcome, |run| run.work(100));
            }
        });
        assert_eq!(run.found(FailingSubject::default()), expected);
    }

    #[test]
    fn places_of_values_and_the_failures_of_a_test_are_silent() {
        let found = "Cell::read fails on one subject and hardly on the others: \
                     failures=30 failures_of_subjects=30 calls=360";
        check_cells("mut", "self=none", &[found]);
        check_cells("ref", "self=none", &[]);
        check_cells("mut", "test", &[]);
    }
}
