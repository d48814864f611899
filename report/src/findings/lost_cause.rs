//! `lost-cause`: calls of a site have a cause on some threads and none on others, because work
//! crossed to a thread or a queue without it.

use std::collections::BTreeSet;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Cause, EventId, LaneId, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::{ByPair, BySite, HashMap, HashSet};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{counted, grouped, percent};

/// Word of the kind.
const KIND: &str = "lost-cause";
/// Least number of calls with a cause, and of calls without.
const CALLS: u64 = 20;
/// Least share of calls without a cause, in percent.
const PERCENT: u64 = 10;

/// Largest difference between the calls that lead to nothing and those without a cause, in percent.
const UNEQUAL_PERCENT: u64 = 20;
/// Number of first calls of a site that are kept, and least share of calls that lead to nothing of
/// which each is followed by a call without a cause before the next one begins, in percent.
const FIRST: usize = 512;
const IN_TURN_PERCENT: u64 = 90;
/// Number of messages and tasks whose origin is remembered.
const REMEMBERED: usize = 1 << 16;

/// Detector of causes that are lost between threads.
#[derive(Default)]
pub(super) struct LostCause {
    sites: BySite<OfSite>,
    /// Calls with a cause, by their own site and the site of the cause.
    causes: ByPair<u64>,
    /// Calls that lead to other calls, by the site of the effect and the site of the call.
    led: ByPair<Led>,
    /// Whether the events of a site are messages or tasks.
    carriers: BySite<bool>,
    /// Origins of messages and tasks, by the low bits of the id.
    origins: Vec<Option<(EventId, Origin)>>,
}

/// Call that sent a message or spawned a task.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Origin {
    id: EventId,
    site: SiteId,
}

/// Calls that lead to calls of another site.
#[derive(Default)]
struct Led {
    count: u64,
    last: Option<EventId>,
    first: Vec<EventId>,
}

/// Beginning of a call.
#[derive(Clone, Copy)]
struct Begun {
    id: EventId,
    start: u64,
}

#[derive(Default)]
struct OfSite {
    /// The first calls, and the starts of the first ones without a cause.
    first: Vec<Begun>,
    first_roots: Vec<u64>,
    /// Calls whose cause is on another thread and was carried to this one.
    carried: u64,
    /// Calls whose cause came with a message or with a task.
    sent: u64,
    /// Calls with a cause, by the site of the cause.
    causes: HashMap<SiteId, u64>,
    /// Calls that lead to calls of this site, by their own site.
    origins: HashMap<SiteId, u64>,
    /// Threads on which the site has calls with a cause.
    caused_on: BTreeSet<LaneId>,
    /// Threads on which another call calls the site directly.
    called_on: BTreeSet<LaneId>,
    roots: HashMap<LaneId, u64>,
    events: Vec<EventId>,
}

impl Detector for LostCause {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        let is_suspect = |site: SiteId| {
            let numbers = context.survey.site(site);
            numbers.roots >= CALLS && numbers.events - numbers.roots >= CALLS
        };
        let mut calls = context.sites_of(SiteKind::Method);
        calls.extend(context.sites_of(SiteKind::Async));
        if !calls.iter().any(|site| is_suspect(*site)) {
            return Vec::new();
        }
        calls.extend(context.sites_of(SiteKind::Announcement));
        calls
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let mut carries = |site| *self.carriers.or_insert_with(site, || carries(site, context));
            let is_carrier = carries(it.site);
            let is_sent = event.cause.event().is_some_and(|cause| carries(cause.site));
            let origin = event.cause.event().and_then(|cause| {
                if is_sent {
                    self.origin(cause.id)
                } else {
                    Some(Origin { id: cause.id, site: cause.site })
                }
            });
            if is_carrier {
                self.origins.resize(REMEMBERED, None);
                self.origins[it.id.raw() as usize % REMEMBERED] =
                    origin.map(|origin| (it.id, origin));
                continue;
            }
            if !matches!(context.site_kind(it.site), SiteKind::Method | SiteKind::Async) {
                continue;
            }
            let of_site = self.sites.of(it.site);
            if of_site.first.len() < FIRST {
                of_site.first.push(Begun { id: it.id, start: it.start });
            }
            match &event.cause {
                Cause::Event(cause) => {
                    let is_carried = cause.lane != it.lane;
                    of_site.sent += u64::from(is_sent);
                    of_site.carried += u64::from(is_carried);
                    if !is_sent && !is_carried {
                        of_site.called_on.insert(it.lane);
                    }
                    if let Some(origin) = origin {
                        self.led.of(it.site, origin.site).add(origin.id);
                    }
                    *self.causes.of(it.site, cause.site) += 1;
                    of_site.caused_on.insert(it.lane);
                }
                Cause::Root => {
                    *of_site.roots.entry(it.lane).or_default() += 1;
                    if of_site.first_roots.len() < FIRST {
                        of_site.first_roots.push(it.start);
                    }
                    if of_site.events.len() < NAMED {
                        of_site.events.push(it.id);
                    }
                }
                Cause::Remote | Cause::Left => {}
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        for ((site, cause), &count) in self.causes.iter() {
            self.sites.of(site).causes.insert(cause, count);
        }
        for ((site, origin), led) in self.led.iter() {
            self.sites.of(site).origins.insert(origin, led.count);
        }
        self.sites
            .iter()
            .filter_map(|(site, of_site)| self.finding(site, of_site, context))
            .collect()
    }
}

impl Led {
    fn add(&mut self, origin: EventId) {
        if self.last.replace(origin) == Some(origin) {
            return;
        }
        self.count += 1;
        if self.first.len() < FIRST {
            self.first.push(origin);
        }
    }
}

impl LostCause {
    /// Returns true if each call that leads to nothing is followed by a call without a cause,
    /// before the next such call begins.
    fn is_in_turn(&self, site: SiteId, origin: SiteId) -> bool {
        let (Some(of_site), Some(of_origin)) = (self.sites.get(site), self.sites.get(origin))
        else {
            return false;
        };
        let led: HashSet<EventId> =
            self.led.get(site, origin).map_or(&[][..], |led| &led.first).iter().copied().collect();
        let mut left: Vec<u64> = of_origin
            .first
            .iter()
            .filter(|begun| !led.contains(&begun.id))
            .map(|begun| begun.start)
            .collect();
        let mut roots = of_site.first_roots.clone();
        left.sort_unstable();
        roots.sort_unstable();
        let pairs = left.len().min(roots.len());
        let in_turn = (0..pairs)
            .filter(|&at| {
                roots[at] >= left[at] && left.get(at + 1).is_none_or(|next| roots[at] < *next)
            })
            .count() as u64;
        in_turn >= CALLS && is_share(in_turn, pairs as u64, IN_TURN_PERCENT)
    }

    fn origin(&self, id: EventId) -> Option<Origin> {
        let known = self.origins.get(id.raw() as usize % REMEMBERED).copied().flatten();
        known.filter(|(known, _)| *known == id).map(|(_, origin)| origin)
    }

    fn finding(&self, site: SiteId, found: &OfSite, context: &Context<'_>) -> Option<Finding> {
        let with: u64 = found.causes.values().sum();
        let without: u64 = found.roots.values().sum();
        // On a thread that has both, the caller of the roots is not observed.
        let is_apart = found.roots.keys().all(|lane| !found.caused_on.contains(lane));
        let is_handed_over = found.carried + found.sent >= CALLS;
        let is_often =
            with >= CALLS && without >= CALLS && without * 100 >= (with + without) * PERCENT;
        // On these threads nobody calls the site, so each of its calls was handed over.
        let is_only_handed_over = found.roots.keys().all(|lane| !found.called_on.contains(lane));
        // A task that begins there was spawned. A call that was handed over left behind a call that
        // led to nothing.
        let is_spawned = || {
            context.site_kind(site) == SiteKind::Async
                && found.roots.keys().all(|lane| found.caused_on.contains(lane))
        };
        let leads_to_nothing = || {
            let (origin, with_effect) =
                found.origins.iter().max_by_key(|&(site, count)| (count, *site))?;
            let without_effect = context.survey.events_of(*origin).saturating_sub(*with_effect);
            Some(without_effect.abs_diff(without) * 100 <= without * UNEQUAL_PERCENT)
        };
        let is_lost = is_handed_over
            && (is_apart && found.carried >= CALLS
                || is_only_handed_over && (is_spawned() || leads_to_nothing().unwrap_or(false)));
        // Where no cause is ever carried, calls that lead to nothing must alternate with calls
        // without a cause.
        let largest_origin = found
            .origins
            .iter()
            .max_by_key(|&(site, count)| (count, *site))
            .map(|(origin, _)| *origin);
        let is_in_turn = || {
            is_apart
                && leads_to_nothing().unwrap_or(false)
                && largest_origin.is_some_and(|origin| self.is_in_turn(site, origin))
        };
        if !is_often || !is_lost && !is_in_turn() {
            return None;
        }
        let name = context.name(site);
        let cause = found
            .causes
            .iter()
            .max_by_key(|&(site, count)| (count, *site))
            .map(|(cause, _)| *cause);
        let cause = largest_origin.or(cause)?;
        let mut finding = Finding::new(
            KIND,
            if is_apart {
                format!(
                    "{name} has no cause on some threads, and `{}` on others",
                    context.name(cause)
                )
            } else {
                format!(
                    "{name} has no cause in some calls, and `{}` in others",
                    context.name(cause)
                )
            },
            vec![context.site(site), context.site(cause)],
        );
        finding.cost = Cost::of_events(without);
        finding.evidence = Evidence {
            text: format!(
                "{} of {} calls ({}) are roots, on {}{}; {}.",
                grouped(without),
                grouped(with + without),
                percent(without, with + without),
                counted(found.roots.len() as u64, "thread"),
                if is_apart {
                    " without a call that has a cause"
                } else {
                    " to which all other calls were handed over"
                },
                how_others_begin(found, context.name(cause)),
            ),
            numbers: vec![
                ("roots", without),
                ("calls_with_cause", with),
                ("carried", found.carried),
            ],
            events: found.events.clone(),
            filter: context.filter(site),
        };
        let reason = "the counts are exact; a timer or another program may have begun these calls";
        finding.certainty = Certainty::Estimated(reason.to_owned());
        finding.advice =
            "start these threads and tasks with `metaspy::tasks`, or send the cause with the work \
                          (docs/tasks.md), as is done for the others"
                .to_owned();
        Some(finding)
    }
}

/// Returns true if the events of a site are messages, or tasks and threads of `metaspy::tasks`.
fn carries(site: SiteId, context: &Context<'_>) -> bool {
    match context.site_kind(site) {
        SiteKind::Announcement => true,
        SiteKind::Async => {
            let name = context.store.site_path(site).rsplit("::").next().unwrap_or_default();
            let is_numbered =
                |kind: &str| name.strip_prefix(kind).is_some_and(|rest| rest.starts_with('_'));
            ["task", "blocking", "thread"].iter().any(|kind| name == *kind || is_numbered(kind))
        }
        _ => false,
    }
}

/// Describes how the calls with a cause begin.
fn how_others_begin(found: &OfSite, origin: &str) -> String {
    match found.carried.max(found.sent) {
        0 => format!("each of them follows a call of {origin} that leads to no other one"),
        carried => format!(
            "of {} others the cause came with a message, a task or another thread",
            grouped(carried)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Works on 40 jobs on each of two threads. `has_cause` decides by thread whether the
    /// submission is their cause.
    fn check(has_cause: impl Fn(u32) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for job in 0..40 {
            let submitted = run.leaf("pool::submit", job, 100);
            for lane in [1, 2] {
                run.on(lane);
                run.because(has_cause(lane).then_some(submitted), "pool::work", job, |run| {
                    run.work(100)
                });
            }
            run.on(0);
        }
        assert_eq!(run.found(LostCause::default()), expected);
    }

    #[test]
    fn a_thread_whose_calls_have_lost_their_cause_is_found() {
        let found = "work has no cause on some threads, and `submit` on others: roots=40 calls_with_cause=40 carried=40";
        check(|lane| lane == 1, &[found]);
    }

    #[test]
    fn calls_with_a_cause_everywhere_or_nowhere_are_silent() {
        check(|_| true, &[]);
        check(|_| false, &[]);
    }

    /// Works on 80 jobs on one thread. The submission is the cause of every second job. The other
    /// jobs have a submission only if `is_submitted` is true.
    fn check_worker(is_submitted: bool, expected: &[&str]) {
        let mut run = Run::new();
        for job in 0..80 {
            let has_cause = job % 2 == 0;
            let submitted = (has_cause || is_submitted).then(|| run.leaf("pool::submit", job, 100));
            run.on(1);
            run.because(submitted.filter(|_| has_cause), "pool::work", job, |run| run.work(100));
            run.on(0);
        }
        assert_eq!(run.found(LostCause::default()), expected);
    }

    #[test]
    fn calls_of_one_thread_whose_submissions_lead_to_nothing_are_found() {
        let found = "work has no cause in some calls, and `submit` in others: roots=40 calls_with_cause=40 carried=40";
        check_worker(true, &[found]);
    }

    /// Places 80 orders. Every second order is shipped on another thread, `is_shipped_after`
    /// nanoseconds after the begin of the order. The others are shipped at once, inside of the
    /// order.
    fn check_orders(is_shipped_after: impl Fn(u64) -> u64, expected: &[&str]) {
        let mut run = Run::new();
        for order in 0..80 {
            let began = run.now;
            run.call("shop::place", order, |run| {
                if order % 2 == 0 {
                    run.leaf("shop::ship", None, 100);
                }
                run.work(1_000);
            });
            let ended = run.now;
            if order % 2 == 1 {
                run.on(1);
                run.now = began + is_shipped_after(order);
                run.because(None, "shop::ship", None, |run| run.work(100));
                run.on(0);
            }
            run.now = ended.max(run.now);
        }
        assert_eq!(run.found(LostCause::default()), expected);
    }

    #[test]
    fn calls_of_other_threads_in_turn_with_calls_that_lead_to_nothing_are_found() {
        let found = "ship has no cause on some threads, and `place` on others: roots=40 calls_with_cause=40 carried=0";
        check_orders(|_| 500, &[found]);
        check_orders(|_| 1_500, &[found]);
    }

    #[test]
    fn calls_of_other_threads_at_other_times_are_silent() {
        let mut run = Run::new();
        for order in 0..80 {
            run.call("shop::place", order, |run| {
                if order % 2 == 0 {
                    run.leaf("shop::ship", None, 100);
                }
                run.work(1_000);
            });
        }
        run.on(1);
        for _ in 0..40 {
            run.because(None, "shop::ship", None, |run| run.work(100));
        }
        assert_eq!(run.found(LostCause::default()), [] as [&str; 0]);
    }

    #[test]
    fn a_thread_with_a_timer_of_its_own_is_silent() {
        check_worker(false, &[]);
    }
}
