//! `self-wake`: an async call is polled again at once, again and again, and does nothing.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::polled_calls::{PolledCall, PolledCalls};
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "self-wake";
/// Least number of polls of a call.
const POLLS_OF_CALL: u64 = 500;
/// Least number of polls of all such calls of a site.
const POLLS: u64 = 5_000;
/// Largest time from one poll to the next, in nanoseconds. A call that waits for an event is polled
/// less often.
const PAUSE_NS: u64 = 5_000;
/// Largest time of a poll, in nanoseconds. A call that does a part of its work in each poll takes
/// longer.
const POLL_NS: u64 = 1_000;
/// Largest times where the polls of the future inside the call are observed, too, because the hooks
/// take time.
const OBSERVED_PAUSE_NS: u64 = 20_000;
const OBSERVED_POLL_NS: u64 = 5_000;
/// Least number of polls for each effect.
const POLLS_OF_EFFECT: u64 = 10;

/// Detector of calls that wake themselves.
#[derive(Default)]
pub(super) struct SelfWake {
    calls: PolledCalls,
    sites: HashMap<SiteId, Spins>,
}

/// Calls of a site that are polled all the time.
#[derive(Default)]
struct Spins {
    calls: u64,
    polls: u64,
    span: u64,
    busy: u64,
    events: Vec<EventId>,
}

impl Detector for SelfWake {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.has_events_of(SiteKind::Async))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        let SelfWake { calls, sites } = self;
        for &event in events {
            calls.read(event, context, |call| add(call, sites, context));
        }
    }

    fn finish(mut self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        let SelfWake { calls, sites } = &mut *self;
        calls.finish(|call| add(call, sites, context));
        sites.iter().filter_map(|(&site, spins)| finding(site, spins, context)).collect()
    }
}

fn add(call: &PolledCall, sites: &mut HashMap<SiteId, Spins>, context: &Context<'_>) {
    let own = call.polls.saturating_sub(call.inner_polls);
    let is_observed = call.inner_futures * 2 > own;
    let (pause, poll) =
        if is_observed { (OBSERVED_PAUSE_NS, OBSERVED_POLL_NS) } else { (PAUSE_NS, POLL_NS) };
    let is_often = own >= POLLS_OF_CALL && context.ns(call.span) / call.polls <= pause;
    let does_nothing =
        context.ns(call.busy) / call.polls.max(1) <= poll && call.effects * POLLS_OF_EFFECT <= own;
    if !is_often || !does_nothing {
        return;
    }
    let found = sites.entry(call.site).or_default();
    found.calls += 1;
    found.polls += call.polls;
    found.span = found.span.saturating_add(call.span);
    found.busy = found.busy.saturating_add(call.busy);
    if found.events.len() < NAMED {
        found.events.push(call.id);
    }
}

fn finding(site: SiteId, found: &Spins, context: &Context<'_>) -> Option<Finding> {
    if found.polls < POLLS {
        return None;
    }
    let name = context.name(site);
    let title = format!("{name} is polled again and again while it waits");
    let mut finding = Finding::new(KIND, title, vec![context.site(site)]);
    // A call that is polled all the time leaves its thread no rest.
    finding.cost = Cost::of_waiting(context.ns(found.span), found.calls);
    finding.evidence = Evidence {
        text: format!(
            "{} calls of {name} are polled {} times in {}: once every {} on average, for {} each.",
            grouped(found.calls),
            grouped(found.polls),
            time(context.ns(found.span)),
            time(context.ns(found.span) / found.polls),
            time(context.ns(found.busy) / found.polls),
        ),
        numbers: vec![("calls", found.calls), ("polls", found.polls)],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the polls are counted; who wakes the task is not recorded".to_owned(),
    );
    finding.advice =
        "store the waker and wake it when the state changes, or wait with a notification or a timer".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use metaspy_probe::SiteKind;
    use metaspy_reader::Outcome;

    use super::super::testing::Run;
    use super::*;

    /// Waits ten times for 8 ms inside another call.
    fn check(polls: u64, busy_ns: u64, expected: &[&str]) {
        let mut run = Run::new();
        run.site("printer::print", SiteKind::Async);
        run.site("printer::until_ready", SiteKind::Async);
        for _ in 0..10 {
            run.polled(
                "printer::print",
                None,
                Outcome::Returned,
                polls + 1,
                busy_ns + 500,
                |run| {
                    run.polled(
                        "printer::until_ready",
                        1,
                        Outcome::Returned,
                        polls,
                        busy_ns,
                        |run| run.work(8_000_000),
                    );
                },
            );
        }
        assert_eq!(run.found(SelfWake::default()), expected);
    }

    #[test]
    fn a_future_that_wakes_itself_is_found_at_the_innermost_call() {
        let title = "until_ready is polled again and again while it waits";
        check(40_000, 2_000_000, &[&format!("{title}: calls=10 polls=400000")]);
    }

    #[test]
    fn a_future_whose_own_polls_are_observed_is_found() {
        let waits = |busy_ns: u64| {
            let mut run = Run::new();
            run.site("relay::switch_on", SiteKind::Async);
            for device in 0..10 {
                run.polled(
                    "relay::switch_on",
                    device,
                    Outcome::Returned,
                    1_001,
                    1_000 * busy_ns,
                    |run| {
                        for _ in 0..1_000 {
                            run.leaf("relay::Ready::Future::poll", None, 1_000);
                            run.work(5_000);
                        }
                        run.leaf("relay::configure", device, 100);
                    },
                );
            }
            run.found(SelfWake::default())
        };
        let title = "switch_on is polled again and again while it waits";
        assert_eq!(waits(3_000), [format!("{title}: calls=10 polls=10010")]);
        assert_eq!(waits(30_000), [] as [&str; 0]);
    }

    #[test]
    fn waiting_for_a_notification_or_for_many_messages_is_silent() {
        check(2, 3_000, &[]);
        check(700, 100_000, &[]);
    }

    #[test]
    fn work_in_small_steps_is_silent() {
        check(2_000, 7_000_000, &[]);
    }
}
