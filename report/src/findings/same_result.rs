//! `same-result`: a method returns the same value for its receiver each time.
//!
//! The profile of returned values names the methods. Recorded values tell which of them are worth a
//! cache: their questions recur, and their answers are more than the news that there is nothing to
//! do.

use metaspy_format::facts::SelfKind;
use metaspy_probe::SiteId;
use metaspy_reader::{EventId, ResolvedEvent};

use super::coverage::is_measured;
use super::finding::{NAMED, is_share};
use super::map::{BySite, HashMap, HashSet};
use super::question::Values;
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding, FoundSite};
use crate::coverage::{LEAST, constants, is_cache, test_command};
use crate::program::Element;
use crate::text::{grouped, short_path, time};

/// Word of the kind.
const KIND: &str = "same-result";
/// Least number of calls of a method, and of repeated questions among its compared calls.
const CALLS: u64 = 20;
/// Maximum number of calls of a method that are compared.
const COMPARED: usize = 512;
/// Least share of the compared calls that ask again and get the same answer, in percent.
const AGAIN_PERCENT: u64 = 50;
/// Least median of the calls that ask again, in nanoseconds. Remembering the answer costs time,
/// too.
const CALL_NS: u64 = 5_000;

/// Detector of methods that return the same value each time.
#[derive(Default)]
pub(super) struct SameResult {
    /// First calls of each method that may have a finding.
    calls: BySite<Vec<EventId>>,
}

impl Detector for SameResult {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        let has_values = is_measured(context)
            && context
                .program()
                .methods()
                .filter_map(|it| it.method.as_deref())
                .any(|it| it.profile.returns.is_some());
        (!has_values).then(|| {
            "it has no profile of returned values: record with `cargo metaspy run --returns`"
                .to_owned()
        })
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        candidates(context).iter().filter_map(|it| it.site()).collect()
    }

    fn read(&mut self, events: &[&ResolvedEvent], _: &Context<'_>) {
        for it in events.iter().map(|event| &event.event).filter(|it| it.span.is_some()) {
            let calls = self.calls.of(it.site);
            if calls.len() < COMPARED {
                calls.push(it.id);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let find = |element: &Element| finding(element, &self.calls, context);
        candidates(context).into_iter().filter_map(find).collect()
    }
}

/// Returns the methods that return the same value each time and are no caches.
fn candidates<'c>(context: &'c Context<'_>) -> Vec<&'c Element> {
    let program = context.program();
    let is_cache = |element: &Element| {
        let owner = element.under.map_or("", |under| &program.elements[under].name);
        element.method.as_deref().is_none_or(|method| is_cache(method, &element.name, owner))
    };
    let methods = constants(program).into_iter().flat_map(|found| found.constant);
    methods.filter(|method| method.measure.count >= CALLS.max(LEAST) && !is_cache(method)).collect()
}

fn finding(
    element: &Element,
    calls: &BySite<Vec<EventId>>,
    context: &Context<'_>,
) -> Option<Finding> {
    let method = element.method.as_deref()?;
    let count = element.measure.count;
    let path = element.path_text();
    let site = element.site();
    let found_site = site.map_or_else(|| FoundSite::of_path(path), |site| context.site(site));
    let has_receiver = site
        .and_then(|site| context.facts(site))
        .is_none_or(|facts| facts.self_kind != SelfKind::None);
    let of_what = if has_receiver { " for its receiver" } else { "" };
    let name = site.map_or_else(|| short_path(path), |site| context.name(site));
    let title = format!("{name} returns the same value{of_what} each time");
    let mut finding = Finding::new(KIND, title, vec![found_site]);
    let total_ns = element.total_ticks().map(|ticks| context.ns(ticks)).or(method.profile.total_ns);
    // Shares are shares of the events, so only calls that are recorded as events have a share.
    let is_whole = context.totals.stored == context.totals.emitted;
    let again =
        site.and_then(|site| Again::of(calls.get(site)?, site, context)).filter(|_| is_whole);
    if let (Some(ns), Some(again)) = (total_ns, again) {
        let saved = u128::from(ns) * u128::from(again.count) / u128::from(again.compared);
        finding.cost = Cost { time_ns: Some(saved as u64), ..Cost::default() };
        finding.evidence.events = again.events;
    }
    let sign = element.measure.sign();
    let total_sign = element.measure.total_sign();
    let took =
        total_ns.map_or_else(String::new, |ns| format!(", which take {total_sign}{}", time(ns)));
    let made = grouped(method.profile.calls);
    finding.evidence = Evidence {
        text: format!("{sign}{} calls{took}; {made} calls that they make.", grouped(count)),
        numbers: vec![("calls", count), ("made", method.profile.calls)],
        filter: context.filter(site?),
        ..finding.evidence
    };
    finding.certainty = Certainty::Estimated(
        "the values of this run are equal; those of another one may change".to_owned(),
    );
    finding.advice = format!(
        "keep the value where it is made. Then test: {}",
        test_command(path, &method.profile.tests)
    );
    Some(finding)
}

/// Returns true for an answer that is the name of a variant. Such a setting is looked up, and not
/// computed.
fn is_word(answer: &str) -> bool {
    answer.chars().all(|letter| letter.is_alphabetic() || letter == '_')
}

/// Compared calls of a method that ask again and get the same answer.
struct Again {
    compared: u64,
    count: u64,
    events: Vec<EventId>,
}

impl Again {
    /// Compares calls by their receivers, arguments and results. Returns `None` unless a cache is
    /// worth its cost.
    fn of(calls: &[EventId], site: SiteId, context: &Context<'_>) -> Option<Again> {
        let facts = context.facts(site)?;
        let waits = context.waits_in_source(site);
        // A method that changes its receiver, or asks the world outside, is called for more than
        // its value.
        if !matches!(facts.self_kind, SelfKind::Ref | SelfKind::None | SelfKind::Value) || waits {
            return None;
        }
        let mut answers = HashMap::default();
        let mut found = Again { compared: 0, count: 0, events: Vec::new() };
        let mut ticks = Samples::default();
        for &id in calls {
            let (Some(event), Some(values)) = (context.store.event(id), Values::of(id, context))
            else {
                continue;
            };
            let Some(answer) = values.answer().filter(|answer| !is_word(answer)).map(str::to_owned)
            else {
                continue;
            };
            found.compared += 1;
            let question = (event.subject, values.arguments);
            if question == (None, Vec::new()) {
                continue;
            }
            let before = answers.insert(question, answer.clone());
            if before == Some(answer) {
                found.count += 1;
                ticks.add(event.span.unwrap_or(0));
                found.events.push(id);
            }
        }
        found.events.truncate(NAMED);
        let different = answers.values().collect::<HashSet<_>>().len();
        // One value for all arguments is a constant, or a check that passes.
        let is_telling = different > 1 || facts.self_kind == SelfKind::Ref;
        let is_again =
            found.count >= CALLS && is_share(found.count, calls.len() as u64, AGAIN_PERCENT);
        let is_costly = context.ns(ticks.median()) >= CALL_NS;
        (is_telling && is_again && is_costly && !context.are_of_tests(&found.events))
            .then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use metaspy_reader::UnitRule;

    use super::super::Config;
    use super::super::testing::Run;
    use super::*;

    /// Renders 30 posts four times by a method with these facts, which takes `ns` nanoseconds and
    /// returns `answer` of the post. Returns the number of calls that ask again, if a cache is
    /// worth it.
    fn check(facts: &str, ns: u64, answer: impl Fn(u64) -> String) -> Option<u64> {
        let mut run = Run::new();
        run.function("blog", "blog::Post::render", facts);
        run.at_places();
        let mut calls = Vec::new();
        for post in (0..4).flat_map(|_| 0..30) {
            let call = run.leaf("blog::Post::render", post, ns);
            run.returned(call, &answer(post));
            calls.push(call);
        }
        let store = run.store();
        let scan = store.resolved(&UnitRule::default());
        let config = Config::default();
        let context = Context::new(&store, &config, scan.survey());
        let site = store.event(calls[0]).expect("it was recorded").site;
        Again::of(&calls, site, &context).map(|again| again.count)
    }

    #[test]
    fn costly_answers_that_are_asked_for_again_are_worth_a_cache() {
        assert_eq!(check("type=Post self=ref", 9_000, |post| format!("<p>{post}</p>")), Some(90));
        assert_eq!(check("type=Post self=ref", 9_000, |_| "<p></p>".to_owned()), Some(90));
    }

    #[test]
    fn checks_that_pass_cheap_calls_changes_constants_and_waiting_are_not() {
        let page = |post| format!("<p>{post}</p>");
        assert_eq!(check("type=Post self=ref", 9_000, |_| "false".to_owned()), None);
        assert_eq!(check("type=Post self=ref", 9_000, |_| "Lenient".to_owned()), None);
        assert_eq!(check("type=Post self=ref", 900, page), None);
        assert_eq!(check("type=Post self=mut", 9_000, page), None);
        assert_eq!(check("type=Post self=ref waits", 9_000, page), None);
        assert_eq!(check("self=none", 9_000, |_| "<p></p>".to_owned()), None);
        assert_eq!(check("type=Post self=ref test", 9_000, page), None);
    }
}
