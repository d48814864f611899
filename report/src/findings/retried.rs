//! `retried`: a call fails, is repeated for the same cause on the same subject, and fails again.

use metaspy_format::facts::SelfKind;
use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::{BySite, HashMap, HashSet};
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
/// Least share of series that end with a failure, in percent. Where most succeed in the end, the
/// repetition is worth it.
const FAILED_PERCENT: u64 = 50;

/// Least number of places of a call whose receivers are values. Each value of a loop may be at one
/// place.
const PLACES: usize = 8;
/// Thresholds for a `None`, which is an answer and no failure: least share of series that end with
/// it, in percent, least mean number of repeated calls in a series, and least share of repeated
/// calls among all calls, in percent.
const NONE_PERCENT: u64 = 95;
const NONE_REPEATED: u64 = 2;
const NONE_CALLS_PERCENT: u64 = 20;
/// Least share of series on a place of their own, in percent. Objects that a loop makes and drops
/// are at the same few places in all series.
const APART_PERCENT: u64 = 50;
/// Word in the facts of a function that gets nothing but its subject.
const SUBJECT_ONLY: &str = "subject_only";

/// Calls of a site for one cause on one subject, if they have one.
type Series = (EventId, SiteId, Option<Subject>);

/// Detector of calls that are repeated in vain.
#[derive(Default)]
pub(super) struct Retried {
    /// Series that began with a failure.
    open: Recent<Series, Attempts>,
    sites: BySite<OfSite>,
    /// First failed call of each site, if it is on a place.
    on_places: Vec<EventId>,
    /// True for sites whose `None` may count as a failure.
    nones: BySite<bool>,
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
    /// True if a call of the site has failed.
    has_begun: bool,
    /// Repeated calls by subject.
    subjects: HashMap<Subject, u64>,
    /// Number of series without a subject.
    without_subject: u64,
    events: Vec<EventId>,
    /// First call of the series of each of the `events`.
    first: Vec<EventId>,
}

impl Detector for Retried {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let may_fail = |site: &SiteId| {
            context.failures_of(*site) > 0
                || context.survey.site(*site).failed > 0 && asks_subject_only(*site, context)
        };
        context.sites_with_events().filter(may_fail).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let Some(cause) = event.cause.event() else { continue };
            let of_site = self.sites.of(it.site);
            of_site.calls += 1;
            let series = (cause.id, it.site, it.subject);
            let mut is_none =
                || *self.nones.or_insert_with(it.site, || asks_subject_only(it.site, context));
            let failed = context.is_failure(event) || it.outcome == Outcome::Failed && is_none();
            if failed
                && !of_site.has_begun
                && it.subject.is_some_and(|subject| context.is_place(subject.kind))
            {
                self.on_places.push(it.id);
            }
            of_site.has_begun |= failed;
            // Most sites never fail.
            let begun = if of_site.has_begun { self.open.get_mut(&series) } else { None };
            match begun {
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
                    let first =
                        Attempts { has_failed: true, first: Some(it.id), ..Attempts::default() };
                    let forgotten = self.open.insert(series, first);
                    forgotten
                        .into_iter()
                        .for_each(|(series, attempts)| close(&mut self.sites, series, attempts));
                }
                None => {}
            }
        }
    }

    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        let missing =
            context.missing_failures().or_else(|| question::missing_part(&self.on_places, context));
        missing.or_else(|| context.missing_window())
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let Retried { open, mut sites, .. } = *self;
        open.into_entries().for_each(|(series, attempts)| close(&mut sites, series, attempts));
        sites.iter().filter_map(|(site, of_site)| finding(site, of_site, context)).collect()
    }
}

fn close(sites: &mut BySite<OfSite>, (_, site, subject): Series, attempts: Attempts) {
    if attempts.repeated == 0 {
        return;
    }
    let of_site = sites.of(site);
    of_site.series += 1;
    of_site.failed_series += u64::from(attempts.has_failed);
    of_site.repeated += attempts.repeated;
    of_site.ticks = of_site.ticks.saturating_add(attempts.ticks);
    let room = NAMED.saturating_sub(of_site.events.len());
    for event in attempts.events.into_iter().take(room) {
        of_site.events.push(event);
        of_site.first.extend(attempts.first);
    }
    match subject {
        Some(subject) => *of_site.subjects.entry(subject).or_default() += attempts.repeated,
        None => of_site.without_subject += 1,
    }
}

/// Returns true for a site whose `None` depends on its subject only.
fn asks_subject_only(site: SiteId, context: &Context<'_>) -> bool {
    context.store.site(site).is_some_and(|of| of.failure() == "none")
        && is_given_subject_only(site, context)
}

/// Returns true if the calls of a site get nothing but their subject.
fn is_given_subject_only(site: SiteId, context: &Context<'_>) -> bool {
    let site = context.store.site(site);
    site.is_some_and(|site| site.facts.split(' ').any(|word| word == SUBJECT_ONLY))
}

/// Returns true if a site reads its receiver and gets nothing else, and most series are on places
/// of their own. Then an address stands for one object as long as a series lasts.
fn reads_one_object(site: SiteId, found: &OfSite, context: &Context<'_>) -> bool {
    let places = found.subjects.len() as u64;
    let Some(facts) = context.facts(site) else { return false };
    let has_no_arguments = is_given_subject_only(site, context)
        || facts.shows_inputs && question::have_no_arguments(&found.events, context);
    has_no_arguments
        && facts.self_kind == SelfKind::Ref
        && places >= PLACES as u64
        && is_share(places, found.series, APART_PERCENT)
}

/// Returns true if each of these series repeats the same call. Without a subject, and on values,
/// which move, recorded arguments and the error show it.
fn is_the_same(site: SiteId, found: &OfSite, context: &Context<'_>) -> bool {
    if found.without_subject == 0
        && question::is_asked_again(found.subjects.keys(), &found.events, &found.first, context)
    {
        return true;
    }
    if found.without_subject == 0 && reads_one_object(site, found, context) {
        return !question::have_other_answers(&found.events, &found.first, context);
    }
    if found.without_subject == 0
        && question::have_the_same_receiver(&found.events, &found.first, context)
    {
        return true;
    }
    let places: HashSet<Subject> = match found.without_subject {
        0 => context
            .pairs
            .iter()
            .filter(|(of, _)| *of == site)
            .filter_map(|(_, subject)| subject)
            .collect(),
        _ => HashSet::default(),
    };
    (found.without_subject > 0 || places.len() >= PLACES)
        && question::have_the_same_answer(&found.events, &found.first, context)
}

fn finding(site: SiteId, found: &OfSite, context: &Context<'_>) -> Option<Finding> {
    let is_often = found.series >= SERIES && found.repeated * 100 >= found.calls * CALLS_PERCENT;
    if !is_often || found.failed_series * 100 < found.series * FAILED_PERCENT {
        return None;
    }
    let is_none = asks_subject_only(site, context);
    let is_in_vain = found.failed_series * 100 >= found.series * NONE_PERCENT
        && found.repeated >= found.series * NONE_REPEATED
        && found.repeated * 100 >= found.calls * NONE_CALLS_PERCENT
        && !found.subjects.keys().any(|subject| context.is_place(subject.kind));
    if is_none && !is_in_vain
        || context.are_of_tests(&found.events)
        || !is_the_same(site, found, context)
    {
        return None;
    }
    let name = context.name(site);
    let title = if is_none {
        format!("{name} returns `None`, is repeated, and returns `None` again")
    } else {
        format!("{name} fails, is repeated, and fails again")
    };
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
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
    let has_values = question::have_values(&found.events, context);
    let unknown = if has_values { "in what is not recorded of them" } else { "in their arguments" };
    finding.certainty =
        Certainty::Estimated(format!("the counts are exact; the calls may differ {unknown}"));
    if !has_values {
        finding.needs = question::NEEDS.to_owned();
    }
    finding.advice =
        "pass the failure on at once if its reason lasts, or wait longer before each further call"
            .to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Handles 40 requests with `attempts` fetches each. `fails` decides by request and attempt
    /// whether a fetch fails.
    fn check(attempts: u64, fails: impl Fn(u64, u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for request in 0..40 {
            run.call("web::handle", None, |run| {
                for attempt in 0..attempts {
                    let outcome =
                        if fails(request, attempt) { Outcome::Failed } else { Outcome::Succeeded };
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

    /// Asks ten cells three times each in 40 requests, and each call fails. `reason` is the
    /// recorded argument.
    fn check_cells(
        self_kind: &str,
        request: &str,
        reason: Option<fn(u64) -> u64>,
        expected: usize,
    ) {
        let mut run = Run::new();
        run.function("web", "web::Cell::ask", &format!("type=Cell self={self_kind}"));
        run.function("web", "web::handle", request);
        run.at_places();
        for cell in (0..4).flat_map(|_| 0..10) {
            run.call("web::handle", None, |run| {
                for attempt in 0..3 {
                    let call = run
                        .ended_call("web::Cell::ask", cell, Outcome::Failed, |run| run.work(100));
                    if let Some(reason) = reason {
                        run.argument(call, "reason", &reason(attempt).to_string());
                    }
                }
            });
        }
        assert_eq!(run.found(Retried::default()).len(), expected);
    }

    /// Pushes each of 40 doors five times. Every second door opens at the push `opens`.
    fn check_doors(facts: &str, opens: u64, expected: &[&str]) {
        let mut run = Run::new();
        run.function("hall", "hall::push", facts);
        for door in 0..40 {
            run.call("hall::enter", None, |run| {
                for push in 0..5 {
                    let outcome = if door % 2 == 0 && push >= opens {
                        Outcome::Succeeded
                    } else {
                        Outcome::Failed
                    };
                    run.ended_call("hall::push", door, outcome, |run| run.work(100));
                }
            });
        }
        assert_eq!(run.found(Retried::default()), expected);
    }

    #[test]
    fn a_none_that_stays_is_found_where_the_subject_is_all_that_is_asked() {
        let found = "push returns `None`, is repeated, and returns `None` again: \
                     repeated_calls=80 calls=200 series=20 failed_series=20";
        check_doors("self=none option subject_only", 0, &[found]);
        check_doors("self=none option subject_only", 3, &[]);
        check_doors("self=none option", 0, &[]);
    }

    /// Sends each of 40 messages four times, to a function that has no subject or whose receiver is
    /// a value at one of `places`. `reason` is the recorded error.
    fn check_sends(
        places: Option<u64>,
        message: impl Fn(u64, u64) -> u64,
        reason: &str,
        expected: usize,
    ) {
        let mut run = Run::new();
        run.function("mail", "mail::send", "self=ref result");
        run.at_places();
        for number in 0..40 {
            run.call("mail::deliver", None, |run| {
                for attempt in 0..4 {
                    let place = places.map(|places| number % places);
                    let call =
                        run.ended_call("mail::send", place, Outcome::Failed, |run| run.work(100));
                    run.argument(call, "message", &message(number, attempt).to_string());
                    run.returned(call, reason);
                }
            });
        }
        assert_eq!(run.found(Retried::default()).len(), expected);
    }

    #[test]
    fn equal_arguments_and_errors_stand_for_a_subject() {
        check_sends(None, |number, _| number, "Err(\"refused\")", 1);
        check_sends(Some(10), |number, _| number, "Err(\"refused\")", 1);
        check_sends(None, |number, attempt| number + attempt, "Err(\"refused\")", 0);
        check_sends(None, |number, _| number, "?", 0);
        check_sends(Some(2), |number, _| number, "Err(\"refused\")", 0);
    }

    #[test]
    fn a_place_is_asked_again_if_its_arguments_are_equal() {
        check_cells("mut", "self=none", Some(|_| 7), 1);
        check_cells("mut", "self=none", Some(|attempt| attempt), 0);
        check_cells("mut", "self=none", None, 0);
        check_cells("ref", "self=none", Some(|_| 7), 0);
        check_cells("mut", "test", Some(|_| 7), 0);
    }

    /// Checks each of 40 records three times, by a method with these facts. The records are at
    /// `places` places.
    fn check_records(facts: &str, places: u64, expected: usize) {
        check_records_with(facts, places, |_, _| {}, expected);
    }

    /// Checks the records as [`check_records`] does. `note` records the values of a call.
    fn check_records_with(facts: &str, places: u64, note: fn(&mut Run, EventId), expected: usize) {
        let mut run = Run::new();
        run.function("bank", "bank::Record::check", facts);
        run.at_places();
        for record in 0..40 {
            run.call("bank::load", None, |run| {
                for _ in 0..3 {
                    let call = run.ended_call(
                        "bank::Record::check",
                        record % places,
                        Outcome::Failed,
                        |run| run.work(100),
                    );
                    note(run, call);
                }
            });
        }
        assert_eq!(run.found(Retried::default()).len(), expected);
    }

    #[test]
    fn a_place_of_its_own_that_is_only_read_is_the_same_object() {
        check_records("type=Record self=ref result subject_only", 40, 1);
        check_records("type=Record self=ref result inputs", 40, 0);
        check_records("type=Record self=ref result subject_only", 10, 0);
        check_records("type=Record self=ref result", 40, 0);
        check_records("type=Record self=mut result subject_only", 40, 0);
        let inputs = "type=Record self=ref result inputs";
        check_records_with(inputs, 40, |run, call| run.argument(call, "self", "?"), 1);
        check_records_with(inputs, 40, |run, call| run.argument(call, "field", "?"), 0);
    }

    #[test]
    fn failures_that_hooks_do_not_see_are_named() {
        let partly = |facts: &str| {
            let mut run = Run::new();
            run.function("mail", "mail::send", facts);
            run.leaf("mail::send", None, 100);
            run.findings(Retried::default()).partly_looked_for.len()
        };
        assert_eq!((partly("self=none result unseen"), partly("self=none option unseen")), (1, 0));
        assert_eq!(partly("self=none result deep"), 0);
    }

    #[test]
    fn an_equal_receiver_that_is_shown_stands_for_its_place() {
        let found = |receiver: fn(u64) -> String| {
            let mut run = Run::new();
            run.function("mail", "mail::Server::send", "type=Server self=ref result");
            run.at_places();
            for _ in 0..40 {
                run.call("mail::deliver", None, |run| {
                    for attempt in 0..4 {
                        let call =
                            run.ended_call("mail::Server::send", 1, Outcome::Failed, |run| {
                                run.work(100)
                            });
                        run.argument(call, "self", &receiver(attempt));
                        run.returned(call, "Err(\"refused\")");
                    }
                });
            }
            run.found(Retried::default()).len()
        };
        assert_eq!(found(|_| "Server { port: 25 }".into()), 1);
        assert_eq!(found(|attempt| format!("Server {{ port: {attempt} }}")), 0);
        assert_eq!(found(|_| "?".into()), 0);
    }
}
