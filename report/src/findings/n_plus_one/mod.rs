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
/// Least number of successive effects of a call.
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
/// Least share of calls that prepare their effects, in percent, if they wait for nothing else
/// before the first effect.
const PREPARING_PERCENT: u64 = 80;

/// Least mean time of effects that are no async calls, in nanoseconds. Shorter effects hardly wait.
const WAIT_NS: u64 = 50_000;
/// Maximum number of receipts of a site whose causes are followed to their question.
const RECEIPTS: u64 = 2_000;
/// Maximum number of causes between an answer and its question.
const ANSWER_CAUSES: usize = 8;
/// Least share of a loop's effects with different subjects or arguments, in percent. Two posts may
/// have one author.
const DIFFERENT_PERCENT: u64 = 50;
/// Least number of a loop's effects for each effect of the site that the loop is said to follow. An
/// effect in each step of a loop is a part of the loop.
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
    /// True for sites whose function calls functions that wait, by its source.
    waits: BySite<bool>,
    receipts: BySite<u64>,
    /// Empty list for calls that have ended.
    ended: Vec<Call>,
}

/// Call that has begun and not ended, with its effects at sites that may wait.
struct Call {
    id: EventId,
    site: SiteId,
    subject: Option<Subject>,
    /// Id and lane of the cause.
    cause: Option<(EventId, LaneId)>,
    start: u64,
    span: u64,
    /// Ticks in which the call waited, or a call inside it did. Always 0 for async calls.
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
    /// End of the first effect, and latest end so far.
    first_end: u64,
    end: u64,
    ticks: u64,
    longest: u64,
    subjects: Vec<Subject>,
    /// First effects, at most [`COMPARED`] of them.
    calls: Vec<EventId>,
    /// True if two effects overlap.
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
    /// Calls that had waited for another site before, and such a site.
    following: u64,
    follows: Option<SiteId>,
    /// Calls that take at least half of the mean time of an effect for themselves before the first
    /// effect.
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

    /// Adds the time since a question to the innermost call of the lane, if an event is the receipt
    /// of an answer to the question.
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
    // The subjects of the questions must be known before the first answer. Without an earlier
    // question, each answer may lead to the next question, as the pages of a long list do.
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

/// Returns the site below `site` that these calls wait for in turn, if it is the same site for all
/// of them.
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
mod tests;
