//! `unheard`: a kind of message is sent and has no effect, while other kinds on its bus have
//! effects.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{EventId, Outcome, ResolvedEvent};

use super::finding::{NAMED, is_share};
use super::map::BySite;
use super::{Certainty, Context, Cost, Detector, Evidence, Finding};
use crate::text::grouped;

/// Word of the kind.
const KIND: &str = "unheard";
/// Least number of messages of a kind.
const MESSAGES: u64 = 20;
/// Least part of the recording in which the messages of a bus without any receipt are sent, in
/// percent.
const SENDING_PERCENT: u64 = 50;

/// Detector of messages without a receiver.
#[derive(Default)]
pub(super) struct Unheard {
    sites: BySite<Sent>,
    first: Option<u64>,
    last: u64,
}

/// Messages of a kind.
#[derive(Default)]
struct Sent {
    messages: u64,
    ticks: u64,
    effects: u64,
    receipts: u64,
    first: Option<u64>,
    last: u64,
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

    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.all_sites_if(context.has_events_of(SiteKind::Announcement))
    }

    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>) {
        let is_announced = |site| context.site_kind(site) == SiteKind::Announcement;
        for &event in events {
            let it = &event.event;
            let sending = context.sending(event).map(|sending| sending.id);
            for reason in event
                .cause
                .event()
                .into_iter()
                .chain(&event.links)
                .filter(|it| is_announced(it.site))
            {
                let sent = self.sites.of(reason.site);
                sent.effects += 1;
                sent.receipts += u64::from(sending == Some(reason.id));
            }
            // A sending has an end, and the receipt of a channel is an instant. A sending that
            // fails has no receiver.
            let is_sending =
                is_announced(it.site) && !matches!(it.outcome, Outcome::Instant | Outcome::Failed);
            if is_sending && sending.is_none() {
                let sent = self.sites.of(it.site);
                sent.messages += 1;
                sent.ticks = sent.ticks.saturating_add(it.span.unwrap_or(0));
                sent.first.get_or_insert(it.start);
                sent.last = it.start;
                if sent.events.len() < NAMED {
                    sent.events.push(it.id);
                }
            }
            self.first.get_or_insert(it.start);
            self.last = it.start;
        }
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        // The sites of a bus are registered at one place and have one module.
        let bus = |site: SiteId| {
            let site = context.store.site(site)?;
            let module =
                site.path.get(..site.module as usize).filter(|module| !module.is_empty())?;
            Some((module, site.file.as_str(), site.lines))
        };
        let heard: Vec<_> = self
            .sites
            .iter()
            .filter(|(_, sent)| sent.receipts > 0)
            .filter_map(|(site, _)| bus(site))
            .collect();
        let recorded = self.last.saturating_sub(self.first.unwrap_or(0));
        let unheard =
            self.sites.iter().filter(|(_, sent)| sent.messages >= MESSAGES && sent.receipts == 0);
        let found = unheard.filter_map(|(site, sent)| {
            let is_of_heard_bus = heard.contains(&bus(site)?);
            // Messages at the end of the recording may be in a bus that nobody has read yet.
            let sending = sent.last.saturating_sub(sent.first.unwrap_or(0));
            let is_all_the_time = is_share(sending, recorded, SENDING_PERCENT);
            // On a bus that nobody reads, the kind with the most messages stands for all kinds.
            let is_most = || {
                !self.sites.iter().any(|(other, it)| {
                    bus(other) == bus(site) && (it.messages, other) > (sent.messages, site)
                })
            };
            // Where receipts are recorded, all other effects are computations of the sender.
            let is_found = is_of_heard_bus || sent.effects == 0 && is_all_the_time && is_most();
            is_found.then(|| finding(site, sent, is_of_heard_bus, context))
        });
        found.collect()
    }
}

fn finding(site: SiteId, sent: &Sent, is_of_heard_bus: bool, context: &Context<'_>) -> Finding {
    let path = context.store.site_path(site);
    let mut finding =
        Finding::new(KIND, format!("{path} is never received"), vec![context.site(site)]);
    finding.cost = Cost::of_work(context.ns(sent.ticks), sent.messages);
    finding.evidence = Evidence {
        text: format!(
            "{} messages have no receipt{}, {}.",
            grouped(sent.messages),
            if sent.effects == 0 { " and no other effect" } else { "" },
            if is_of_heard_bus {
                "while other kinds of the same bus are received"
            } else {
                "and their bus has no receipt at all"
            },
        ),
        numbers: vec![("messages", sent.messages)],
        events: sent.events.clone(),
        filter: context.filter(site),
    };
    if !is_of_heard_bus {
        finding.certainty = Certainty::Estimated(
            "the counts are exact; a receiver that is not observed, such as one of a `watch` that only borrows, is not known"
                .to_owned(),
        );
    }
    finding.advice = "subscribe to this kind where it is needed, or do not send it".to_owned();
    finding
}

#[cfg(test)]
mod tests {
    use super::super::testing::Run;
    use super::*;

    /// Sends 30 messages of two kinds. The second kind has `receipts` receipts.
    fn check(receipts: u64, expected: &[&str]) {
        let mut run = Run::new();
        let sites = [
            "room::Wrote::sent",
            "room::Wrote::received",
            "room::Left::sent",
            "room::Left::received",
        ];
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
    fn a_bus_that_nobody_reads_is_found_once() {
        let run = |from: u64| {
            let mut run = Run::new();
            let sites = ["room::Wrote::sent", "room::Left::sent"];
            sites.iter().for_each(|site| run.site_in("room", site, SiteKind::Announcement));
            for round in 0..100 {
                run.leaf("room::work", None, 1_000);
                if round >= from {
                    sites.iter().for_each(|site| _ = run.leaf(site, None, 10));
                }
            }
            run.found(Unheard::default())
        };
        assert_eq!(run(0), ["room::Left::sent is never received: messages=100"]);
        assert_eq!(run(70), [] as [&str; 0]);
    }

    #[test]
    fn an_announcement_without_listeners_is_found_beside_one_with_a_callback() {
        let mut run = Run::new();
        let sites = ["room::Wrote::sent", "room::Wrote::received", "room::Left::sent"];
        sites.iter().for_each(|site| run.site_in("room", site, SiteKind::Announcement));
        for _ in 0..30 {
            run.call("room::Wrote::sent", None, |run| {
                _ = run.leaf("room::Wrote::received", None, 10)
            });
            run.leaf("room::Left::sent", None, 10);
        }
        assert_eq!(
            run.found(Unheard::default()),
            ["room::Left::sent is never received: messages=30"]
        );
    }

    #[test]
    fn a_kind_that_is_received_at_all_is_silent() {
        check(30, &[]);
        check(1, &[]);
    }

    #[test]
    fn what_a_sender_computes_is_no_receipt_where_receipts_are_recorded() {
        let found = |is_heard: bool| {
            let mut run = Run::new();
            let sites = ["room::Wrote::sent", "room::Wrote::received", "room::Left::sent"];
            sites.iter().for_each(|site| run.site_in("room", site, SiteKind::Announcement));
            for _ in 0..30 {
                run.call("room::Wrote::sent", None, |run| {
                    let path = if is_heard { "room::Wrote::received" } else { "room::work" };
                    run.leaf(path, None, 10);
                });
                run.call("room::Left::sent", None, |run| _ = run.leaf("room::count", None, 10));
            }
            run.found(Unheard::default())
        };
        assert_eq!(found(true), ["room::Left::sent is never received: messages=30"]);
        assert_eq!(found(false), [] as [&str; 0]);
    }
}
