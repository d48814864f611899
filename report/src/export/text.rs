//! An event, or the chain of its causes, as text: for a clipboard, a ticket, a message.

use std::fmt::Write;

use metaspy_reader::{Event, EventId, Origin, Outcome, Store};

use super::csv::detail;
use super::record::{Names, Record};
use crate::text::{clean, grouped, time};

/// Causes of a chain at most. Of a longer one, the nearest are written.
const CAUSES_MAX: usize = 200;

/// An event as text, a line for each fact. `None` if it left the window.
///
/// The text has no control characters other than line breaks, so a terminal or a form takes it as
/// it is.
pub fn event_text(store: &Store, id: EventId) -> Option<String> {
    let event = store.event(id)?;
    let names = Names::read(store);
    let record = names.record(&event);
    let mut text = String::new();
    let mut line = |name: &str, value: &str| writeln!(text, "{name:<9}{}", clean(value));
    let mut write = || {
        line("event", &record.event)?;
        line("site", record.site)?;
        if !record.file.is_empty() {
            line("source", &format!("{}:{}", record.file, record.line))?;
        }
        if let Some(subject) = event.subject {
            line("subject", &subject_text(store, &record, subject))?;
        }
        line("when", &format!("{} ns", grouped(record.time_ns)))?;
        line("took", &took(&record, &event))?;
        line("outcome", store.outcome_word(&event))?;
        line("thread", record.thread)?;
        for (at, detail_record) in record.details.iter().enumerate() {
            line(if at == 0 { "details" } else { "" }, &detail(detail_record))?;
        }
        if let Some(cause) = &record.cause {
            let site = cause.site.unwrap_or("not in this recording");
            line(
                "cause",
                &format!(
                    "{} {site}",
                    cause.event.as_deref().or(cause.span.as_deref()).unwrap_or_default()
                ),
            )?;
        }
        record.links.iter().try_for_each(|link| line("link", link))
    };
    write().ok()?;
    Some(text)
}

/// The chain of causes of an event as text: a line for each event, the root first and the event
/// last. `None` if the event left the window.
pub fn chain_text(store: &Store, id: EventId) -> Option<String> {
    let event = store.event(id)?;
    let names = Names::read(store);
    let mut ancestors = store.causes(id);
    let mut chain: Vec<Event> = ancestors.by_ref().take(CAUSES_MAX).collect();
    let mut lines = match chain.len() {
        CAUSES_MAX => vec!["(more causes)".to_owned()],
        _ => origin(ancestors.origin()).into_iter().collect(),
    };
    chain.reverse();
    chain.push(event);
    for event in &chain {
        let record = names.record(event);
        let subject =
            event.subject.map(|subject| format!("  {}", subject_text(store, &record, subject)));
        let subject = subject.unwrap_or_default();
        let failed = match event.outcome {
            Outcome::Returned | Outcome::Succeeded | Outcome::Instant => String::new(),
            _ => format!("  {}", store.outcome_word(event)),
        };
        let links = if record.links.is_empty() {
            String::new()
        } else {
            format!("  links {}", record.links.join(" "))
        };
        let text = format!(
            "{}{subject}  {}{failed}{links}  [{}]",
            record.site,
            took(&record, event),
            record.event
        );
        lines.push(clean(&text).into_owned());
    }
    let indented =
        lines.iter().enumerate().map(|(depth, line)| format!("{}{line}\n", "  ".repeat(depth)));
    Some(indented.collect())
}

fn origin(origin: Origin) -> Option<String> {
    match origin {
        Origin::Root => None,
        Origin::Remote(remote) => Some(format!("(span {:016x} of another process)", remote.span)),
        Origin::Evicted(id) => Some(format!("({id}, not in this recording)")),
        Origin::Loop(id) => Some(format!("({id}, a loop: the recording is damaged)")),
    }
}

/// The label of a subject, with kind and key.
fn subject_text(store: &Store, record: &Record<'_>, subject: metaspy_probe::Subject) -> String {
    match record.subject.as_ref().and_then(|subject| subject.label) {
        Some(label) => format!("{label} ({})", store.subject_name(subject)),
        None => store.subject_name(subject),
    }
}

fn took(record: &Record<'_>, event: &Event) -> String {
    match record.took_ns {
        Some(ns) => time(ns),
        None => match event.outcome {
            Outcome::Instant => "an instant".to_owned(),
            Outcome::Running => "running".to_owned(),
            _ => "not timed".to_owned(),
        },
    }
}
