//! `unheard`: a kind of message that is sent and has no effect, while others of its bus have.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::finding::NAMED;
use super::map::HashMap;
use super::{Context, Cost, Detector, Evidence, Finding};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "unheard";
/// Least number of messages of a kind.
const MESSAGES: u64 = 20;

/// Detector of messages without a receiver.
#[derive(Default)]
pub(super) struct Unheard {
    sites: HashMap<SiteId, Sent>,
}

/// Messages of a kind.
#[derive(Default)]
struct Sent {
    messages: u64,
    ticks: u64,
    effects: u64,
    receipts: u64,
    events: Vec<EventId>,
}

impl Detector for Unheard {
    fn kind(&self) -> &str {
        KIND
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        // A lost call may be the receipt.
        context.missing_calls()
    }

    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>) {
        let is_announced = |site| context.site_kind(site) == SiteKind::Announcement;
        for event in events {
            let it = &event.event;
            for reason in event.cause.event().into_iter().chain(&event.links).filter(|it| is_announced(it.site)) {
                let sent = self.sites.entry(reason.site).or_default();
                sent.effects += 1;
                sent.receipts += u64::from(is_announced(it.site) && it.outcome == Outcome::Instant);
            }
            if is_announced(it.site) && it.outcome != Outcome::Instant {
                let sent = self.sites.entry(it.site).or_default();
                sent.messages += 1;
                sent.ticks = sent.ticks.saturating_add(it.span.unwrap_or(0));
                if sent.events.len() < NAMED {
                    sent.events.push(it.id);
                }
            }
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        // The sites of a bus are registered at one place and have one module.
        let bus = |site: SiteId| {
            let site = context.store.site(site)?;
            let module = site.path.get(..site.module as usize).filter(|module| !module.is_empty())?;
            Some((module, site.file.as_str(), site.lines))
        };
        let heard: Vec<_> =
            self.sites.iter().filter(|(_, sent)| sent.receipts > 0).filter_map(|(site, _)| bus(*site)).collect();
        let unheard = self.sites.iter().filter(|(site, sent)| {
            let is_of_heard_bus = bus(**site).is_some_and(|bus| heard.contains(&bus));
            sent.messages >= MESSAGES && sent.effects == 0 && is_of_heard_bus
        });
        unheard.map(|(&site, sent)| finding(site, sent, context)).collect()
    }
}

fn finding(site: SiteId, sent: &Sent, context: &Context<'_>) -> Finding {
    let path = context.store.site_path(site);
    let mut finding = Finding::new(KIND, format!("{path} is never received"), vec![context.site(site)]);
    finding.cost = Cost::of_work(context.ns(sent.ticks), sent.messages);
    finding.evidence = Evidence {
        text: format!(
            "{} messages have no receipt and no other effect, while other kinds of the same bus are received.",
            grouped(sent.messages),
        ),
        numbers: vec![("messages", sent.messages)],
        events: sent.events.clone(),
        filter: context.filter(site),
    };
    finding.advice = "subscribe to this kind where it is needed, or do not send it".to_owned();
    finding
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Sends 30 messages of two kinds. The second kind has as many receipts as `receipts` says.
    fn check(receipts: u64, expected: &[&str]) {
        let mut run = Run::new();
        let sites = ["room::Wrote::sent", "room::Wrote::received", "room::Left::sent", "room::Left::received"];
        sites.iter().for_each(|site| run.site_in("room", site, SiteKind::Announcement));
        for round in 0..30 {
            let sent = run.leaf("room::Wrote::sent", None, 10);
            run.instant("room::Wrote::received", None, Some(sent));
            let left = run.leaf("room::Left::sent", None, 10);
            if round < receipts {
                run.instant("room::Left::received", None, Some(left));
            }
        }
        assert_eq!(run.found(Unheard::default()), expected);
    }

    #[test]
    fn a_kind_that_nobody_receives_is_found() {
        check(0, &["room::Left::sent is never received: messages=30"]);
    }

    #[test]
    fn a_kind_that_is_received_at_all_is_silent() {
        check(30, &[]);
        check(1, &[]);
    }
}
