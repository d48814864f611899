//! Repeated calls of a site, and the reasons for which they may be needed.

use metaspy_format::detail::DetailKind;
use metaspy_format::facts::SelfKind;
use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::Context;
use super::finding::NAMED;
use super::map::HashMap;
use super::question;
use super::samples::Samples;

/// Largest share of repeats in loops, in percent, unless the arguments are recorded.
const LOOPS_PERCENT: u64 = 50;
/// Word of the facts of a function whose answer may depend on more than its subject.
const MORE_ARGUMENTS: &str = "more_arguments";

/// Repeated calls of a site.
#[derive(Default)]
pub(super) struct Repeats {
    /// Calls of the site that belong to a unit of work.
    pub(super) calls: u64,
    pub(super) repeats: u64,
    /// Repeats that ended otherwise than the call before.
    pub(super) otherwise: u64,
    pub(super) self_ticks: u64,
    /// Self times of the repeats, and of the other calls.
    pub(super) again: Samples<u64>,
    pub(super) first: Samples<u64>,
    /// Repeats by subject.
    pub(super) subjects: HashMap<Subject, u64>,
    /// Repeats by the site of their unit of work.
    pub(super) units: HashMap<SiteId, u64>,
    /// Pairs of a subject and a unit of work, by their number of calls.
    pub(super) numbers: HashMap<u64, u64>,
    /// Repeats whose caller is another site than the caller of the call before.
    pub(super) others: u64,
    /// Repeats by the event that also caused the call before, of a function that gets more than its
    /// subject. A loop may ask another question each time: it calls one subject more than twice, or
    /// other subjects in between.
    pub(super) in_loops: u64,
    pub(super) events: Vec<EventId>,
    /// Call before each of the `events`.
    pub(super) before: Vec<EventId>,
}

impl Repeats {
    /// Counts a call that repeats `before`, which ended with this outcome.
    pub(super) fn add(
        &mut self,
        event: &ResolvedEvent,
        subject: Subject,
        before: EventId,
        outcome: Outcome,
    ) {
        self.repeats += 1;
        self.again.add(event.self_ticks.unwrap_or(0));
        self.otherwise += u64::from(outcome != event.event.outcome);
        self.self_ticks = self.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
        *self.subjects.entry(subject).or_default() += 1;
        if let Some(unit) = event.unit {
            *self.units.entry(unit.site).or_default() += 1;
        }
        if self.events.len() < NAMED {
            self.events.push(event.event.id);
            self.before.push(before);
        }
    }
}

/// Returns true if these calls may be needed: they may ask for something else, or follow a failure,
/// or change something.
pub(super) fn may_be_needed(site: SiteId, found: &Repeats, context: &Context<'_>) -> bool {
    may_differ(found, context)
        || follow_failures(found, context)
        || !are_questions(site, found, context)
        || may_change(site, found, context)
            && !question::are_known_to_be_equal(&found.events, &found.before, context)
}

/// Returns true if these calls may change something each time, and no values are recorded that
/// would tell.
pub(super) fn is_change_unknown(site: SiteId, found: &Repeats, context: &Context<'_>) -> bool {
    may_change(site, found, context) && !question::have_values(&found.events, context)
}

/// Returns true if most of the calls before were made by an attempt that failed. The next attempt
/// has to ask the same.
fn follow_failures(found: &Repeats, context: &Context<'_>) -> bool {
    let outcome = |id: EventId| context.store.causes(id).next().map(|cause| cause.outcome);
    let failed = found.before.iter().filter(|id| outcome(**id) == Some(Outcome::Failed)).count();
    failed * 2 > found.before.len()
}

/// Returns true if the recorded arguments of most of these calls differ from those of the calls
/// before, or may differ where none are recorded.
fn may_differ(found: &Repeats, context: &Context<'_>) -> bool {
    let arguments = |id: EventId| {
        let details = context.store.details(id).into_iter();
        details
            .filter(|detail| detail.kind == DetailKind::Argument)
            .map(|it| (it.name, it.value))
            .collect::<Vec<_>>()
    };
    if found.in_loops * 100 > found.repeats * LOOPS_PERCENT
        && found.events.iter().all(|id| arguments(*id).is_empty())
    {
        return true;
    }
    let pairs = found.events.iter().zip(&found.before);
    let different =
        pairs.filter(|(again, before)| arguments(**again) != arguments(**before)).count();
    different * 2 > found.events.len()
        || question::have_other_answers(&found.events, &found.before, context)
}

/// Returns true for calls that may do something else each time: they take `&mut self` and either
/// return a value of their own receiver, or return nothing and store their arguments.
fn may_change(site: SiteId, found: &Repeats, context: &Context<'_>) -> bool {
    let Some(facts) = context.facts(site).filter(|facts| facts.self_kind == SelfKind::Mut) else {
        return false;
    };
    let is_own = |subject: &Subject| {
        let kind = context.store.kind(subject.kind);
        kind.is_some_and(|kind| Some(kind.short_name()) == facts.of_type.as_deref())
    };
    if facts.is_unit { asks_more(site, context) } else { found.subjects.keys().any(is_own) }
}

/// Returns true for a function that gets more than its subject, so that its answer may depend on
/// more.
pub(super) fn asks_more(site: SiteId, context: &Context<'_>) -> bool {
    let site = context.store.site(site);
    site.is_some_and(|site| site.facts.split(' ').any(|word| word == MORE_ARGUMENTS))
}

/// Returns true if these calls repeat the questions of the calls before. A call that may change a
/// place is no question.
fn are_questions(site: SiteId, found: &Repeats, context: &Context<'_>) -> bool {
    let is_of_places = found.subjects.keys().any(|subject| context.is_place(subject.kind));
    let only_reads = context.facts(site).is_some_and(|facts| facts.self_kind == SelfKind::Ref);
    (only_reads || !is_of_places)
        && question::is_asked_again(found.subjects.keys(), &found.events, &found.before, context)
}
