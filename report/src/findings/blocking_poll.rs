//! `blocking-poll`: a poll keeps its thread busy for long while other tasks have begun there.

use std::collections::BTreeMap;

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Event, EventId, LaneId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{ByPair, HashMap, HashSet};
use super::polled_calls::{PolledCall, PolledCalls};
use super::samples::Samples;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding, Whole};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "blocking-poll";
/// Least number of calls with long polls.
const CALLS: u64 = 5;
/// Least median of the time of a poll, in nanoseconds.
const POLL_NS: u64 = 5_000_000;

/// Detector of polls that block their thread.
#[derive(Default)]
pub(super) struct BlockingPoll {
    calls: PolledCalls,
    sites: HashMap<SiteId, Polls>,
    /// Methods that async calls call directly, by the sites of both.
    methods: ByPair<InPolls>,
}

/// Calls of a method in polls of an async site. A method returns before its poll does.
#[derive(Default)]
struct InPolls {
    calls: u64,
    ticks: Samples<u64>,
    /// Long calls beside other tasks, and their ticks.
    long: u64,
    long_ticks: u64,
    lanes: HashSet<LaneId>,
    events: Vec<EventId>,
}

/// Calls of an async site, with the time of their own polls.
#[derive(Default)]
struct Polls {
    /// Ticks of a poll, on average over a call.
    ticks: Samples<u64>,
    /// Calls with long polls beside other tasks.
    long: u64,
    busy: u64,
    polls: u64,
    lanes: HashSet<LaneId>,
    events: Vec<EventId>,
}

impl Detector for BlockingPoll {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.has_events_of(SiteKind::Async))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        let BlockingPoll { calls, sites, methods } = self;
        for &event in events {
            let Some(in_poll) = calls.read(event, context, |call| add(call, sites, context)) else {
                continue;
            };
            let Some(span) = event.event.span else { continue };
            let found = methods.of(in_poll.site, event.event.site);
            found.calls += 1;
            found.ticks.add(span);
            if in_poll.has_neighbours && context.ns(span) >= POLL_NS {
                found.add_long(&event.event, span);
            }
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let BlockingPoll { calls, sites, methods } = &mut *self;
        calls.finish(|call| add(call, sites, context));
        let by_polls =
            sites.iter().filter_map(|(&site, polls)| Some((site, finding(site, polls, context)?)));
        let mut found: BTreeMap<SiteId, Finding> = by_polls.collect();
        // A task that runs as long as the program is one call with many polls.
        for ((site, method), calls) in methods.iter() {
            if !found.contains_key(&site)
                && let Some(finding) = finding_of_method(site, method, calls, context)
            {
                found.insert(site, finding);
            }
        }
        found.into_values().collect()
    }
}

impl InPolls {
    fn add_long(&mut self, call: &Event, span: u64) {
        self.long += 1;
        self.long_ticks = self.long_ticks.saturating_add(span);
        self.lanes.insert(call.lane);
        if self.events.len() < NAMED {
            self.events.push(call.id);
        }
    }
}

fn add(call: &PolledCall, sites: &mut HashMap<SiteId, Polls>, context: &Context<'_>) {
    let own = call.busy.saturating_sub(call.inner_busy);
    let poll = own / call.polls.max(1);
    let found = sites.entry(call.site).or_default();
    found.ticks.add(poll);
    if context.ns(poll) >= POLL_NS && call.has_neighbours {
        found.long += 1;
        found.busy = found.busy.saturating_add(own);
        found.polls += call.polls;
        found.lanes.insert(call.lane);
        if found.events.len() < NAMED {
            found.events.push(call.id);
        }
    }
}

fn finding(site: SiteId, found: &Polls, context: &Context<'_>) -> Option<Finding> {
    let median = context.ns(found.ticks.median());
    if found.long < CALLS || median < POLL_NS {
        return None;
    }
    let name = context.name(site);
    let title = format!("{name} keeps its thread busy while other tasks are open there");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    finding.cost = cost(found.busy, found.long, &found.lanes, context);
    finding.evidence = Evidence {
        text: format!(
            "{} of {} examined calls of {name} take {} or more for each poll, while other tasks have begun on their thread and not \
             ended: {} for {} polls, and {} for a poll of all calls (median).",
            grouped(found.long),
            grouped(found.ticks.seen()),
            time(POLL_NS),
            time(context.ns(found.busy)),
            grouped(found.polls),
            time(median),
        ),
        numbers: vec![("blocking_calls", found.long), ("calls", found.ticks.seen())],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the polls are measured, with the time in which the thread has no processor; whether the other tasks could go on \
         meanwhile is not recorded"
            .to_owned(),
    );
    finding.advice = format!(
        "do the work of {name} in `spawn_blocking`, wait with an async call, or yield in between"
    );
    Some(finding)
}

/// Returns a finding about a method that takes long in the polls of an async site.
fn finding_of_method(
    site: SiteId,
    method: SiteId,
    found: &InPolls,
    context: &Context<'_>,
) -> Option<Finding> {
    let median = context.ns(found.ticks.median());
    if found.long < CALLS || median < POLL_NS {
        return None;
    }
    let name = context.name(site);
    let method_name = context.name(method);
    let title =
        format!("{name} keeps its thread busy in {method_name} while other tasks are open there");
    let mut finding = Finding::new(KIND, title, vec![context.site(site), context.site(method)]);
    finding.cost = cost(found.long_ticks, found.long, &found.lanes, context);
    finding.evidence = Evidence {
        text: format!(
            "{} of {} calls of {method_name} in polls of {name} take {} or more, while other tasks have begun on their \
             thread and not ended: {} in all, and {} for a call (median).",
            grouped(found.long),
            grouped(found.calls),
            time(POLL_NS),
            time(context.ns(found.long_ticks)),
            time(median),
        ),
        numbers: vec![("blocking_calls", found.long), ("calls", found.calls)],
        events: found.events.clone(),
        filter: format!("{} cause:{}", context.filter(method), context.store.site_path(site)),
    };
    finding.certainty = Certainty::Estimated(
        "the calls are measured, with the time in which the thread has no processor; whether the other tasks could go on \
         meanwhile is not recorded"
            .to_owned(),
    );
    finding.advice =
        format!("do {method_name} in `spawn_blocking`, or divide it and yield in between");
    Some(finding)
}

/// Returns the cost of long polls. The self time of async calls is not known, so the cost is a
/// share of the time for which their threads were recorded.
fn cost(ticks: u64, calls: u64, lanes: &HashSet<LaneId>, context: &Context<'_>) -> Cost {
    let threads = context.recorded_ns().saturating_mul(lanes.len() as u64);
    Cost { of: Whole::Threads(threads), ..Cost::of_work(context.ns(ticks), calls) }
}

#[cfg(test)]
mod tests {
    use metaspy_probe::SiteKind;
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Decodes twenty songs of 20 ms each, while a task runs that began on lane `meter`.
    fn check(meter: Option<u32>, polls: u64, expected: &[&str]) {
        let mut run = Run::new();
        for site in ["studio::meter", "studio::play", "studio::decode"] {
            run.site(site, SiteKind::Async);
        }
        if let Some(lane) = meter {
            run.on(lane);
            run.polled("studio::meter", 1, Outcome::Cancelled, 100, 50_000, |run| {
                run.work(900_000_000)
            });
            run.now = 2_000;
            run.on(0);
        }
        run.polled("studio::play", None, Outcome::Returned, 20 * polls, 400_100_000, |run| {
            for song in 0..20 {
                run.polled("studio::decode", song, Outcome::Returned, polls, 20_000_000, |run| {
                    run.work(20_000_000)
                });
            }
        });
        assert_eq!(run.found(BlockingPoll::default()), expected);
    }

    #[test]
    fn a_poll_that_blocks_other_tasks_is_found_at_the_innermost_call() {
        let title = "decode keeps its thread busy while other tasks are open there";
        check(Some(0), 1, &[&format!("{title}: blocking_calls=20 calls=20")]);
    }

    #[test]
    fn tasks_of_one_cause_are_neighbours_and_the_cause_is_none() {
        let signed_in = |heartbeats: u64| {
            let mut run = Run::new();
            ["gate::main", "gate::heartbeat", "gate::sign_in"]
                .iter()
                .for_each(|site| run.site(site, SiteKind::Async));
            run.polled("gate::main", None, Outcome::Returned, 9, 1_000_000, |run| {
                for peer in 0..heartbeats {
                    let began = run.now;
                    run.polled("gate::heartbeat", peer, Outcome::Cancelled, 90, 500_000, |run| {
                        run.work(900_000_000)
                    });
                    run.now = began + 1_000;
                }
                for user in 0..20 {
                    run.polled("gate::sign_in", user, Outcome::Returned, 2, 16_000_000, |run| {
                        run.work(17_000_000)
                    });
                }
            });
            run.found(BlockingPoll::default())
        };
        let title = "sign_in keeps its thread busy while other tasks are open there";
        assert_eq!(signed_in(1), [format!("{title}: blocking_calls=20 calls=20")]);
        assert_eq!(signed_in(0), [] as [&str; 0]);
    }

    /// Decodes twenty songs in one task, which rests before each song. Every n-th song takes 20 ms.
    fn check_one_task(meter: Option<u32>, long: u64, expected: &[&str]) {
        let mut run = Run::new();
        ["studio::meter", "studio::play"].iter().for_each(|site| run.site(site, SiteKind::Async));
        if let Some(lane) = meter {
            run.on(lane);
            run.polled("studio::meter", 1, Outcome::Cancelled, 100, 50_000, |run| {
                run.work(900_000_000)
            });
            run.now = 2_000;
            run.on(0);
        }
        run.polled("studio::play", None, Outcome::Returned, 900, 400_100_000, |run| {
            for song in 0..20_u64 {
                run.leaf(
                    "studio::decode",
                    None,
                    if song.is_multiple_of(long) { 20_000_000 } else { 20_000 },
                );
                run.work(1_000_000);
            }
        });
        assert_eq!(run.found(BlockingPoll::default()), expected);
    }

    #[test]
    fn a_method_that_takes_long_in_the_polls_of_one_task_is_found() {
        let title = "play keeps its thread busy in decode while other tasks are open there";
        check_one_task(Some(0), 1, &[&format!("{title}: blocking_calls=20 calls=20")]);
        check_one_task(Some(0), 3, &[]);
        check_one_task(Some(1), 1, &[]);
        check_one_task(None, 1, &[]);
    }

    #[test]
    fn a_task_that_yields_is_silent() {
        check(Some(0), 100, &[]);
    }

    #[test]
    fn a_thread_with_no_other_task_is_silent() {
        check(None, 1, &[]);
        check(Some(1), 1, &[]);
    }

    #[test]
    fn a_poll_that_is_preempted_now_and_then_is_silent() {
        let mut run = Run::new();
        run.site("studio::meter", SiteKind::Async);
        run.site("studio::decode", SiteKind::Async);
        run.polled("studio::meter", 1, Outcome::Cancelled, 100, 50_000, |run| {
            run.work(900_000_000)
        });
        run.now = 2_000;
        for song in 0..100 {
            let busy = if song % 4 == 0 { 8_000_000 } else { 20_000 };
            run.polled("studio::decode", song, Outcome::Returned, 1, busy, |run| run.work(busy));
        }
        assert_eq!(run.found(BlockingPoll::default()), [] as [&str; 0]);
    }

    #[test]
    fn the_cost_is_a_part_of_the_time_of_the_blocked_threads() {
        let mut run = Run::new();
        ["studio::meter", "studio::decode"].iter().for_each(|site| run.site(site, SiteKind::Async));
        run.polled("studio::meter", 1, Outcome::Cancelled, 100, 50_000, |run| {
            run.work(1_000_000_000)
        });
        run.now = 2_000;
        for song in 0..20 {
            run.polled("studio::decode", song, Outcome::Returned, 1, 20_000_000, |run| {
                run.work(20_000_000)
            });
        }
        run.now = 1_000_000_000;
        run.ends();
        let findings = run.findings(BlockingPoll::default());
        let cost = findings.found[0].cost;
        assert_eq!((cost.of.word(), cost.time_ppm / 10_000), ("threads", 40));
    }
}
