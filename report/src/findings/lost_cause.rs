//! `lost-cause`: calls of a site have a cause on some threads and none on others, because work crossed to a thread or a
//! queue without it.

use std::collections::BTreeSet;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Cause, EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{counted, grouped, percent};

/// Word of the kind.
const KIND: &str = "lost-cause";
/// Least number of calls with a cause, and of calls without.
const CALLS: u64 = 20;
/// Least share of calls without a cause, in percent.
const PERCENT: u64 = 10;

/// Detector of causes that are lost between threads.
#[derive(Default)]
pub(super) struct LostCause {
    sites: HashMap<SiteId, OfSite>,
}

#[derive(Default)]
struct OfSite {
    /// Calls whose cause is on another thread, so it was carried.
    carried: u64,
    /// Calls with a cause, by the site of the cause.
    causes: HashMap<SiteId, u64>,
    /// Threads of calls with a cause.
    caused_on: BTreeSet<LaneId>,
    roots: HashMap<LaneId, u64>,
    events: Vec<EventId>,
}

impl Detector for LostCause {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        for event in events {
            let it = &event.event;
            if !matches!(context.site_kind(it.site), SiteKind::Method | SiteKind::Async) {
                continue;
            }
            let of_site = self.sites.entry(it.site).or_default();
            match &event.cause {
                Cause::Event(cause) => {
                    of_site.carried += u64::from(cause.lane != it.lane);
                    *of_site.causes.entry(cause.site).or_default() += 1;
                    of_site.caused_on.insert(it.lane);
                }
                Cause::Root => {
                    *of_site.roots.entry(it.lane).or_default() += 1;
                    if of_site.events.len() < NAMED {
                        of_site.events.push(it.id);
                    }
                }
                Cause::Remote | Cause::Left => {}
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.sites.iter().filter_map(|(&site, of_site)| finding(site, of_site, context)).collect()
    }
}

fn finding(site: SiteId, found: &OfSite, context: &Context<'_>) -> Option<Finding> {
    let with: u64 = found.causes.values().sum();
    let without: u64 = found.roots.values().sum();
    // On a thread that has both, the caller of the roots is not observed.
    let is_apart = found.roots.keys().all(|lane| !found.caused_on.contains(lane));
    let is_carried = found.carried >= CALLS;
    if with < CALLS || without < CALLS || !is_apart || !is_carried || without * 100 < (with + without) * PERCENT {
        return None;
    }
    let name = context.name(site);
    let cause = found.causes.iter().max_by_key(|&(site, count)| (count, *site)).map(|(cause, _)| *cause)?;
    let mut finding = Finding::new(
        KIND,
        format!("{name} has no cause on some threads, and `{}` on others", context.name(cause)),
        vec![context.site(site), context.site(cause)],
    );
    finding.cost = Cost::of_events(without);
    finding.evidence = Evidence {
        text: format!(
            "{} of {} calls ({}) are roots, all of them on {} without a call that has a cause; {} calls have a cause on \
             another thread.",
            grouped(without),
            grouped(with + without),
            percent(without, with + without),
            counted(found.roots.len() as u64, "thread"),
            grouped(found.carried),
        ),
        numbers: vec![("roots", without), ("calls_with_cause", with), ("carried", found.carried)],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    let reason = "the counts are exact; a timer or another program may have begun these calls";
    finding.certainty = Certainty::Estimated(reason.to_owned());
    finding.advice = "start these threads and tasks with `metaspy::tasks`, or send the cause with the work \
                      (docs/tasks.md), as is done for the others"
        .to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Works on 40 jobs on each of two threads. `has_cause` decides by thread whether the submission is their cause.
    fn check(has_cause: impl Fn(u32) -> bool, expected: &[&str]) {
        let mut run = Run::new();
        for job in 0..40 {
            let submitted = run.leaf("pool::submit", job, 100);
            for lane in [1, 2] {
                run.on(lane);
                run.because(has_cause(lane).then_some(submitted), "pool::work", job, |run| run.work(100));
            }
            run.on(0);
        }
        assert_eq!(run.found(LostCause::default()), expected);
    }

    #[test]
    fn a_thread_whose_calls_have_lost_their_cause_is_found() {
        let found =
            "work has no cause on some threads, and `submit` on others: roots=40 calls_with_cause=40 carried=40";
        check(|lane| lane == 1, &[found]);
    }

    #[test]
    fn calls_with_a_cause_everywhere_or_nowhere_are_silent() {
        check(|_| true, &[]);
        check(|_| false, &[]);
    }

    #[test]
    fn a_thread_with_both_is_silent() {
        let mut run = Run::new();
        for job in 0..80 {
            let submitted = run.leaf("pool::submit", job, 100);
            run.on(1);
            run.because((job % 2 == 0).then_some(submitted), "pool::work", job, |run| run.work(100));
            run.on(0);
        }
        assert_eq!(run.found(LostCause::default()), [] as [&str; 0]);
    }
}
