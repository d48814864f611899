//! `heard-twice`: one message reaches the same receiver twice.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{BySite, HashMap};
use super::recent::Recent;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "heard-twice";
/// Least number of messages that one receiver hears twice, or that a site hears twice.
const MESSAGES: u64 = 5;
/// Largest share of a site's messages that it hears twice, in percent, where each message has a
/// subject of its own. A larger share shows an intended repetition.
const SOME_PERCENT: u64 = 30;

/// Detector of receivers that hear a message again.
#[derive(Default)]
pub(super) struct HeardTwice {
    /// Receipts of messages, by the event of the receipt and by the tasks and closures that it
    /// leads to.
    messages: Recent<EventId, Receipt>,
    /// Sites of the keys of `messages`. Most sites have none.
    carriers: BySite<()>,
    /// First receipt of a message by a receiver.
    heard: Recent<(EventId, SiteId, Subject), EventId>,
    receivers: BySite<Again>,
}

/// Receipt of a message.
#[derive(Clone, Copy)]
struct Receipt {
    message: EventId,
    receipt: EventId,
    site: SiteId,
}

/// Receipts of messages that the receiver had heard before.
#[derive(Default)]
struct Again {
    /// Number of messages that a receiver hears for the first time.
    heard: u64,
    events: u64,
    ticks: u64,
    subjects: HashMap<Subject, u64>,
    /// Repeated receipts by the site of the receipt.
    receipts: HashMap<SiteId, u64>,
    first: Vec<EventId>,
}

impl Detector for HeardTwice {
    fn kind(&self) -> &str {
        KIND
    }

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.has_events_of(SiteKind::Announcement))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        for &event in events {
            let it = &event.event;
            let Some(cause) = event.cause.event() else { continue };
            if let Some(sending) = context.sending(event) {
                self.messages
                    .insert(it.id, Receipt { message: sending.id, receipt: it.id, site: it.site });
                self.carriers.of(it.site);
                continue;
            }
            if self.carriers.get(cause.site).is_none() {
                continue;
            }
            let Some(&mut receipt) = self.messages.get_mut(&cause.id) else { continue };
            let Some(subject) = it.subject else {
                // The event is a task or a closure between the receipt and the receiver.
                self.messages.insert(it.id, receipt);
                self.carriers.of(it.site);
                continue;
            };
            let receiver = (receipt.message, it.site, subject);
            match self.heard.get_mut(&receiver) {
                None => {
                    self.heard.insert(receiver, receipt.receipt);
                    self.receivers.of(it.site).heard += 1;
                }
                Some(first) if *first == receipt.receipt => {}
                Some(_) => self.receivers.of(it.site).add(event, subject, receipt, context),
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.receivers.iter().filter_map(|(site, again)| finding(site, again, context)).collect()
    }
}

impl Again {
    fn add(
        &mut self,
        event: &ResolvedEvent,
        subject: Subject,
        receipt: Receipt,
        context: &Context<'_>,
    ) {
        self.events += 1;
        self.ticks = self.ticks.saturating_add(context.busy_ticks(event));
        *self.subjects.entry(subject).or_default() += 1;
        *self.receipts.entry(receipt.site).or_default() += 1;
        if self.first.len() < NAMED {
            self.first.push(event.event.id);
        }
    }
}

fn finding(site: SiteId, again: &Again, context: &Context<'_>) -> Option<Finding> {
    let of_least = |least: u64| -> HashMap<Subject, u64> {
        let subjects = again.subjects.iter().map(|(subject, count)| (*subject, *count));
        subjects
            .filter(|&(subject, count)| count >= least && context.is_one_object(subject))
            .collect()
    };
    let mut subjects = of_least(MESSAGES);
    let (mut title, mut counted) = match subjects.len() {
        1 => ("of one receiver hears the same message twice", "receivers"),
        _ => ("of some receivers hears the same message twice", "receivers"),
    };
    if subjects.is_empty() {
        // Where the message is about the subject, each subject has one or two receipts.
        subjects = of_least(1);
        (title, counted) = ("hears some messages twice", "subjects");
        let messages: u64 = subjects.values().sum();
        if messages < MESSAGES || messages * 100 > again.heard * SOME_PERCENT {
            return None;
        }
    }
    let name = context.name(site);
    let mut sites = vec![context.site(site)];
    let mut receipts: Vec<_> = again.receipts.iter().collect();
    receipts.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    sites.extend(receipts.iter().map(|(site, _)| context.site(**site)));
    let mut finding = Finding::new(KIND, format!("{name} {title}"), sites);
    finding.subjects = context.subjects(&subjects);
    finding.cost = Cost::of_work(context.ns(again.ticks), again.events);
    finding.evidence = Evidence {
        text: format!(
            "{} calls are caused by a second receipt of a message that had already reached the same {name} and subject.",
            grouped(again.events),
        ),
        numbers: vec![("second_calls", again.events), (counted, subjects.len() as u64)],
        events: again.first.clone(),
        filter: context.filter(site),
    };
    finding.certainty = context.counted("counts exact");
    finding.advice = "look for a second subscription of these receivers, and remove it".to_owned();
    Some(finding)
}

#[cfg(test)]
mod tests {
    use metaspy_probe::SiteKind;

    use super::super::testing::Run;
    use super::*;

    /// Sends 20 messages, each to the views in `ears`, in this order.
    fn check(ears: &[u64], expected: &[&str]) {
        let mut run = Run::new();
        run.site("room::sent", SiteKind::Announcement);
        run.site("room::received", SiteKind::Announcement);
        for _ in 0..20 {
            let sent = run.leaf("room::sent", None, 10);
            for &view in ears {
                let received = run.instant("room::received", None, Some(sent));
                run.because(Some(received), "chat::View::show", view, |run| {
                    run.work(100);
                    run.leaf("chat::View::wrap", view, 10);
                });
            }
        }
        assert_eq!(run.found(HeardTwice::default()), expected);
    }

    #[test]
    fn a_view_that_subscribes_twice_is_found() {
        let found =
            "View::show of one receiver hears the same message twice: second_calls=20 receivers=1";
        check(&[1, 2, 3, 3], &[found]);
    }

    #[test]
    fn a_callback_that_is_in_a_list_twice_is_found() {
        let mut run = Run::new();
        run.site("editor::saved::sent", SiteKind::Announcement);
        run.site("editor::saved::received", SiteKind::Announcement);
        for _ in 0..20 {
            run.call("editor::saved::sent", None, |run| {
                for view in [1, 2, 3, 3] {
                    run.call("editor::saved::received", None, |run| {
                        _ = run.leaf("editor::View::mark", view, 100)
                    });
                }
            });
        }
        let found =
            "View::mark of one receiver hears the same message twice: second_calls=20 receivers=1";
        assert_eq!(run.found(HeardTwice::default()), [found]);
    }

    #[test]
    fn orders_of_which_some_are_heard_twice_are_found_and_orders_that_two_depots_hear_are_silent() {
        let heard = |depots: fn(u64) -> u64| {
            let mut run = Run::new();
            run.site("orders::sent", SiteKind::Announcement);
            run.site("orders::received", SiteKind::Announcement);
            for order in 0..100 {
                let sent = run.leaf("orders::sent", None, 10);
                for _ in 0..depots(order) {
                    let received = run.instant("orders::received", None, Some(sent));
                    run.because(Some(received), "shop::reserve", order, |run| run.work(100));
                }
            }
            run.found(HeardTwice::default())
        };
        let found = "reserve hears some messages twice: second_calls=10 subjects=10";
        assert_eq!(heard(|order| 1 + u64::from(order % 10 == 3)), [found]);
        assert_eq!(heard(|_| 2), [] as [&str; 0]);
        assert_eq!(heard(|order| 1 + u64::from(order % 2 == 0)), [] as [&str; 0]);
    }

    #[test]
    fn several_listeners_are_silent() {
        check(&[1, 2, 3, 4], &[]);
    }
}
