//! `repeated`: a call runs again on the same subject in the same unit of work, and nothing happened
//! to the subject in between.

use metaspy_format::facts::SelfKind;
use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::last_calls::{LastCall, LastCalls};
use super::map::BySite;
use super::question;
use super::recent::Recent;
use super::repeats::{Repeats, asks_more, is_change_unknown, may_be_needed};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Word of the kind.
pub(super) const KIND: &str = "repeated";
/// Least number of repeated calls of a site.
const CALLS: u64 = 20;
/// Least number of subjects with repeated calls. A single canvas or connection is used again by
/// nature.
const SUBJECTS: u64 = 8;
/// Least share of repeated calls among the calls of the site, in percent.
const PERCENT: u64 = 10;
/// Largest share of repeated calls that ended otherwise than the call before, in percent. Such
/// calls depend on more than the subject, as polls do.
const OTHERWISE_PERCENT: u64 = 5;
/// Least share of the work that the repeated calls take, in percent. A call that costs nothing is
/// not worth keeping.
const WORK_PERCENT: u64 = 5;
/// A repeated call that finds its result takes less than the first calls by at least this factor.
const KEPT: u64 = 4;
/// Share of pairs of a subject and a unit of work with the same number of calls, from which on the
/// repetition is planned, in percent. Steps of a simulation and passes are planned.
const EQUAL_PERCENT: u64 = 95;
/// Detector of repeated calls.
#[derive(Default)]
pub(super) struct Repeated {
    /// Last calls on each subject.
    last: LastCalls,
    sites: BySite<Repeats>,
    /// Kind of `self` of each method.
    selves: BySite<SelfKind>,
    /// True for functions that are given more than their subject.
    asks_more: BySite<bool>,
    /// The last subject of which an event asked such a function.
    asked: Recent<(EventId, SiteId), Subject>,
    /// First call of each site on a place that it only reads.
    on_places: BySite<Option<EventId>>,
    /// Number of changes and announcements so far. They may concern any subject.
    changes: u64,
}

impl Detector for Repeated {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // A lost call may be the change.
        context.missing_calls()
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let kind = context.site_kind(event.event.site);
            if matches!(kind, SiteKind::Change | SiteKind::Announcement) {
                self.changes += 1;
            }
            if let (Some(subject), Some(row)) = (event.event.subject, event.subject_row) {
                self.touch(event, subject, row, kind, context);
            }
        }
    }

    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        let change = "methods that take `&mut self` are compared by their values, which are not recorded: record with \
                      METASPY_DETAILS=1, and `#[observe(args(…), ret)]` or --args --returns";
        let mut repeated = self.sites.iter().filter(|(_, of_site)| of_site.repeats >= CALLS);
        let mut is_unknown =
            || repeated.any(|(site, of_site)| is_change_unknown(site, of_site, context));
        let on_places: Vec<EventId> = self.on_places.iter().filter_map(|(_, call)| *call).collect();
        question::missing_part(&on_places, context)
            .or_else(|| is_unknown().then(|| change.to_owned()))
            .or_else(|| context.missing_window())
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let Repeated { last, sites, .. } = &mut *self;
        last.iter().for_each(|call| settle(sites, call));
        self.sites.iter().filter_map(|(site, repeats)| finding(site, repeats, context)).collect()
    }
}

impl Repeated {
    fn touch(
        &mut self,
        event: &ResolvedEvent,
        subject: Subject,
        row: u32,
        kind: SiteKind,
        context: &Context<'_>,
    ) {
        let it = &event.event;
        let Repeated { last, sites, selves, .. } = self;
        let mut self_kind = |site| {
            *selves.or_insert_with(site, || {
                context.facts(site).map(|facts| facts.self_kind).unwrap_or_default()
            })
        };
        let is_call = matches!(kind, SiteKind::Method | SiteKind::Async);
        let span = it.span.filter(|_| is_call);
        let unit = event.unit.filter(|_| span.is_some() && context.is_whole_since(event));
        let before = last.pass(row, it.site, |call| {
            // Effects of a call on its own subject are a part of the call.
            let is_caused = event.cause.event().is_some_and(|cause| cause.id == call.id);
            let is_inside = call.lane == it.lane && it.start < call.end;
            if !(call.site == it.site || call.is_touched_often || is_caused || is_inside) {
                call.is_touched_often = call.touched.is_some();
                call.touched = call.touched.or(Some(it.id));
            }
        });
        if is_call && context.is_place(subject.kind) && self_kind(it.site) != SelfKind::Mut {
            self.on_places.of(it.site).get_or_insert(it.id);
        }
        let Some(span) = span else { return };
        let Some(unit) = unit else {
            before.into_iter().for_each(|at| last.remove(at));
            return;
        };
        let asks_more = *self.asks_more.or_insert_with(it.site, || asks_more(it.site, context));
        let cause = event.cause.event().map(|cause| cause.id);
        let is_of_others_between = cause.filter(|_| asks_more).is_some_and(|cause| {
            match self.asked.get_mut(&(cause, it.site)) {
                Some(last) => std::mem::replace(last, subject) != subject,
                None => {
                    self.asked.insert((cause, it.site), subject);
                    false
                }
            }
        });
        let repeats = sites.of(it.site);
        repeats.calls += 1;
        let call = LastCall {
            site: it.site,
            id: it.id,
            unit: Some(unit.id),
            lane: it.lane,
            end: it.start.saturating_add(span),
            outcome: it.outcome,
            changes: self.changes,
            touched: None,
            is_touched_often: false,
            cause,
            caller: event.cause.event().map(|cause| cause.site),
            calls: 1,
            is_again: false,
            row,
            next: 0,
        };
        match before {
            // The call before has not ended: this is recursion, or another thread.
            Some(at) if it.start < last[at].end => {}
            Some(at) => {
                let before = last.replace(at, call);
                if before.unit != Some(unit.id) {
                    repeats.first.add(event.self_ticks.unwrap_or(0));
                    *repeats.numbers.entry(before.calls.into()).or_default() += 1;
                    return;
                }
                last[at].calls += before.calls;
                // A question about the subject asks for the call, and cannot change the subject.
                let is_touched = before.is_touched_often
                    || before.touched.is_some_and(|id| {
                        let cause = event.cause.event().filter(|cause| cause.id == id);
                        cause.is_none_or(|cause| self_kind(cause.site) != SelfKind::Ref)
                    });
                // A call around the one before may change the subject until it ends.
                let is_changed_around = last.has(row, |call| {
                    let is_around =
                        call.lane == before.lane && call.end >= before.end && call.end <= it.start;
                    is_around && call.site != it.site && self_kind(call.site) == SelfKind::Mut
                });
                let is_same = before.changes == self.changes && !is_touched && !is_changed_around;
                // A call that failed is not repeated for its result.
                let has_result = matches!(before.outcome, Outcome::Returned | Outcome::Succeeded);
                if is_same && has_result && event.links.is_empty() {
                    repeats.others += u64::from(before.caller != last[at].caller);
                    last[at].is_again = before.cause == cause;
                    let is_in_loop = last[at].is_again && (before.is_again || is_of_others_between);
                    repeats.in_loops += u64::from(asks_more && is_in_loop);
                    repeats.add(event, subject, before.id, before.outcome);
                }
            }
            None => {
                if last.insert(call) {
                    repeats.first.add(event.self_ticks.unwrap_or(0));
                }
            }
        }
    }
}

/// Counts the calls on a subject in a unit of work.
fn settle(sites: &mut BySite<Repeats>, call: &LastCall) {
    if let Some(repeats) = sites.get_mut(call.site) {
        *repeats.numbers.entry(call.calls.into()).or_default() += 1;
    }
}

fn finding(site: SiteId, found: &Repeats, context: &Context<'_>) -> Option<Finding> {
    let least_calls = context.config.at_least(KIND, "calls", CALLS);
    let least_subjects = context.config.at_least(KIND, "subjects", SUBJECTS);
    let is_rare = found.repeats < least_calls || found.repeats * 100 < found.calls * PERCENT;
    let is_otherwise = found.otherwise * 100 > found.repeats * OTHERWISE_PERCENT;
    let all: u64 = found.numbers.values().sum();
    let equal = found.numbers.values().max().copied().unwrap_or(0);
    // Callers that ask independently of each other have no plan.
    let is_by_plan = equal * 100 >= all * EQUAL_PERCENT && found.others * 2 <= found.repeats;
    // A call that finds its result costs a fraction of the first call.
    let is_kept = found.again.median() * KEPT < found.first.median();
    // The self time of async calls is not known.
    let is_cheap = is_kept
        || found.self_ticks == 0
        || found.self_ticks < context.survey.work_ticks / 100 * WORK_PERCENT;
    if is_rare
        || is_otherwise
        || is_by_plan
        || is_cheap
        || (found.subjects.len() as u64) < least_subjects
    {
        return None;
    }
    if may_be_needed(site, found, context) {
        return None;
    }
    let name = context.name(site);
    let unit = found
        .units
        .iter()
        .max_by_key(|&(site, count)| (count, *site))
        .map(|(unit, _)| context.name(*unit))?;
    let repeats = grouped(found.repeats);
    let calls = grouped(found.calls);
    let mut finding = Finding::new(
        KIND,
        format!("{name} runs again on the same subject although nothing happened to it"),
        vec![context.site(site)],
    );
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_work(context.ns(found.self_ticks), found.repeats);
    finding.evidence = Evidence {
        text: format!(
            "{repeats} of {calls} calls ({}) are on a subject for which {name} had ended in the same `{unit}`, and no \
             other event concerned the subject since; {} subjects.",
            percent(found.repeats, found.calls),
            grouped(found.subjects.len() as u64),
        ),
        numbers: vec![("repeated_calls", found.repeats), ("calls", found.calls)],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; that nothing else changed the result is known as far as it is observed".to_owned(),
    );
    if !question::have_values(&found.events, context) {
        finding.needs = question::NEEDS.to_owned();
    }
    finding.advice =
        format!("keep the result of {name} until the subject changes, or ask once for all callers");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::super::Config;
    use super::super::testing::Run;
    use super::*;

    /// Lays out 24 nodes in each of 30 frames, and half of them in each of `passes` passes.
    /// `between` runs between two passes.
    fn check(passes: u64, between: impl Fn(&mut Run, u64), expected: &[&str]) {
        let mut run = Run::new();
        run.site("page::changed", SiteKind::Announcement);
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                for pass in 0..passes {
                    for node in (0..24).filter(|node| pass == 0 || node % 2 == 0) {
                        run.call("page::Scene::layout", node, |run| run.work(1_000));
                        between(run, node);
                    }
                    run.work(pass);
                }
            });
        }
        assert_eq!(run.found(Repeated::default()), expected);
    }

    #[test]
    fn a_call_that_runs_again_in_a_frame_is_found() {
        let title = "Scene::layout runs again on the same subject although nothing happened to it";
        check(2, |_, _| {}, &[&format!("{title}: repeated_calls=360 calls=1080")]);
        check(1, |_, _| {}, &[]);
    }

    #[test]
    fn the_settings_have_the_least_number_of_calls() {
        let listed = |calls: u64| {
            let mut run = Run::new();
            for _ in 0..30 {
                run.call("page::frame", None, |run| {
                    (0..12)
                        .chain(0..8)
                        .for_each(|node| _ = run.leaf("page::Scene::layout", node, 1_000));
                });
            }
            let settings = format!("[findings.kinds.repeated]\nat-least = {{ calls = {calls} }}");
            let config = Config::parse(&settings, &[KIND]).expect("it is right");
            let found = run.findings_of(&config).found;
            found.iter().filter(|finding| finding.kind == KIND).count()
        };
        assert_eq!((listed(240), listed(241)), (1, 0));
    }

    #[test]
    fn an_event_on_the_subject_or_an_announcement_between_is_a_reason() {
        check(2, |run, node| _ = run.leaf("page::Scene::change", node, 10), &[]);
        check(2, |run, _| _ = run.instant("page::changed", None, None), &[]);
    }

    #[test]
    fn a_link_is_a_reason_and_a_call_on_another_thread_touches_the_subject() {
        let mut run = Run::new();
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                for node in 0..12 {
                    let change = run.leaf("page::Scene::layout", node, 10);
                    let again = run.leaf("page::Scene::layout", node, 10);
                    run.link(again, change);
                    run.leaf("page::Scene::measure", node, 100);
                    run.on(1);
                    run.because(None, "page::Font::load", node, |run| run.work(10));
                    run.on(0);
                    run.leaf("page::Scene::measure", node, 100);
                }
            });
        }
        assert_eq!(run.found(Repeated::default()), [] as [&str; 0]);
    }

    #[test]
    fn what_the_call_does_itself_is_no_reason() {
        let mut run = Run::new();
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                for node in (0..24).chain(0..12) {
                    run.call("page::Scene::layout", node, |run| {
                        run.work(200);
                        run.leaf("page::Scene::store", node, 100);
                    });
                }
            });
        }
        let findings = run.findings(Repeated::default());
        let titles: Vec<_> =
            findings.found.iter().map(|it| (it.sites[0].path.as_str(), it.implied_by)).collect();
        assert_eq!(titles, [("page::Scene::layout", None)]);
    }

    #[test]
    fn steps_of_a_simulation_and_calls_that_cost_nothing_are_silent() {
        let mut run = Run::new();
        for _ in 0..30 {
            run.call("game::frame", None, |run| {
                (0..4).for_each(|_| {
                    (0..12).for_each(|body| _ = run.leaf("game::Body::step", body, 1_000))
                });
                (0..12).chain(0..9).for_each(|body| _ = run.leaf("game::Body::mass", body, 10));
            });
        }
        assert_eq!(run.found(Repeated::default()), [] as [&str; 0]);
    }

    #[test]
    fn loops_that_may_ask_for_something_else_are_silent_and_asking_twice_is_found() {
        let drawn = |pages: u64, subjects: fn(u64) -> Range<u64>, page: Option<fn(u64) -> u64>| {
            let mut run = Run::new();
            run.function("page", "page::draw", "self=none more_arguments");
            for document in 0..40 {
                run.call("page::preview", document, |run| {
                    for page_number in 0..pages + document % 3 {
                        for of in subjects(document) {
                            let call = run.leaf("page::draw", of, 1_000);
                            if let Some(page) = page {
                                run.argument(call, "page", &page(page_number).to_string());
                            }
                        }
                    }
                });
            }
            run.found(Repeated::default()).len()
        };
        let own = |document| document..document + 1;
        assert_eq!(drawn(4, own, None), 0);
        assert_eq!(drawn(4, own, Some(|number| number)), 0);
        assert_eq!(drawn(4, own, Some(|_| 7)), 1);
        assert_eq!(drawn(1, own, None), 1);
        assert_eq!(drawn(1, |document| document..document + 9, None), 0);
    }

    #[test]
    fn recursion_and_a_single_canvas_are_silent() {
        let mut run = Run::new();
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                (0..50).for_each(|_| _ = run.leaf("page::Canvas::draw", 1, 100));
                for node in 0..12 {
                    run.call("page::visit", node, |run| _ = run.leaf("page::visit", node, 100));
                }
            });
        }
        assert_eq!(run.found(Repeated::default()), [] as [&str; 0]);
    }

    #[test]
    fn polls_that_end_otherwise_are_silent() {
        let mut run = Run::new();
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                for round in 0..3 {
                    for node in 0..12 {
                        let outcome = if round == 2 { Outcome::Succeeded } else { Outcome::Failed };
                        run.ended_call("page::Sensor::poll", node, outcome, |run| run.work(100));
                    }
                }
            });
        }
        assert_eq!(run.found(Repeated::default()), [] as [&str; 0]);
    }

    /// Measures 24 cells twice in each of 30 frames. `change` tells how a method takes a cell once
    /// at the end of a frame, and `width` is the recorded argument.
    fn check_cells(change: &str, width: Option<fn(u64) -> u64>, expected: &[&str]) {
        let mut run = Run::new();
        run.function("page", "page::Cell::measure", "type=Cell self=ref");
        run.function("page", "page::Cell::change", &format!("type=Cell self={change}"));
        run.at_places();
        for _ in 0..30 {
            run.call("page::frame", None, |run| {
                for (n, cell) in (0..24).chain((0..24).filter(|cell| cell % 2 == 0)).enumerate() {
                    let call = run.leaf("page::Cell::measure", cell, 1_000);
                    if let Some(width) = width {
                        run.argument(call, "width", &width(n as u64 / 24).to_string());
                    }
                }
                (0..24).for_each(|cell| _ = run.leaf("page::Cell::change", cell, 10));
            });
        }
        assert_eq!(run.found(Repeated::default()), expected);
    }

    #[test]
    fn the_variable_that_records_values_is_named_where_places_are_not_compared() {
        let partly = |argument: bool, at_places: bool| {
            let mut run = Run::new();
            if at_places {
                run.at_places();
            }
            let call = run.leaf("page::Cell::measure", 1, 1_000);
            if argument {
                run.argument(call, "width", "80");
            }
            run.findings(Repeated::default()).partly_looked_for
        };
        let named = partly(false, true);
        assert!(
            named[0].kind == KIND
                && named[0]
                    .why
                    .ends_with("record with METASPY_DETAILS=1, and weave with --args --returns"),
            "{named:?}"
        );
        assert_eq!((partly(true, true), partly(false, false)), (Vec::new(), Vec::new()));
    }

    #[test]
    fn places_whose_values_are_not_shown_are_named() {
        let partly = |value: &str| {
            let mut run = Run::new();
            run.at_places();
            let call = run.leaf("page::Cell::measure", 1, 1_000);
            run.returned(call, value);
            let findings = run.findings(Repeated::default());
            let found_nothing = findings.found_nothing().count();
            let why = findings
                .partly_looked_for
                .iter()
                .map(|it| it.why.contains("not shown (`?`)"))
                .collect::<Vec<_>>();
            (why, found_nothing)
        };
        assert_eq!(partly("?"), (vec![true], 0));
        assert_eq!(partly("80"), (vec![], 1));
    }

    #[test]
    fn a_place_is_one_object_if_its_calls_change_it_and_is_asked_the_same_if_the_arguments_are_equal()
     {
        let found = "Cell::measure runs again on the same subject although nothing happened to it: repeated_calls=360 calls=1080";
        check_cells("mut", Some(|_| 80), &[found]);
        check_cells("mut", Some(|pass| 80 + pass), &[]);
        check_cells("mut", None, &[]);
        check_cells("ref", Some(|_| 80), &[]);
    }

    #[test]
    fn what_takes_from_itself_or_stores_what_it_is_given_asks_nothing() {
        let found = |facts: &str, answer: Option<fn(u64) -> u64>| {
            let mut run = Run::new();
            run.function("text", "text::Node::next", facts);
            for _ in 0..30 {
                run.call("text::parse", None, |run| {
                    for (n, node) in (0..12).chain(0..8).enumerate() {
                        let call = run.leaf("text::Node::next", node, 1_000);
                        if let Some(answer) = answer {
                            run.returned(call, &answer(n as u64).to_string());
                        }
                    }
                });
            }
            let findings = run.findings(Repeated::default());
            (findings.found.len(), findings.partly_looked_for.len())
        };
        assert_eq!(found("type=Node self=mut", None), (0, 1));
        assert_eq!(found("type=Node self=mut", Some(|_| 70)), (1, 0));
        assert_eq!(found("type=Node self=mut unit", None), (1, 0));
        assert_eq!(found("type=Scene self=mut", None), (1, 0));
        assert_eq!(found("type=Scene self=mut unit more_arguments", None), (0, 1));
        assert_eq!(found("type=Node self=ref", Some(|n| n)), (0, 0));
    }

    #[test]
    fn a_call_around_the_one_before_may_change_the_subject_until_it_ends() {
        let found = |self_kind: &str| {
            let mut run = Run::new();
            run.function("bank", "bank::Bank::withdraw", &format!("type=Bank self={self_kind}"));
            for _ in 0..30 {
                run.call("bank::transfer", None, |run| {
                    for account in 0..12 {
                        run.call("bank::Bank::withdraw", account, |run| {
                            run.leaf("bank::Bank::balance", account, 1_000);
                        });
                        run.leaf("bank::Bank::balance", account, 1_000);
                    }
                });
            }
            run.found(Repeated::default()).len()
        };
        assert_eq!((found("ref"), found("mut")), (1, 0));
    }
}
