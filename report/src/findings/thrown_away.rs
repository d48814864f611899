//! `thrown-away`: async calls are cancelled in the middle of their work, and begin anew on the same
//! subject.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::HashMap;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "thrown-away";
/// Least number of cancelled calls that begin anew.
const CALLS: u64 = 10;
/// Least share of the cancelled calls' time in which they work, in percent. A call that is
/// cancelled while it waits loses nothing.
const BUSY_PERCENT: u64 = 5;
/// Maximum number of cancelled calls that are remembered.
const REMEMBERED: usize = 100_000;

/// Detector of work that is thrown away.
#[derive(Default)]
pub(super) struct ThrownAway {
    /// Cancelled calls that have not begun anew.
    cancelled: HashMap<(SiteId, Subject), Cancelled>,
    sites: HashMap<SiteId, Thrown>,
}

/// Cancelled async call with its polls.
struct Cancelled {
    id: EventId,
    end: u64,
    span: u64,
    busy: u64,
    polls: u64,
}

/// Cancelled calls of a site that begin anew.
#[derive(Default)]
struct Thrown {
    calls: u64,
    span: u64,
    busy: u64,
    polls: u64,
    subjects: HashMap<Subject, u64>,
    events: Vec<EventId>,
}

impl Detector for ThrownAway {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.sites_of(SiteKind::Async)
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let Some(subject) =
                it.subject.filter(|_| context.site_kind(it.site) == SiteKind::Async)
            else {
                continue;
            };
            let key = (it.site, subject);
            if let Some(before) = self.cancelled.remove(&key)
                && before.end <= it.start
            {
                self.sites.entry(it.site).or_default().add(&before, subject);
            }
            let Some(span) = it.span.filter(|_| it.outcome == Outcome::Cancelled) else { continue };
            if self.cancelled.len() < REMEMBERED
                && let Some(polls) = context.polls(it)
            {
                let end = it.start.saturating_add(span);
                let call =
                    Cancelled { id: it.id, end, span, busy: polls.busy_ticks, polls: polls.polls };
                self.cancelled.insert(key, call);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.sites.iter().filter_map(|(&site, thrown)| finding(site, thrown, context)).collect()
    }
}

impl Thrown {
    fn add(&mut self, call: &Cancelled, subject: Subject) {
        self.calls += 1;
        self.span = self.span.saturating_add(call.span);
        self.busy = self.busy.saturating_add(call.busy);
        self.polls += call.polls;
        *self.subjects.entry(subject).or_default() += 1;
        if self.events.len() < NAMED {
            self.events.push(call.id);
        }
    }
}

fn finding(site: SiteId, found: &Thrown, context: &Context<'_>) -> Option<Finding> {
    if !found.subjects.keys().all(|subject| context.is_one_object(*subject)) {
        return None;
    }
    if found.calls < CALLS || !is_share(found.busy, found.span, BUSY_PERCENT) {
        return None;
    }
    let name = context.name(site);
    let title = format!("{name} is cancelled in the middle of its work and begins anew");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_work(context.ns(found.busy), found.calls);
    finding.evidence = Evidence {
        text: format!(
            "{} calls of {name} were cancelled after {} of work in {} polls, and {name} was called on the same subject \
             afterwards; {} subjects.",
            grouped(found.calls),
            time(context.ns(found.busy)),
            grouped(found.polls),
            grouped(found.subjects.len() as u64),
        ),
        numbers: vec![("cancelled_calls", found.calls), ("polls", found.polls)],
        events: found.events.clone(),
        filter: format!("{} outcome:cancelled", context.filter(site)),
    };
    finding.certainty = context.counted("the calls are counted, and their polls are measured");
    finding.advice =
        format!("let {name} go on in a task of its own, or keep what it has done so far");
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Makes the thumbnails of forty rows. Each is cancelled twice, after `busy_ns` of work in 1
    /// ms.
    fn check(busy_ns: u64, begins_anew: bool, expected: &[&str]) {
        let mut run = Run::new();
        run.site("photos::thumbnails", SiteKind::Async);
        for row in 0..40 {
            for _ in 0..2 {
                run.polled("photos::thumbnails", row, Outcome::Cancelled, 6, busy_ns, |run| {
                    run.work(1_000_000)
                });
                if !begins_anew {
                    break;
                }
            }
            if begins_anew {
                run.polled("photos::thumbnails", row, Outcome::Returned, 9, 1_000_000, |run| {
                    run.work(1_000_000)
                });
            }
        }
        assert_eq!(run.found(ThrownAway::default()), expected);
    }

    #[test]
    fn work_that_is_cancelled_and_begins_anew_is_found() {
        let title = "thumbnails is cancelled in the middle of its work and begins anew";
        check(900_000, true, &[&format!("{title}: cancelled_calls=80 polls=480")]);
    }

    #[test]
    fn waits_that_are_cancelled_are_silent() {
        check(3_000, true, &[]);
    }

    #[test]
    fn tasks_that_are_cancelled_at_the_end_are_silent() {
        check(900_000, false, &[]);
    }

    #[test]
    fn the_cost_is_a_part_of_the_time_of_the_threads() {
        let mut run = Run::new();
        run.site("photos::thumbnails", SiteKind::Async);
        for row in 0..40 {
            for outcome in [Outcome::Cancelled, Outcome::Returned] {
                run.polled("photos::thumbnails", row, outcome, 6, 900_000, |run| {
                    run.work(1_000_000)
                });
            }
        }
        run.ends();
        let cost = run.findings(ThrownAway::default()).found[0].cost;
        assert_eq!((cost.of.word(), cost.time_ppm / 10_000), ("threads", 44));
    }
}
