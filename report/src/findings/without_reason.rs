//! `without-reason`: some calls of a site name a reason, and others run without a reason.
//!
//! A reason is an event that a call names beside the call around it: a link, or a message or change
//! that caused the call. The detector learns the reasons of a site from the recording.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{Cause, EventId, Reason, ResolvedEvent};

use super::finding::NAMED;
use super::map::{BySite, HashMap};
use super::recent::Recent;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, percent};

/// Word of the kind.
const KIND: &str = "without-reason";
/// Least number of calls that name a reason.
const WITH: u64 = 10;
/// Least number of calls without a reason.
const WITHOUT: u64 = 20;
/// Least share of calls without a reason, in percent.
const PERCENT: u64 = 5;
/// Maximum number of sites that are told apart as reasons. Each has one bit.
const REASONS: u32 = 63;
/// Bit of events whose chain of reasons is not known.
const UNKNOWN: u64 = 2_u64.pow(REASONS);
/// Number of events whose reasons are remembered.
const REMEMBERED: usize = 1 << 16;

/// Detector of calls without a reason.
pub(super) struct WithoutReason {
    bits: HashMap<SiteId, u64>,
    /// Reasons of events, by the low bits of the id.
    known: Vec<(u64, Reasons)>,
    /// Units of work of events, by the low bits of the id.
    units: Vec<(u64, Option<EventId>)>,
    sites: BySite<OfSite>,
}

/// Reasons of an event at any distance.
#[derive(Clone, Copy, Default)]
struct Reasons {
    all: u64,
    /// Reasons except those that outer calls of the same site name. A recursive call may need a
    /// reason of its own.
    of_others: u64,
}

#[derive(Default)]
struct OfSite {
    /// Calls that name a reason themselves, by the reason's bit.
    named: HashMap<u64, u64>,
    /// Calls that name a reason inside another call of the site.
    named_inside: u64,
    /// Reasons in a unit of work in which a call on the same subject had run without a reason. That
    /// call may have led to the reason.
    after_own: u64,
    /// Unit of work of the last call without a reason, by the row of the call.
    last_without: Recent<u32, EventId>,
    /// Calls from the first call with a reason on, by their reasons.
    calls: HashMap<u64, Calls>,
    /// As `calls`, for calls inside another call of the site.
    inside: HashMap<u64, Calls>,
}

#[derive(Default)]
struct Calls {
    count: u64,
    self_ticks: u64,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
}

impl Default for WithoutReason {
    fn default() -> Self {
        WithoutReason {
            bits: HashMap::default(),
            known: vec![(0, Reasons::default()); REMEMBERED],
            units: vec![(0, None); REMEMBERED],
            sites: BySite::default(),
        }
    }
}

impl Detector for WithoutReason {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // A lost call may be the reason.
        context.missing_calls()
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let kinds = [SiteKind::Announcement, SiteKind::Change, SiteKind::State];
        let has_messages = kinds.iter().any(|kind| context.has_events_of(*kind));
        context.all_sites_if(has_messages || context.survey.has_links)
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let reasons = self.reasons(event, context);
            let id = event.event.id.raw();
            self.known[id as usize % REMEMBERED] = (id, reasons);
            self.units[id as usize % REMEMBERED] = (id, event.unit.map(|unit| unit.id));
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.sites
            .iter()
            .filter_map(|(site, of_site)| self.finding(site, of_site, context))
            .collect()
    }
}

impl WithoutReason {
    /// Counts an event, and returns its reasons.
    fn reasons(&mut self, event: &ResolvedEvent, context: &Context<'_>) -> Reasons {
        let site = event.event.site;
        let cause = event.cause.event();
        let is_inside = cause.is_some_and(|cause| cause.site == site);
        let around = match &event.cause {
            Cause::Root => Reasons::default(),
            Cause::Event(cause) => self.of(cause.id),
            Cause::Remote | Cause::Left => Reasons { all: UNKNOWN, of_others: UNKNOWN },
        };
        let named_cause = cause.filter(|cause| is_message(cause, event, context));
        let mut named = 0;
        for reason in event.links.iter().chain(named_cause).filter(|reason| reason.site != site) {
            let bit = self.bit(reason.site);
            named |= self.of(reason.id).all | bit;
            let unit = self.unit_of(reason.id);
            let of_site = self.sites.of(site);
            let before = event.row.and_then(|row| of_site.last_without.get_mut(&row));
            of_site.after_own += u64::from(unit.is_some() && before.copied() == unit);
            *of_site.named.entry(bit).or_default() += 1;
            of_site.named_inside += u64::from(is_inside);
        }
        let of_others = if is_inside { around.of_others } else { around.all };
        // A root has no reason by nature: it begins a unit of work, or its caller is not observed.
        let is_root = event.cause == Cause::Root && event.links.is_empty();
        if let Some(of_site) = self.sites.get_mut(site).filter(|_| !is_root) {
            let calls = if is_inside { &mut of_site.inside } else { &mut of_site.calls };
            calls.entry(of_others | named).or_default().add(event);
            if let (0, Some(row), Some(unit)) = (of_others | named, event.row, event.unit) {
                of_site.last_without.insert(row, unit.id);
            }
        }
        Reasons { all: around.all | named, of_others }
    }

    fn of(&self, id: EventId) -> Reasons {
        let (known, reasons) = self.known[id.raw() as usize % REMEMBERED];
        if known == id.raw() { reasons } else { Reasons { all: UNKNOWN, of_others: UNKNOWN } }
    }

    fn unit_of(&self, id: EventId) -> Option<EventId> {
        let (known, unit) = self.units[id.raw() as usize % REMEMBERED];
        unit.filter(|_| known == id.raw())
    }

    fn bit(&mut self, site: SiteId) -> u64 {
        let number = self.bits.len() as u32;
        // All further reasons share a bit that makes their effects unknown.
        *self.bits.entry(site).or_insert(2_u64.pow(number.min(REASONS)))
    }

    fn finding(&self, site: SiteId, of_site: &OfSite, context: &Context<'_>) -> Option<Finding> {
        let own: u64 = of_site.named.keys().fold(0, |all, bit| all | bit);
        let mut reasons: Vec<(SiteId, u64)> = (self.bits.iter())
            .filter_map(|(reason, bit)| Some((*reason, *of_site.named.get(bit)?)))
            .collect();
        reasons.sort_by_key(|&(reason, count)| (std::cmp::Reverse(count), reason));
        let named: u64 = reasons.iter().map(|(_, count)| count).sum();
        let mut without = Calls::default();
        let mut with = 0;
        // Where only the outermost call names a reason, the reason holds for all calls inside of
        // it.
        let inside = if of_site.named_inside >= WITH { Some(&of_site.inside) } else { None };
        for (mask, calls) in of_site.calls.iter().chain(inside.into_iter().flatten()) {
            match mask {
                mask if mask & own != 0 => with += calls.count,
                mask if is_unknown(*mask) => {}
                _ => without.merge(calls),
            }
        }
        let is_often = named >= WITH && without.count >= WITHOUT;
        let leads_to_reason = of_site.after_own * 2 > named;
        if !is_often
            || leads_to_reason
            || is_unknown(own)
            || without.count * 100 < (with + without.count) * PERCENT
        {
            return None;
        }
        without.events.sort();
        let name = context.name(site);
        let reason = context.name(reasons.first()?.0);
        let title = format!("{name} runs without {reason}, which is its reason elsewhere");
        let mut sites = vec![context.site(site)];
        sites.extend(reasons.iter().take(NAMED).map(|(reason, _)| context.site(*reason)));
        let mut finding = Finding::new(KIND, title, sites);
        finding.subjects = context.subjects(&without.subjects);
        finding.cost = Cost::of_work(context.ns(without.self_ticks), without.count);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} calls ({}) have no such reason; {} calls name one.",
                grouped(without.count),
                grouped(with + without.count),
                percent(without.count, with + without.count),
                grouped(named),
            ),
            numbers: vec![
                ("calls_without", without.count),
                ("calls_with", with),
                ("calls_that_name", named),
            ],
            events: without.events,
            filter: context.filter(site),
        };
        finding.certainty =
            context.counted("counts exact, from the first call with a reason on; roots left out");
        finding.advice =
            "run it only where its reason applies, or let the other calls name theirs".to_owned();
        Some(finding)
    }
}

impl Calls {
    fn add(&mut self, event: &ResolvedEvent) {
        self.count += 1;
        self.self_ticks = self.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
        if let Some(subject) = event.event.subject {
            *self.subjects.entry(subject).or_default() += 1;
        }
        if self.events.len() < NAMED {
            self.events.push(event.event.id);
        }
    }

    fn merge(&mut self, other: &Calls) {
        self.count += other.count;
        self.self_ticks = self.self_ticks.saturating_add(other.self_ticks);
        other
            .subjects
            .iter()
            .for_each(|(subject, count)| *self.subjects.entry(*subject).or_default() += count);
        self.events.extend(&other.events);
    }
}

/// Returns true if some of the reasons in a set are not known.
fn is_unknown(reasons: u64) -> bool {
    reasons >= UNKNOWN
}

/// Returns true if a cause is a message or a change, and not the call around an event. On another
/// thread no call is around the event, and a message may arrive before its sender has ended.
fn is_message(cause: &Reason, event: &ResolvedEvent, context: &Context<'_>) -> bool {
    let is_message = matches!(
        context.site_kind(cause.site),
        SiteKind::Announcement | SiteKind::Change | SiteKind::State
    );
    is_message
        && (cause.lane != event.event.lane || cause.end.is_none_or(|end| end <= event.event.start))
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Changes a node in each of 30 frames, and lays out twelve nodes. `has_reason` decides by node
    /// whether a layout names the change.
    fn check(has_reason: impl Fn(u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        run.site("page::Changed", SiteKind::Announcement);
        for frame in 0..30 {
            run.call("page::frame", None, |run| {
                let change = run.leaf("page::Changed", frame % 12, 10);
                for node in 0..12 {
                    let layout = run.call("page::Scene::layout", node, |run| {
                        run.leaf("page::Scene::measure", node, 100);
                    });
                    if has_reason(node) {
                        run.link(layout, change);
                    }
                }
            });
        }
        assert_eq!(run.found(WithoutReason::default()), expected);
    }

    #[test]
    fn a_call_that_leads_to_its_reason_is_silent() {
        let mut run = Run::new();
        run.site("stage::Wish", SiteKind::Announcement);
        for evening in 0..30 {
            let mut wishes = Vec::new();
            run.call("stage::concert", None, |run| {
                for song in 0..12 {
                    run.leaf("stage::sing", song, 100);
                    if (song + evening) % 4 == 0 {
                        wishes.push((run.leaf("stage::Wish", None, 10), song));
                    }
                }
            });
            for (wish, song) in wishes {
                run.because(Some(wish), "stage::sing", song, |run| run.work(100));
            }
        }
        assert_eq!(run.found(WithoutReason::default()), [] as [&str; 0]);
    }

    #[test]
    fn a_message_is_a_reason_before_its_sender_has_gone_on() {
        let mut run = Run::new();
        run.site("home::Letter", SiteKind::Announcement);
        for letter in 0..60 {
            // Every other sender is still sending when its letter is read.
            let ticks = if letter % 2 == 0 { 10 } else { 1_000 };
            let start = run.now;
            let sent = run.leaf("home::Letter", letter, ticks);
            run.on(1);
            run.now = start + 20;
            run.because(Some(sent), "home::read", letter, |run| run.work(5_000));
            run.on(0);
        }
        assert_eq!(run.found(WithoutReason::default()), [] as [&str; 0]);
    }

    #[test]
    fn calls_without_the_reason_of_others_are_found() {
        let found = "Scene::layout runs without Changed, which is its reason elsewhere: \
                     calls_without=330 calls_with=30 calls_that_name=30";
        check(|node| node == 0, &[found]);
    }

    #[test]
    fn calls_that_all_have_a_reason_or_none_are_silent() {
        check(|_| true, &[]);
        check(|_| false, &[]);
    }

    /// Lays out a tree of a root with twelve nodes in each of 30 frames. The root names the change.
    fn check_tree(has_reason: impl Fn(u64) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for frame in 0..30 {
            run.call("page::frame", None, |run| {
                let change = run.leaf("page::Scene::change", frame % 12, 10);
                let root = run.call("page::Scene::layout", 100, |run| {
                    for node in 0..12 {
                        let layout = run.leaf("page::Scene::layout", node, 100);
                        if has_reason(node) {
                            run.link(layout, change);
                        }
                    }
                });
                run.link(root, change);
            });
        }
        assert_eq!(run.found(WithoutReason::default()), expected);
    }

    #[test]
    fn a_recursive_call_needs_a_reason_of_its_own_where_others_have_one() {
        let found = "Scene::layout runs without Scene::change, which is its reason elsewhere: \
                     calls_without=330 calls_with=60 calls_that_name=60";
        check_tree(|node| node == 0, &[found]);
        check_tree(|_| false, &[]);
    }

    #[test]
    fn what_follows_from_a_call_with_a_reason_has_it_too() {
        let mut run = Run::new();
        run.site("room::received", SiteKind::Announcement);
        for _ in 0..40 {
            let received = run.instant("room::received", None, None);
            run.because(Some(received), "room::View::show", 1, |run| {
                _ = run.leaf("room::View::wrap", 1, 100)
            });
            // The first paint of a view is a root.
            run.leaf("room::View::show", 2, 100);
        }
        assert_eq!(run.found(WithoutReason::default()), [] as [&str; 0]);
    }
}
