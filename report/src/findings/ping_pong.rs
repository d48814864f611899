//! `ping-pong`: messages or tasks go to and fro between two places, and come back to the same
//! subject again and again.
//!
//! A *step* consists of the effects of a message or a task up to the next message or task. A step
//! answers another step if it calls the same site on the same subject as the step before the last,
//! while the last step went to another subject or through another queue.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{HashMap, HashSet};
use super::recent::Recent;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding, question};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "ping-pong";
/// Least number of answers in a chain. A protocol has a few answers, and each of its two sides has
/// half of them.
const ROUNDS: u64 = 8;
/// Least number of such chains. A single long chain may be a game or a transfer.
const CHAINS: u64 = 5;
/// Least number of answers at a site.
const EVENTS: u64 = 20;
/// Least share of long chains among the chains through a site, in percent.
const PERCENT: u64 = 50;
/// Number of events whose step is remembered.
const REMEMBERED: usize = 1 << 16;

/// Detector of chains of causes that go to and fro.
pub(super) struct PingPong {
    /// Steps of events, by the low bits of the id.
    known: Vec<Option<(EventId, EventId)>>,
    /// Steps by the message or task that begins them.
    steps: Recent<EventId, Step>,
    sites: HashMap<SiteId, OfSite>,
}

/// Effects of a message or a task up to the next message or task.
#[derive(Clone, Copy)]
struct Step {
    before: Option<EventId>,
    /// Site of the message or of the task.
    queue: SiteId,
    /// First two calls on subjects. A task has a subject of its own, so its function is the second
    /// call.
    calls: [Option<Call>; 2],
    /// Number of answers in the chain so far.
    rounds: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Call {
    site: SiteId,
    subject: Subject,
}

/// Answers at a site.
#[derive(Default)]
struct OfSite {
    /// Number of chains with an answer.
    chains: u64,
    long_chains: u64,
    answers: u64,
    longest: u64,
    self_ticks: u64,
    subjects: HashMap<Subject, u64>,
    /// Number of messages and tasks that lead to the answers, by their site.
    queues: HashMap<SiteId, u64>,
    events: Vec<EventId>,
}

impl Default for PingPong {
    fn default() -> Self {
        PingPong {
            known: vec![None; REMEMBERED],
            steps: Recent::default(),
            sites: HashMap::default(),
        }
    }
}

impl Detector for PingPong {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let Some(cause) = event.cause.event() else { continue };
            let it = &event.event;
            let before = self.step_of(cause.id);
            // An event that begins after the end of its cause was put off: a task, or a closure in
            // a queue.
            let is_effect_of_message = context.site_kind(cause.site) == SiteKind::Announcement;
            let is_put_off = !is_effect_of_message && cause.end.is_some_and(|end| end < it.start);
            let step =
                if is_put_off || context.sending(event).is_some() { Some(it.id) } else { before };
            let Some(step) = step else { continue };
            if step == it.id {
                self.steps
                    .insert(step, Step { before, queue: it.site, calls: [None; 2], rounds: 0 });
            }
            self.known[it.id.raw() as usize % REMEMBERED] = Some((it.id, step));
            if matches!(context.site_kind(it.site), SiteKind::Method | SiteKind::Async) {
                self.call(step, event);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.sites.iter().filter_map(|(&site, of_site)| finding(site, of_site, context)).collect()
    }
}

impl PingPong {
    fn step_of(&self, id: EventId) -> Option<EventId> {
        self.known[id.raw() as usize % REMEMBERED]
            .filter(|(known, _)| *known == id)
            .map(|(_, step)| step)
    }

    /// Adds a call to its step, and counts it if it is an answer.
    fn call(&mut self, id: EventId, event: &ResolvedEvent) {
        let it = &event.event;
        let Some(subject) = it.subject else { return };
        let Some(mut step) = self.steps.get_mut(&id).copied() else { return };
        let Some(place) = step.calls.iter().position(Option::is_none) else { return };
        let call = Call { site: it.site, subject };
        step.calls[place] = Some(call);
        let is_new = step.rounds == 0;
        if let Some(before) = step.before.and_then(|before| self.steps.get_mut(&before).copied())
            && let Some(first) = before.before.and_then(|first| self.steps.get_mut(&first))
        {
            let is_back = first.calls.contains(&Some(call));
            let was_elsewhere = !before.calls.contains(&Some(call)) || before.queue != step.queue;
            if is_new && is_back && was_elsewhere {
                step.rounds = before.rounds + 1;
                let is_first_here = match step.rounds {
                    1 => true,
                    2 => !before.calls.iter().flatten().any(|call| call.site == it.site),
                    _ => false,
                };
                self.sites.entry(it.site).or_default().add(event, subject, &step, is_first_here);
            }
        }
        self.steps.insert(id, step);
    }
}

impl OfSite {
    fn add(&mut self, event: &ResolvedEvent, subject: Subject, step: &Step, is_first_here: bool) {
        self.answers += 1;
        self.chains += u64::from(is_first_here);
        self.long_chains += u64::from(step.rounds == ROUNDS);
        self.longest = self.longest.max(step.rounds);
        self.self_ticks = self.self_ticks.saturating_add(event.self_ticks.unwrap_or(0));
        *self.subjects.entry(subject).or_default() += 1;
        *self.queues.entry(step.queue).or_default() += 1;
        if step.rounds >= ROUNDS && self.events.len() < NAMED {
            self.events.push(event.event.id);
        }
    }
}

fn finding(site: SiteId, found: &OfSite, context: &Context<'_>) -> Option<Finding> {
    if !found.subjects.keys().all(|subject| context.is_one_object(*subject)) {
        return None;
    }
    let is_often = found.long_chains >= CHAINS && found.answers >= EVENTS;
    if !is_often || found.long_chains * 100 < found.chains * PERCENT {
        return None;
    }
    // A transfer passes another value each time.
    let asked: HashSet<_> =
        found.events.iter().filter_map(|id| question::of(*id, context)).collect();
    if asked.len() == found.events.len() {
        return None;
    }
    let name = context.name(site);
    let mut queues: Vec<(SiteId, u64)> =
        found.queues.iter().map(|(site, count)| (*site, *count)).collect();
    queues.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    let mut sites = vec![context.site(site)];
    sites.extend(
        queues
            .iter()
            .filter(|(queue, _)| *queue != site)
            .take(NAMED)
            .map(|(queue, _)| context.site(*queue)),
    );
    let mut finding =
        Finding::new(KIND, format!("{name} comes back to the same subject again and again"), sites);
    finding.subjects = context.subjects(&found.subjects);
    finding.cost = Cost::of_work(context.ns(found.self_ticks), found.answers);
    finding.evidence = Evidence {
        text: format!(
            "{} calls of {name} are on the subject of the step before the last, by way of another subject or another queue; \
             {} of {} such chains have at least {ROUNDS} of them, and the longest has {}.",
            grouped(found.answers),
            grouped(found.long_chains),
            grouped(found.chains),
            grouped(found.longest),
        ),
        numbers: vec![
            ("answers", found.answers),
            ("chains", found.chains),
            ("longest", found.longest),
        ],
        events: found.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty = Certainty::Estimated(
        "the counts are exact; a conversation in which each answer brings new work looks the same"
            .to_owned(),
    );
    finding.advice =
        "let a change that another one caused cause no further change, or stop when nothing changes".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Moves a slider 30 times. Each movement is a message, which sets the slider of its round and
    /// sends the next one.
    fn check(
        rounds: u64,
        slider: impl Fn(u64, u64) -> u64,
        queue: impl Fn(u64) -> &'static str,
        expected: &[&str],
    ) {
        let mut run = Run::new();
        for queue in ["width", "height"] {
            run.site(&format!("{queue}::sent"), SiteKind::Announcement);
            run.site(&format!("{queue}::received"), SiteKind::Announcement);
        }
        for drag in 0..30 {
            let mut receipt = None;
            for round in 0..rounds {
                let queue = queue(round);
                let sent = run.because(receipt, &format!("{queue}::sent"), None, |_| {});
                receipt = Some(run.instant(&format!("{queue}::received"), None, Some(sent)));
                run.because(receipt, "photo::Slider::set", slider(drag, round), |run| {
                    run.work(100)
                });
            }
        }
        assert_eq!(run.found(PingPong::default()), expected);
    }

    #[test]
    fn two_subjects_that_set_each_other_are_found() {
        let found = "Slider::set comes back to the same subject again and again: answers=300 chains=30 longest=10";
        check(12, |_, round| round % 2, |_| "width", &[found]);
    }

    #[test]
    fn one_subject_between_two_queues_is_found() {
        let found = "Slider::set comes back to the same subject again and again: answers=300 chains=30 longest=10";
        check(12, |_, _| 7, |round| if round % 2 == 0 { "width" } else { "height" }, &[found]);
    }

    #[test]
    fn short_conversations_work_in_pieces_and_new_subjects_are_silent() {
        check(9, |_, round| round % 2, |_| "width", &[]);
        check(12, |_, _| 7, |_| "width", &[]);
        check(12, |drag, round| drag * 100 + round, |_| "width", &[]);
    }

    #[test]
    fn recursion_is_silent_and_tasks_that_spawn_each_other_are_found() {
        let run = |is_put_off: bool| {
            let mut run = Run::new();
            for _ in 0..30 {
                let mut cause = None;
                for round in 0..13 {
                    if is_put_off {
                        cause = Some(
                            run.because(cause, "oven::regulate", round % 2, |run| run.work(100)),
                        );
                        run.work(1);
                    }
                }
                fn regulate(run: &mut Run, round: u64) {
                    run.call("oven::regulate_now", round % 2, |run| {
                        if round > 0 {
                            regulate(run, round - 1)
                        }
                    });
                }
                regulate(&mut run, 10);
            }
            run.found(PingPong::default())
        };
        let found = "regulate comes back to the same subject again and again: answers=300 chains=30 longest=10";
        assert_eq!(run(true), [found]);
        assert_eq!(run(false), [] as [&str; 0]);
    }

    #[test]
    fn a_transfer_that_passes_something_else_each_time_is_silent() {
        let found = |chunk: fn(u64) -> u64| {
            let mut run = Run::new();
            ["data::sent", "data::received"]
                .iter()
                .for_each(|site| run.site(site, SiteKind::Announcement));
            for file in 0..30 {
                let mut receipt = None;
                for round in 0..12 {
                    let sent = run.because(receipt, "data::sent", None, |_| {});
                    receipt = Some(run.instant("data::received", None, Some(sent)));
                    let call = run
                        .because(receipt, "data::write", file * 2 + round % 2, |run| run.work(100));
                    run.argument(call, "chunk", &chunk(round).to_string());
                }
            }
            run.found(PingPong::default()).len()
        };
        assert_eq!((found(|round| round), found(|_| 7)), (0, 1));
    }
}
