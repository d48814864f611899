//! `retried`: a call fails, is repeated for the same cause on the same subject, and fails again.

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::question;
use super::recent::Recent;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Word of the kind.
const KIND: &str = "retried";
/// Least number of series of calls.
const SERIES: u64 = 5;
/// Least share of repeated calls among the calls of the site, in percent.
const CALLS_PERCENT: u64 = 5;
/// Least share of series that end with a failure, in percent. Where most succeed in the end, the repetition is worth it.
const FAILED_PERCENT: u64 = 50;

/// Calls of a site for one cause on one subject.
type Series = (EventId, SiteId, Subject);

/// Detector of calls that are repeated in vain.
#[derive(Default)]
pub(super) struct Retried {
    /// Series that began with a failure.
    open: Recent<Series, Attempts>,
    sites: HashMap<SiteId, OfSite>,
}

#[derive(Default)]
struct Attempts {
    repeated: u64,
    ticks: u64,
    has_failed: bool,
    first: Option<EventId>,
    events: Vec<EventId>,
}

#[derive(Default)]
struct OfSite {
    calls: u64,
    repeated: u64,
    ticks: u64,
    series: u64,
    failed_series: u64,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
    /// For each of these the first call of its series.
    first: Vec<EventId>,
}

impl Detector for Retried {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        for event in events {
            let it = &event.event;
            // Without a subject, the calls of a loop over many things look like one call that is repeated.
            let (Some(cause), Some(subject)) = (event.cause.event(), it.subject) else { continue };
            self.sites.entry(it.site).or_default().calls += 1;
            let series = (cause.id, it.site, subject);
            let failed = context.is_failure(event);
            match self.open.get_mut(&series) {
                Some(attempts) if attempts.has_failed => {
                    attempts.repeated += 1;
                    attempts.ticks = attempts.ticks.saturating_add(it.span.unwrap_or(0));
                    attempts.has_failed = failed;
                    if attempts.events.len() < NAMED {
                        attempts.events.push(it.id);
                    }
                }
                Some(attempts) => attempts.has_failed = failed,
                None if failed => {
                    let first = Attempts { has_failed: true, first: Some(it.id), ..Attempts::default() };
                    let forgotten = self.open.insert(series, first);
                    forgotten.into_iter().for_each(|(series, attempts)| close(&mut self.sites, series, attempts));
                }
                None => {}
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let Retried { open, mut sites } = *self;
        open.into_entries().for_each(|(series, attempts)| close(&mut sites, series, attempts));
        sites.iter().filter_map(|(&site, of_site)| finding(site, of_site, context)).collect()
    }
}

fn close(sites: &mut HashMap<SiteId, OfSite>, (_, site, subject): Series, attempts: Attempts) {
    if attempts.repeated == 0 {
        return;
    }
    let of_site = sites.entry(site).or_default();
    of_site.series += 1;
    of_site.failed_series += u64::from(attempts.has_failed);
    of_site.repeated += attempts.repeated;
    of_site.ticks = of_site.ticks.saturating_add(attempts.ticks);
    let room = NAMED.saturating_sub(of_site.events.len());
    for event in attempts.events.into_iter().take(room) {
        of_site.events.push(event);
        of_site.first.extend(attempts.first);
    }
    *of_site.subjects.entry(subject).or_default() += attempts.repeated;
}

fn finding(site: SiteId, found: &OfSite, context: &Context<'_>) -> Option<Finding> {
    let is_asked_again = question::is_asked_again(found.subjects.keys(), &found.events, &found.first, context);
    if context.are_of_tests(&found.events) || !is_asked_again {
        return None;
    }
    let is_often = found.series >= SERIES && found.repeated * 100 >= found.calls * CALLS_PERCENT;
    if !is_often || found.failed_series * 100 < found.series * FAILED_PERCENT {
        return None;
    }
    let name = context.name(site);
    let mut finding =
        Finding::new(KIND, format!("{name} fails, is repeated, and fails again"), vec![context.site(site)]);
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_waiting(context.ns(found.ticks), found.repeated);
    finding.evidence = Evidence {
        text: format!(
            "{} of {} calls follow a failure of the same call for the same cause; {} of these {} series end with a failure.",
            grouped(found.repeated),
            grouped(found.calls),
            percent(found.failed_series, found.series),
            grouped(found.series),
        ),
        numbers: vec![
            ("repeated_calls", found.repeated),
            ("calls", found.calls),
            ("series", found.series),
            ("failed_series", found.failed_series),
        ],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty =
        Certainty::Estimated("the counts are exact; the calls may differ in their arguments".to_owned());
    finding.needs = "METASPY_DETAILS=1, with `#[observe(args(…))]` at the site".to_owned();
    finding.advice =
        "pass the failure on at once if its reason lasts, or wait longer before each further call".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Handles 40 requests, whose fetches end as `outcomes` says by request and attempt.
    fn check(attempts: u64, fails: impl Fn(u64, u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for request in 0..40 {
            run.call("web::handle", None, |run| {
                for attempt in 0..attempts {
                    let outcome = if fails(request, attempt) { Outcome::Failed } else { Outcome::Succeeded };
                    run.ended_call("web::fetch", request % 10, outcome, |run| run.work(100));
                }
            });
        }
        assert_eq!(run.found(Retried::default()), expected);
    }

    #[test]
    fn calls_that_fail_again_and_again_are_found() {
        let found = "fetch fails, is repeated, and fails again: repeated_calls=80 calls=120 series=40 failed_series=40";
        check(3, |_, _| true, &[found]);
    }

    #[test]
    fn what_succeeds_in_the_end_and_what_is_not_repeated_is_silent() {
        check(3, |_, attempt| attempt < 2, &[]);
        check(1, |_, _| true, &[]);
        check(3, |request, _| request == 0, &[]);
    }

    /// Asks ten cells three times each in 40 requests, and each call fails. `reason` is the recorded argument.
    fn check_cells(self_kind: &str, request: &str, reason: Option<fn(u64) -> u64>, expected: usize) {
        let mut run = Run::new();
        run.function("web", "web::Cell::ask", &format!("type=Cell self={self_kind}"));
        run.function("web", "web::handle", request);
        run.at_places();
        for cell in (0..4).flat_map(|_| 0..10) {
            run.call("web::handle", None, |run| {
                for attempt in 0..3 {
                    let call = run.ended_call("web::Cell::ask", cell, Outcome::Failed, |run| run.work(100));
                    if let Some(reason) = reason {
                        run.argument(call, "reason", &reason(attempt).to_string());
                    }
                }
            });
        }
        assert_eq!(run.found(Retried::default()).len(), expected);
    }

    #[test]
    fn a_place_is_asked_again_if_its_arguments_are_equal() {
        check_cells("mut", "self=none", Some(|_| 7), 1);
        check_cells("mut", "self=none", Some(|attempt| attempt), 0);
        check_cells("mut", "self=none", None, 0);
        check_cells("ref", "self=none", Some(|_| 7), 0);
        check_cells("mut", "test", Some(|_| 7), 0);
    }
}
