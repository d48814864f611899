//! `backlog`: messages wait longer than they are worked on, and the wait grows.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{Event, EventId, Outcome, Reason, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::HashMap;
use super::samples::Samples;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::{grouped, time};

/// Word of the kind.
const KIND: &str = "backlog";
/// Least number of received messages.
const MESSAGES: u64 = 100;
/// Least growth of the wait, from the first quarter of the messages to the last one.
const GROWTH: u64 = 3;
/// Least wait in the last quarter of the messages, in nanoseconds.
const WAIT_NS: u64 = 1_000_000;
/// Least wait in the last quarter, in times from one receipt to the next.
const RECEIPTS: u64 = 5;
/// Least share of the variance of the waits that a straight line explains.
const R2: f64 = 0.6;
/// Least part of the time of the receipts in which messages are sent, in percent. The messages of a
/// burst are sent at once.
const SENDING_PERCENT: u64 = 10;

/// Median time between two sendings below which they may be one batch, in nanoseconds.
const BATCH_GAP_NS: u64 = 20_000;
/// Longest time in which a batch is sent, in nanoseconds.
const BATCH_NS: u64 = 1_000_000_000;
/// Least time between two sendings that is a pause, in nanoseconds, and least share of the sendings
/// that follow one, in percent. A stream of small groups has pauses between the groups. A batch
/// pauses only where its sender loses its processor.
const PAUSE_NS: u64 = 100_000;
const PAUSES_PERCENT: u64 = 10;

/// Detector of queues whose waits grow.
#[derive(Default)]
pub(super) struct Backlog(HashMap<SiteId, Queue>);

/// Messages that were received at a site.
#[derive(Default)]
struct Queue {
    sent: Option<SiteId>,
    received: u64,
    /// Waits in ticks, by quarters of the messages.
    waits: [Samples<u64>; 4],
    /// Ticks between two receipts.
    gaps: Samples<u64>,
    /// Ticks between the sendings of two messages.
    sent_gaps: Samples<u64>,
    /// Sendings that follow a pause, by quarters of the messages.
    pauses: [u64; 4],
    last_sent: u64,
    sent_from: u64,
    sent_until: u64,
    first: u64,
    last: u64,
    /// Messages that were sent after the first receipt.
    sent_later: u64,
    line: Line,
    events: Vec<EventId>,
}

/// Sums for a straight line through points.
#[derive(Default)]
struct Line {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Detector for Backlog {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.sites_of(SiteKind::Announcement)
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let is_announcement = |site| context.site_kind(site) == SiteKind::Announcement;
            let Some(sent) = event.cause.event() else { continue };
            let is_receipt = it.outcome == Outcome::Instant && is_announcement(it.site);
            if is_receipt
                && sent.site != it.site
                && is_announcement(sent.site)
                && context.is_whole_since(event)
            {
                let queue = self.0.entry(it.site).or_default();
                queue.add(it, sent, context);
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.0.iter().filter_map(|(&site, queue)| finding(site, queue, context)).collect()
    }
}

impl Queue {
    fn add(&mut self, receipt: &Event, sending: &Reason, context: &Context<'_>) {
        let received_at = receipt.start;
        let sent_at = sending.start;
        let messages = context.survey.events_of(receipt.site);
        let quarter = (self.received * 4 / messages.max(1)).min(3) as usize;
        if self.received == 0 {
            self.first = received_at;
            self.sent_from = sent_at;
        } else {
            let sent_gap = sent_at.abs_diff(self.last_sent);
            self.gaps.add(received_at.saturating_sub(self.last));
            self.sent_gaps.add(sent_gap);
            self.pauses[quarter] += u64::from(context.ns(sent_gap) >= PAUSE_NS);
        }
        self.last_sent = sent_at;
        let wait = received_at.saturating_sub(sent_at);
        self.sent = Some(sending.site);
        self.last = received_at;
        self.sent_from = self.sent_from.min(sent_at);
        self.sent_until = self.sent_until.max(sent_at);
        self.sent_later += u64::from(sent_at > self.first);
        self.waits[quarter].add(wait);
        self.line.add(self.received as f64, wait as f64);
        self.received += 1;
        if quarter == 3 && self.events.len() < NAMED {
            self.events.push(receipt.id);
        }
    }

    /// Returns true if messages are sent in groups with pauses between them, as long as messages
    /// are sent.
    fn has_pauses(&self) -> bool {
        self.pauses.iter().all(|&pauses| is_share(pauses * 4, self.received, PAUSES_PERCENT))
    }
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// Returns the share of the variance that the line explains, if it rises.
    fn r2_if_rising(&self) -> f64 {
        let covariance = self.n * self.xy - self.x * self.y;
        let variances = (self.n * self.xx - self.x * self.x) * (self.n * self.yy - self.y * self.y);
        if covariance > 0.0 && variances > 0.0 { covariance * covariance / variances } else { 0.0 }
    }
}

fn finding(site: SiteId, queue: &Queue, context: &Context<'_>) -> Option<Finding> {
    let [first, .., last] = &queue.waits;
    let first = first.median();
    let last = last.median();
    let gap = queue.gaps.median();
    let grows = last >= first.saturating_mul(GROWTH) && queue.line.r2_if_rising() > R2;
    let is_long = context.ns(last)
        > context.config.at_least(KIND, "wait-us", WAIT_NS / 1_000).saturating_mul(1_000)
        && last >= gap.saturating_mul(RECEIPTS);
    let receiving = queue.last.saturating_sub(queue.first);
    let sending = queue.sent_until.saturating_sub(queue.sent_from);
    let is_burst =
        !is_share(sending, receiving, SENDING_PERCENT) || queue.sent_later * 2 < queue.received;
    // Messages that a loop sends without a pause are a batch. Its receiver works it off, however
    // long that takes.
    let is_without_pause =
        context.ns(queue.sent_gaps.median()) < BATCH_GAP_NS && !queue.has_pauses();
    let is_batch = is_without_pause && context.ns(sending) < BATCH_NS;
    if queue.received < context.config.at_least(KIND, "messages", MESSAGES)
        || !grows
        || !is_long
        || is_burst
        || is_batch
    {
        return None;
    }
    let sites: Vec<_> =
        [Some(site), queue.sent].into_iter().flatten().map(|site| context.site(site)).collect();
    let name = context.store.site_path(site);
    let mut finding =
        Finding::new(KIND, format!("Messages wait longer and longer for {name}"), sites);
    finding.cost = Cost::of_events(queue.received);
    finding.evidence = Evidence {
        text: format!(
            "{} messages: of the first quarter, half wait for at least {}, and of the last quarter for at least {}; one is \
             received every {} (median). {} of them were sent after the first receipt.",
            grouped(queue.received),
            time(context.ns(first)),
            time(context.ns(last)),
            time(context.ns(gap)),
            grouped(queue.sent_later),
        ),
        numbers: vec![("messages", queue.received)],
        events: queue.events.clone(),
        filter: context.filter(site),
    };
    finding.certainty =
        context.counted("the number of messages is exact, and their waits are measured");
    finding.advice =
        "receive several messages at once, add receivers, or bound the queue so that senders wait"
            .to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Sends 400 messages, the n-th at `sent(n)` and receives it at `received(n)`, in microseconds.
    fn check(sent: impl Fn(u64) -> u64, received: impl Fn(u64) -> u64, is_found: bool) {
        let mut run = Run::new();
        run.site("mail::sent", SiteKind::Announcement);
        run.site("mail::received", SiteKind::Announcement);
        let mut steps: Vec<(u64, u64, bool)> = Vec::new();
        for n in 0..400 {
            steps.push((sent(n), n, true));
            steps.push((received(n), n, false));
        }
        steps.sort_by_key(|&(at, n, is_sent)| (at, n, !is_sent));
        let mut messages = HashMap::default();
        for (at, n, is_sent) in steps {
            run.now = 1_000 + at * 1_000;
            if is_sent {
                run.on(0);
                messages.insert(n, run.leaf("mail::sent", None, 0));
            } else {
                run.on(1);
                run.instant("mail::received", None, messages.get(&n).copied());
            }
        }
        let title = "Messages wait longer and longer for mail::received: messages=400";
        assert_eq!(run.found(Backlog::default()), if is_found { vec![title] } else { Vec::new() });
    }

    #[test]
    fn a_receiver_that_is_slower_than_the_sender_is_found() {
        check(|n| n * 200, |n| n * 600 + 5, true);
    }

    #[test]
    fn small_groups_with_pauses_are_no_batch() {
        check(|n| n / 4 * 800 + n % 4 * 5, |n| n * 600 + 5, true);
        check(|n| n / 50 * 8_000 + n % 50 * 5, |n| n * 600 + 5, false);
    }

    #[test]
    fn a_small_part_of_the_calls_is_no_search() {
        let partly = |folded: u64| {
            let mut run = Run::new();
            run.folded(folded);
            (0..10).for_each(|_| _ = run.leaf("mail::send", None, 10));
            let findings = run.findings(Backlog::default());
            (
                findings.partly_looked_for.into_iter().map(|it| it.why).collect::<Vec<_>>(),
                findings.totals.stored,
            )
        };
        assert_eq!(partly(10), (vec![], 10));
        let why = "10 of 100 calls are events: record with a larger METASPY_BUDGET";
        assert_eq!(partly(90), (vec![why.to_owned()], 10));
    }

    #[test]
    fn a_receiver_that_keeps_up_is_silent() {
        check(|n| n * 600, |n| n * 600 + 2_000, false);
    }

    #[test]
    fn bursts_that_are_worked_off_are_silent() {
        check(|n| n, |n| n * 600 + 5, false);
        check(|n| n * 10, |n| n * 30 + 5, false);
        check(|n| n / 50 * 40_000 + n % 50, |n| n / 50 * 40_000 + n % 50 * 600 + 5, false);
    }

    #[test]
    fn a_bounded_queue_is_silent() {
        check(|n| n.saturating_sub(10) * 600 + n, |n| n * 600 + 500, false);
    }
}
