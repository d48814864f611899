//! `heard-twice`: one message reaches the same receiver twice.

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, ResolvedEvent};

use super::finding::NAMED;
use super::map::{BySite, HashMap};
use super::recent::Recent;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "heard-twice";
/// Least number of messages that one receiver hears twice.
const MESSAGES: u64 = 5;

/// Detector of receivers that hear a message again.
#[derive(Default)]
pub(super) struct HeardTwice {
    /// Messages by their receipts, and by what the receipts lead to.
    messages: Recent<EventId, Receipt>,
    /// Sites of these events: most sites have none.
    carriers: BySite<()>,
    /// First receipt of a message by a receiver.
    heard: Recent<(EventId, SiteId, Subject), EventId>,
    receivers: HashMap<SiteId, Again>,
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
    events: u64,
    ticks: u64,
    subjects: HashMap<Subject, u64>,
    /// Receipts by their site.
    receipts: HashMap<SiteId, u64>,
    first: Vec<EventId>,
}

impl Detector for HeardTwice {
    fn kind(&self) -> &str {
        KIND
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        for event in events {
            let it = &event.event;
            let Some(cause) = event.cause.event() else { continue };
            if let Some(sending) = context.sending(event) {
                self.messages.insert(it.id, Receipt { message: sending.id, receipt: it.id, site: it.site });
                self.carriers.of(it.site);
                continue;
            }
            if self.carriers.get(cause.site).is_none() {
                continue;
            }
            let Some(&mut receipt) = self.messages.get_mut(&cause.id) else { continue };
            let Some(subject) = it.subject else {
                // A task or a closure between the receipt and the receiver.
                self.messages.insert(it.id, receipt);
                self.carriers.of(it.site);
                continue;
            };
            let receiver = (receipt.message, it.site, subject);
            match self.heard.get_mut(&receiver) {
                None => _ = self.heard.insert(receiver, receipt.receipt),
                Some(first) if *first == receipt.receipt => {}
                Some(_) => self.receivers.entry(it.site).or_default().add(event, subject, receipt),
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        self.receivers.iter().filter_map(|(&site, again)| finding(site, again, context)).collect()
    }
}

impl Again {
    fn add(&mut self, event: &ResolvedEvent, subject: Subject, receipt: Receipt) {
        self.events += 1;
        self.ticks = self.ticks.saturating_add(event.event.span.unwrap_or(0));
        *self.subjects.entry(subject).or_default() += 1;
        *self.receipts.entry(receipt.site).or_default() += 1;
        if self.first.len() < NAMED {
            self.first.push(event.event.id);
        }
    }
}

fn finding(site: SiteId, again: &Again, context: &Context<'_>) -> Option<Finding> {
    let subjects: HashMap<Subject, u64> = again
        .subjects
        .iter()
        .filter(|(subject, count)| **count >= MESSAGES && context.is_one_object(**subject))
        .map(|(subject, count)| (*subject, *count))
        .collect();
    if subjects.is_empty() {
        return None;
    }
    let name = context.name(site);
    let mut sites = vec![context.site(site)];
    let mut receipts: Vec<_> = again.receipts.iter().collect();
    receipts.sort_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    sites.extend(receipts.iter().map(|(site, _)| context.site(**site)));
    let words = if subjects.len() == 1 { "one receiver" } else { "some receivers" };
    let mut finding = Finding::new(KIND, format!("{name} of {words} hears the same message twice"), sites);
    finding.subjects = context.subjects(&subjects);
    finding.cost = Cost::of_work(context.ns(again.ticks), again.events);
    finding.evidence = Evidence {
        text: format!(
            "{} calls are caused by a second receipt of a message that had already reached the same {name} and subject.",
            grouped(again.events),
        ),
        numbers: vec![("second_calls", again.events), ("receivers", subjects.len() as u64)],
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

    /// Sends 20 messages to the views of `ears`, in this order.
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
        let found = "View::show of one receiver hears the same message twice: second_calls=20 receivers=1";
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
                    run.call("editor::saved::received", None, |run| _ = run.leaf("editor::View::mark", view, 100));
                }
            });
        }
        let found = "View::mark of one receiver hears the same message twice: second_calls=20 receivers=1";
        assert_eq!(run.found(HeardTwice::default()), [found]);
    }

    #[test]
    fn several_listeners_are_silent() {
        check(&[1, 2, 3, 4], &[]);
    }
}
