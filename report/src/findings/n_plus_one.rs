//! `n+1`: a call waits for the same site once for each of many subjects, one after another.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::call_graph::CallGraph;
use super::finding::NAMED;
use super::map::{HashMap, HashSet};
use super::open_calls::OpenCalls;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "n+1";
/// Least number of effects of a call, one after another.
const EFFECTS: u64 = 5;
/// Maximum number of effects of a call. A call with more is a service, which goes on for as long as the program.
const EFFECTS_MAX: usize = 10_000;
/// Least number of calls with so many effects.
const CALLS: u64 = 3;
/// Least share of the call's time that the effects take, in percent.
const PERCENT: u64 = 30;
/// Least share of the effects' time in which they wait, in percent.
const WAITING_PERCENT: u64 = 50;
/// Least share of calls that take their time before the first effect, in percent, if they wait for nothing else there.
const PREPARING_PERCENT: u64 = 80;

/// Detector of waiting in a loop.
#[derive(Default)]
pub(super) struct NPlusOne {
    open: OpenCalls<Call>,
    loops: HashMap<(SiteId, SiteId), Loops>,
    graph: CallGraph,
}

/// Call that runs, and its effects at sites that may wait.
struct Call {
    site: SiteId,
    start: u64,
    span: u64,
    effects: Vec<Effects>,
}

/// Effects of a call at a site.
struct Effects {
    site: SiteId,
    first: EventId,
    count: u64,
    start: u64,
    /// End of the effects so far.
    end: u64,
    ticks: u64,
    longest: u64,
    subjects: Vec<Subject>,
    /// True if two of them overlap.
    is_parallel: bool,
    /// True if the call waited for something else before the first of them.
    follows: Option<SiteId>,
}

/// Calls of a site whose effects wait one after another.
#[derive(Default)]
struct Loops {
    calls: u64,
    effects: u64,
    ticks: u64,
    /// Time that remains if the call waits once.
    longest: u64,
    /// Calls that had waited for another site before, and the last of these.
    following: u64,
    follows: Option<SiteId>,
    /// Calls whose own time before the first effect is as long as an effect.
    preparing: u64,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
}

impl Detector for NPlusOne {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        let NPlusOne { open, loops, graph } = self;
        for event in events {
            open.close(event, |call| close(call, loops));
            let it = &event.event;
            let kind = context.site_kind(it.site);
            let waits = matches!(kind, SiteKind::Async | SiteKind::Span);
            if let Some(cause) = event.cause.event() {
                graph.add(cause.site, it.site);
                if waits && let Some((call, _)) = open.cause_of(event) {
                    call.add(event);
                }
            }
            if let Some(span) = it.span {
                let call = Call { site: it.site, start: it.start, span, effects: Vec::new() };
                open.open(event, kind.is_entered(), call);
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let NPlusOne { open, loops, graph } = &mut *self;
        open.finish(|call| close(call, loops));
        let findings = loops.iter().filter(|((from, to), _)| !graph.is_recursive(*from, *to));
        findings.filter_map(|(&(from, to), found)| finding(from, to, found, context)).collect()
    }
}

impl Call {
    fn add(&mut self, effect: &ResolvedEvent) {
        let it = &effect.event;
        let end = it.start.saturating_add(it.span.unwrap_or(u64::MAX));
        let Some(found) = self.effects.iter_mut().find(|effects| effects.site == it.site) else {
            let follows = self.effects.iter().rfind(|effects| effects.end <= it.start).map(|effects| effects.site);
            self.effects.push(Effects {
                site: it.site,
                first: it.id,
                count: 1,
                start: it.start,
                end,
                ticks: it.span.unwrap_or(0),
                longest: it.span.unwrap_or(0),
                subjects: it.subject.into_iter().collect(),
                is_parallel: false,
                follows,
            });
            return;
        };
        found.count += 1;
        found.is_parallel |= it.start < found.end;
        found.end = found.end.max(end);
        found.ticks = found.ticks.saturating_add(it.span.unwrap_or(0));
        found.longest = found.longest.max(it.span.unwrap_or(0));
        if found.subjects.len() < EFFECTS_MAX {
            found.subjects.extend(it.subject);
        }
    }
}

fn close(call: Call, loops: &mut HashMap<(SiteId, SiteId), Loops>) {
    for effects in call.effects {
        let subjects: HashSet<Subject> = effects.subjects.iter().copied().collect();
        let is_loop = effects.count >= EFFECTS && !effects.is_parallel && subjects.len() as u64 == effects.count;
        if !is_loop || effects.site == call.site || effects.ticks * 100 < call.span * PERCENT {
            continue;
        }
        let found = loops.entry((call.site, effects.site)).or_default();
        found.calls += 1;
        found.effects += effects.count;
        found.ticks = found.ticks.saturating_add(effects.ticks);
        found.longest = found.longest.saturating_add(effects.longest);
        found.following += u64::from(effects.follows.is_some());
        found.follows = found.follows.or(effects.follows);
        found.preparing += u64::from((effects.start - call.start) * effects.count * 2 >= effects.ticks);
        subjects.into_iter().for_each(|subject| *found.subjects.entry(subject).or_default() += 1);
        if found.events.len() < NAMED {
            found.events.push(effects.first);
        }
    }
}

fn finding(from: SiteId, to: SiteId, found: &Loops, context: &Context<'_>) -> Option<Finding> {
    // What is asked for must be known before the first answer. Where nothing was asked before, each answer may lead to
    // the next question, as the pages of a long list do.
    let follows = found.follows.filter(|_| found.following == found.calls);
    let is_known_before = follows.is_some() || found.preparing * 100 >= found.calls * PREPARING_PERCENT;
    if found.calls < CALLS || !is_known_before || !waits(&found.events, context) {
        return None;
    }
    let (name, effect) = (context.name(from), context.name(to));
    let title = format!("{name} waits for {effect} once for each subject, one after another");
    let mut finding = Finding::new(KIND, title, vec![context.site(to), context.site(from)]);
    finding.sites.extend(innermost(to, &found.events, context).map(|site| context.site(site)));
    finding.subjects = context.subjects(&found.subjects);
    let saved = context.ns(found.ticks - found.longest);
    finding.cost = Cost::of_waiting(saved, found.effects);
    finding.evidence = Evidence {
        text: format!(
            "{} calls of {name} wait for {} calls of {effect} on different subjects, which never overlap: {} in all, and \
             {} if each call waited only once, for the longest.",
            grouped(found.calls),
            grouped(found.effects),
            time(context.ns(found.ticks)),
            time(context.ns(found.longest)),
        ),
        numbers: vec![("calls", found.calls), ("effects", found.effects)],
        events: found.events.clone(),
        filter: context.filter(to),
    };
    finding.certainty = match follows {
        Some(first) => context
            .counted(&format!("counts exact; {} had ended before the first of them in each call", context.name(first))),
        None => Certainty::Estimated(
            "the counts are exact; that all subjects were known before the first of the calls is not recorded"
                .to_owned(),
        ),
    };
    finding.advice = format!("ask once for all subjects, or wait for all calls of {effect} at once");
    Some(finding)
}

/// Returns true if these calls wait for most of their time.
fn waits(calls: &[EventId], context: &Context<'_>) -> bool {
    let (mut busy, mut span) = (0, 0);
    for &id in calls {
        let polls = context.store.polls(id);
        let ticks = context.store.event(id).and_then(|event| event.span);
        if let (Some(polls), Some(ticks)) = (polls, ticks) {
            busy += polls.busy_ticks;
            span += ticks;
        }
    }
    span > 0 && busy * 100 <= span * (100 - WAITING_PERCENT)
}

/// Returns the site below `site` that these calls wait for in turn, if it is one and the same.
fn innermost(site: SiteId, calls: &[EventId], context: &Context<'_>) -> Option<SiteId> {
    let mut inner = None;
    for &id in calls {
        let effects = context.store.effects(id);
        let [effect] = effects[..] else { return None };
        let effect = context.store.event(effect)?;
        let is_other = inner.is_some_and(|inner| inner != effect.site);
        if is_other || effect.site == site || context.site_kind(effect.site) != SiteKind::Async {
            return None;
        }
        inner = Some(effect.site);
    }
    inner
}

#[cfg(test)]
mod tests {
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Runs ten pages of a shop, whose orders are asked for as `orders` says.
    fn check(orders: impl Fn(&mut Run, u64), expected: &[&str]) {
        let mut run = Run::new();
        for site in ["shop::page", "shop::orders", "shop::customer", "shop::other"] {
            run.site(site, SiteKind::Async);
        }
        for page in 0..10 {
            run.call("shop::page", None, |run| orders(run, page));
        }
        assert_eq!(run.found(NPlusOne::default()), expected);
    }

    fn wait(run: &mut Run, path: &str, node: impl Into<Option<u64>>) {
        run.polled(path, node, Outcome::Returned, 2, 1_000, |run| run.work(1_000_000));
    }

    #[test]
    fn a_query_for_each_order_is_found() {
        let title = "page waits for customer once for each subject, one after another";
        let asks = |run: &mut Run, page| {
            wait(run, "shop::orders", None);
            (0..8).for_each(|order| wait(run, "shop::customer", page * 8 + order));
        };
        check(asks, &[&format!("{title}: calls=10 effects=80")]);
    }

    #[test]
    fn one_query_for_all_is_silent() {
        let asks = |run: &mut Run, page| {
            wait(run, "shop::orders", None);
            wait(run, "shop::customer", page);
        };
        check(asks, &[]);
    }

    #[test]
    fn paging_by_a_cursor_is_silent() {
        check(|run, page| (0..8).for_each(|cursor| wait(run, "shop::customer", page * 8 + cursor)), &[]);
    }

    #[test]
    fn polling_one_subject_and_work_without_waiting_are_silent() {
        let polls = |run: &mut Run, page| {
            wait(run, "shop::orders", None);
            (0..8).for_each(|_| wait(run, "shop::customer", page));
        };
        check(polls, &[]);
        let works = |run: &mut Run, page| {
            wait(run, "shop::orders", None);
            for order in 0..8 {
                let work = |run: &mut Run| run.work(1_000_000);
                run.polled("shop::customer", page * 8 + order, Outcome::Returned, 1, 1_000_000, work);
            }
        };
        check(works, &[]);
    }

    #[test]
    fn queries_side_by_side_are_silent() {
        let asks = |run: &mut Run, page| {
            wait(run, "shop::orders", None);
            let began = run.now;
            for order in 0..8 {
                run.now = began;
                wait(run, "shop::customer", page * 8 + order);
            }
        };
        check(asks, &[]);
    }

    #[test]
    fn a_walk_over_a_tree_is_silent() {
        fn visit(run: &mut Run, node: u64, depth: u64) {
            run.polled("shop::page", node, Outcome::Returned, 2, 1_000, |run| {
                wait(run, "shop::orders", None);
                run.polled("shop::other", node, Outcome::Returned, 2, 1_000, |run| {
                    (0..6).filter(|_| depth > 0).for_each(|child| visit(run, node * 6 + child + 1, depth - 1));
                });
            });
        }
        check(|run, page| visit(run, page * 100, 1), &[]);
    }
}
