//! `n+1`: a call waits for the same site once for each of many subjects, one after another.
//!
//! An async call waits between its polls. Any other call waits in functions of std that its source
//! names, and for an answer that another thread sends it because of the call.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{Event, EventId, LaneId, ResolvedEvent};

use super::call_graph::CallGraph;
use super::finding::{NAMED, is_share};
use super::map::{BySite, HashMap, HashSet};
use super::neighbours::Neighbours;
use super::open_calls::OpenCalls;
use super::question::Values;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "n+1";
/// Least number of effects of a call, one after another.
const EFFECTS: u64 = 5;
/// Maximum number of effects of a call. A call with more is a service, which goes on for as long as
/// the program.
const EFFECTS_MAX: usize = 10_000;
/// Least number of calls with so many effects.
const CALLS: u64 = 3;
/// Least share of the call's time that the effects take, in percent.
const PERCENT: u64 = 30;
/// Least share of the effects' time in which they wait, in percent.
const WAITING_PERCENT: u64 = 50;
/// Least share of calls that take their time before the first effect, in percent, if they wait for
/// nothing else there.
const PREPARING_PERCENT: u64 = 80;

/// Least mean of effects that are no async calls, in nanoseconds. Shorter ones hardly wait.
const WAIT_NS: u64 = 50_000;
/// Maximum number of receipts of a site whose causes are followed to their question.
const RECEIPTS: u64 = 2_000;
/// Maximum number of causes between an answer and its question.
const ANSWER_CAUSES: usize = 8;
/// Least share of a loop's effects that differ in what they ask for, in percent. Two posts may have
/// one author.
const DIFFERENT_PERCENT: u64 = 50;
/// Least number of a loop's effects for each call that the loop is said to follow. What happens in
/// each step of a loop is a part of it.
const EFFECTS_OF_ONE: u64 = 3;
/// Maximum number of loops whose arguments are compared, and of effects in each of them.
const COMPARED_LOOPS: usize = 8;
const COMPARED: usize = 64;

/// Detector of waiting in a loop.
#[derive(Default)]
pub(super) struct NPlusOne {
    open: OpenCalls<Call>,
    loops: HashMap<(SiteId, SiteId), Loops>,
    graph: CallGraph,
    /// Whether the source of each site's function calls what waits.
    waits: BySite<bool>,
    receipts: BySite<u64>,
    /// Room for calls that have ended.
    ended: Vec<Call>,
}

/// Call that runs, and its effects at sites that may wait.
struct Call {
    id: EventId,
    site: SiteId,
    subject: Option<Subject>,
    /// Id and lane of the cause.
    cause: Option<(EventId, LaneId)>,
    start: u64,
    span: u64,
    /// Ticks in which it waited, or a call inside it. Always 0 for async calls.
    waited: u64,
    effects: Vec<Effects>,
}

/// Call that waits, as its cause sees it.
#[derive(Clone, Copy)]
struct Waiting {
    id: EventId,
    site: SiteId,
    subject: Option<Subject>,
    start: u64,
    span: Option<u64>,
}

/// Effects of a call at a site.
struct Effects {
    site: SiteId,
    first: EventId,
    count: u64,
    start: u64,
    /// End of the first effect, and of all so far.
    first_end: u64,
    end: u64,
    ticks: u64,
    longest: u64,
    subjects: Vec<Subject>,
    /// The first of them.
    calls: Vec<EventId>,
    /// True if two of them overlap.
    is_parallel: bool,
}

/// First of the effects of a call at a site, and their number.
struct First {
    site: SiteId,
    start: u64,
    end: u64,
    count: u64,
}

impl First {
    fn of(effects: &Effects) -> First {
        First {
            site: effects.site,
            start: effects.start,
            end: effects.first_end,
            count: effects.count,
        }
    }
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
    before: Neighbours,
    after: Neighbours,
    /// Effects of loops over one subject, which must differ in their arguments.
    compared: Vec<Vec<EventId>>,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
}

impl Detector for NPlusOne {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let has_answers = context.survey.lanes > 1 && context.has_events_of(SiteKind::Announcement);
        let has_waits = || {
            context.sites_of(SiteKind::Method).into_iter().any(|site| context.waits_in_source(site))
        };
        let may_wait =
            [SiteKind::Async, SiteKind::Span].iter().any(|kind| context.has_events_of(*kind));
        context.all_sites_if(may_wait || has_answers || has_waits())
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            self.close_before(event);
            let it = &event.event;
            let kind = context.site_kind(it.site);
            if let Some(cause) = event.cause.event() {
                self.graph.add(cause.site, it.site);
                if matches!(kind, SiteKind::Async | SiteKind::Span)
                    && let Some((call, _)) = self.open.cause_of(event)
                {
                    let Event { id, site, subject, start, span, .. } = *it;
                    call.add(Waiting { id, site, subject, start, span });
                }
            }
            if kind == SiteKind::Announcement {
                self.receive(event, context);
            }
            let Some(span) = it.span else { continue };
            let waits = kind == SiteKind::Method
                && *self.waits.or_insert_with(it.site, || context.waits_in_source(it.site));
            let call = Call {
                id: it.id,
                site: it.site,
                subject: it.subject,
                cause: event.cause.event().map(|cause| (cause.id, cause.lane)),
                start: it.start,
                span,
                waited: event.self_ticks.filter(|_| waits).unwrap_or(0),
                effects: Vec::new(),
            };
            self.open.open(event, kind.is_entered(), call);
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let mut ended = Vec::new();
        self.open.finish(|call| ended.push(call));
        // Inner calls begin later.
        ended.sort_by_key(|call| std::cmp::Reverse((call.start, call.id)));
        self.settle(&mut ended);
        let NPlusOne { loops, graph, .. } = &*self;
        let findings = loops.iter().filter(|((from, to), _)| !graph.is_recursive(*from, *to));
        findings.filter_map(|(&(from, to), found)| finding(from, to, found, context)).collect()
    }
}

impl NPlusOne {
    fn close_before(&mut self, event: &ResolvedEvent) {
        let mut ended = std::mem::take(&mut self.ended);
        self.open.close(event, |call| ended.push(call));
        self.settle(&mut ended);
        ended.clear();
        self.ended = ended;
    }

    /// Takes calls that have ended, inner ones first, and tells their causes how they waited.
    fn settle(&mut self, ended: &mut [Call]) {
        for at in 0..ended.len() {
            let (call, outer) = ended[at..].split_first_mut().expect("the index is of a call");
            if call.waited > 0
                && let Some((id, lane)) = call.cause
            {
                let cause = outer.iter_mut().find(|outer| outer.id == id);
                if let Some(cause) = cause.or_else(|| self.open.get_mut(id, lane)) {
                    cause.waited = cause.waited.saturating_add(call.waited);
                    if is_share(call.waited, call.span, WAITING_PERCENT) {
                        let Call { id, site, subject, start, span, .. } = *call;
                        cause.add(Waiting { id, site, subject, start, span: Some(span) });
                    }
                }
            }
            close(call, &mut self.loops);
        }
    }

    /// Adds the time since the question to the call that runs, if an event is the receipt of an
    /// answer to it.
    fn receive(&mut self, event: &ResolvedEvent, context: &Context<'_>) {
        let it = &event.event;
        let Some(sending) = context.sending(event).filter(|sending| sending.lane != it.lane) else {
            return;
        };
        let receipts = self.receipts.of(it.site);
        *receipts += 1;
        if *receipts > RECEIPTS {
            return;
        }
        let Some(call) = self.open.innermost(it.lane) else { return };
        let question = context
            .store
            .causes(sending.id)
            .take(ANSWER_CAUSES)
            .find(|cause| cause.lane == it.lane);
        if let Some(question) =
            question.filter(|question| question.id != call.id && question.start >= call.start)
        {
            call.waited = call.waited.saturating_add(it.start.saturating_sub(question.start));
        }
    }
}

impl Call {
    fn add(&mut self, it: Waiting) {
        let end = it.start.saturating_add(it.span.unwrap_or(u64::MAX));
        let Some(found) = self.effects.iter_mut().find(|effects| effects.site == it.site) else {
            self.effects.push(Effects {
                site: it.site,
                first: it.id,
                count: 1,
                start: it.start,
                first_end: end,
                end,
                ticks: it.span.unwrap_or(0),
                longest: it.span.unwrap_or(0),
                subjects: it.subject.into_iter().collect(),
                calls: vec![it.id],
                is_parallel: false,
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
        if found.calls.len() < COMPARED {
            found.calls.push(it.id);
        }
    }
}

fn close(call: &mut Call, loops: &mut HashMap<(SiteId, SiteId), Loops>) {
    let all: Vec<First> = call.effects.iter().map(First::of).collect();
    for effects in std::mem::take(&mut call.effects) {
        let subjects: HashSet<Subject> = effects.subjects.iter().copied().collect();
        let are_different =
            subjects.len() > 1 && is_share(subjects.len() as u64, effects.count, DIFFERENT_PERCENT);
        let is_loop = effects.count >= EFFECTS
            && !effects.is_parallel
            && (are_different || subjects.len() <= 1);
        if !is_loop || effects.site == call.site || !is_share(effects.ticks, call.span, PERCENT) {
            continue;
        }
        let found = loops.entry((call.site, effects.site)).or_default();
        found.calls += 1;
        if !are_different && found.compared.len() < COMPARED_LOOPS {
            found.compared.push(effects.calls);
        }
        found.effects += effects.count;
        found.ticks = found.ticks.saturating_add(effects.ticks);
        found.longest = found.longest.saturating_add(effects.longest);
        let before = || all.iter().filter(|first| first.end <= effects.start);
        let asked_before = before().filter(|first| first.count * EFFECTS_OF_ONE <= effects.count);
        let follows = asked_before.max_by_key(|first| first.end).map(|first| first.site);
        found.following += u64::from(follows.is_some());
        found.follows = found.follows.or(follows);
        let waited = before().map(|first| first.end - first.start).fold(0, u64::saturating_add);
        let own = (effects.start - call.start).saturating_sub(waited);
        found.preparing += u64::from(own.saturating_mul(effects.count * 2) >= effects.ticks);
        for pair in effects.subjects.windows(2).filter(|pair| pair[0] != pair[1]) {
            found.after.add(pair[0], pair[1]);
            found.before.add(pair[1], pair[0]);
        }
        subjects.into_iter().for_each(|subject| *found.subjects.entry(subject).or_default() += 1);
        if found.events.len() < NAMED {
            found.events.push(effects.first);
        }
    }
}

fn finding(from: SiteId, to: SiteId, found: &Loops, context: &Context<'_>) -> Option<Finding> {
    // What is asked for must be known before the first answer. Where nothing was asked before, each
    // answer may lead to the next question, as the pages of a long list do.
    let follows = found.follows.filter(|_| found.following == found.calls);
    let is_known_before = follows.is_some()
        || found.preparing * 100 >= found.calls * PREPARING_PERCENT
        || found.before.are_shuffled() && found.after.are_shuffled();
    if found.calls < CALLS
        || !is_known_before
        || !waits(to, found, context)
        || !are_different(found, context)
    {
        return None;
    }
    let name = context.name(from);
    let effect = context.name(to);
    let is_subject = found.compared.is_empty();
    let of_what = if is_subject { "subject" } else { "argument" };
    let of_which = match found.subjects.len() as u64 {
        _ if !is_subject => "with different arguments".to_owned(),
        subjects if subjects == found.effects => "on different subjects".to_owned(),
        subjects => format!("on {} subjects", grouped(subjects)),
    };
    let title = format!("{name} waits for {effect} once for each {of_what}, one after another");
    let mut finding = Finding::new(KIND, title, vec![context.site(to), context.site(from)]);
    finding.sites.extend(innermost(to, &found.events, context).map(|site| context.site(site)));
    finding.subjects = context.subjects(&found.subjects);
    let saved = context.ns(found.ticks - found.longest);
    finding.cost = Cost::of_waiting(saved, found.effects);
    finding.evidence = Evidence {
        text: format!(
            "{} calls of {name} wait for {} calls of {effect} {of_which}, which never overlap: {} in all, and \
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
        Some(first) if is_subject => context
            .counted(&format!("counts exact; {} had ended before the first of them in each call", context.name(first))),
        _ => Certainty::Estimated(
            "the counts are exact; that all subjects were known before the first of the calls is not recorded"
                .to_owned(),
        ),
    };
    finding.advice =
        format!("ask once for all {of_what}s, or wait for all calls of {effect} at once");
    Some(finding)
}

/// Returns true if the effects differ in their arguments where they have one subject.
fn are_different(found: &Loops, context: &Context<'_>) -> bool {
    found.compared.iter().all(|calls| {
        let values =
            calls.iter().filter_map(|id| Values::of(*id, context).map(|values| values.arguments));
        let known: Vec<_> = values.filter(|arguments| !arguments.is_empty()).collect();
        let different = known.iter().collect::<HashSet<_>>().len();
        known.len() == calls.len()
            && different > 1
            && is_share(different as u64, known.len() as u64, DIFFERENT_PERCENT)
    })
}

/// Returns true if the effects at a site wait for most of their time.
fn waits(site: SiteId, found: &Loops, context: &Context<'_>) -> bool {
    if context.site_kind(site) == SiteKind::Method {
        return context.ns(found.ticks) / found.effects >= WAIT_NS;
    }
    let mut busy = 0;
    let mut span = 0;
    for &id in &found.events {
        let polls = context.store.polls(id);
        let ticks = context.store.event(id).and_then(|event| event.span);
        if let (Some(polls), Some(ticks)) = (polls, ticks) {
            busy = polls.busy_ticks.saturating_add(busy);
            span = ticks.saturating_add(span);
        }
    }
    span > 0 && is_share(span.saturating_sub(busy), span, WAITING_PERCENT)
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
        check(
            |run, page| (0..8).for_each(|cursor| wait(run, "shop::customer", page * 8 + cursor)),
            &[],
        );
    }

    #[test]
    fn a_worker_that_does_one_job_after_another_is_silent() {
        let works = |run: &mut Run, worker: u64| {
            for job in 0..8 {
                wait(run, "shop::other", worker * 8 + job);
                wait(run, "shop::customer", worker * 8 + job);
                wait(run, "shop::other", worker * 8 + job);
            }
        };
        check(works, &[]);
    }

    #[test]
    fn carts_whose_items_are_in_any_order_are_found_and_what_each_answer_leads_to_is_silent() {
        // Each item stands in carts with other items before and after it.
        let shuffled = |run: &mut Run, cart: u64| {
            (0..8).for_each(|at| wait(run, "shop::customer", (at * (cart + 1) * 7 + cart) % 23));
        };
        let title = "page waits for customer once for each subject, one after another";
        check(shuffled, &[&format!("{title}: calls=10 effects=80")]);
        // A list of which each part names the next one, and a tree in which each one has one
        // parent.
        check(|run, page| (0..8).for_each(|at| wait(run, "shop::customer", page % 3 + at)), &[]);
        check(
            |run, page| {
                (0..8).for_each(|at| wait(run, "shop::customer", (1 << at) + page % (1 << at)))
            },
            &[],
        );
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
                run.polled(
                    "shop::customer",
                    page * 8 + order,
                    Outcome::Returned,
                    1,
                    1_000_000,
                    work,
                );
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

    /// Shows ten pages, whose 8 customers are asked for on one database by calls that are no async
    /// calls. `facts` are those of the function that asks, and `customer` is the recorded argument.
    fn check_threads(
        facts: &str,
        asks_before: bool,
        customer: impl Fn(u64) -> u64,
        expected: &[&str],
    ) {
        let mut run = Run::new();
        run.function("shop", "shop::Db::ask", facts);
        for page in 0..10 {
            run.call("shop::page", None, |run| {
                if asks_before {
                    run.call("shop::Db::orders", 1, |run| {
                        _ = run.leaf("shop::Db::ask", 1, 900_000)
                    });
                }
                for order in 0..8 {
                    let call = run.call("shop::Db::customer", 1, |run| {
                        _ = run.leaf("shop::Db::ask", 1, 900_000)
                    });
                    run.argument(call, "id", &customer(page * 8 + order).to_string());
                }
            });
        }
        assert_eq!(run.found(NPlusOne::default()), expected);
    }

    #[test]
    fn calls_whose_source_waits_for_one_argument_after_another_are_found() {
        let found = "page waits for Db::customer once for each argument, one after another: calls=10 effects=80";
        check_threads("self=ref waits", true, |order| order, &[found]);
        check_threads("self=ref waits", true, |order| order % 8 % 6, &[found]);
        check_threads("self=ref waits", true, |order| order / 8, &[]);
        check_threads("self=ref waits", false, |order| order, &[]);
        check_threads("self=ref", true, |order| order, &[]);
    }

    #[test]
    fn calls_that_wait_for_the_answer_of_another_thread_are_found() {
        let mut run = Run::new();
        for path in ["questions::sent", "questions::received", "answers::sent", "answers::received"]
        {
            run.site(path, SiteKind::Announcement);
        }
        for page in 0..10 {
            run.call("map::show", None, |run| {
                run.work(400_000);
                for router in 0..8 {
                    run.call("map::ask", page * 8 + router, |run| {
                        let question = run.leaf("questions::sent", None, 100);
                        run.on(1);
                        let asked = run.instant("questions::received", None, Some(question));
                        run.work(400_000);
                        let answer =
                            run.because(Some(asked), "answers::sent", None, |run| run.work(100));
                        run.on(0);
                        run.instant("answers::received", None, Some(answer));
                        run.work(1_000);
                    });
                }
            });
        }
        let found =
            "show waits for ask once for each subject, one after another: calls=10 effects=80";
        assert_eq!(run.found(NPlusOne::default()), [found]);
    }

    #[test]
    fn a_walk_over_a_tree_is_silent() {
        fn visit(run: &mut Run, node: u64, depth: u64) {
            run.polled("shop::page", node, Outcome::Returned, 2, 1_000, |run| {
                wait(run, "shop::orders", None);
                run.polled("shop::other", node, Outcome::Returned, 2, 1_000, |run| {
                    (0..6)
                        .filter(|_| depth > 0)
                        .for_each(|child| visit(run, node * 6 + child + 1, depth - 1));
                });
            });
        }
        check(|run, page| visit(run, page * 100, 1), &[]);
    }
}
