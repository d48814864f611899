//! Comma-separated values: one line for each event, in order of time, below a line of titles.

use std::io::{self, Write};

use super::record::{DetailRecord, Names, Record};
use super::{Exporter, Selection, Written};

/// CSV as RFC 4180 defines it.
#[derive(Clone, Copy, Debug)]
pub struct Csv;

/// The titles. Columns may be added behind them.
const TITLES: [&str; 19] = [
    "event",
    "time_ns",
    "took_ns",
    "site",
    "kind",
    "file",
    "line",
    "subject_kind",
    "subject_key",
    "subject_label",
    "cause",
    "cause_site",
    "cause_span",
    "links",
    "lane",
    "thread",
    "outcome",
    "timed",
    "details",
];

impl Exporter<Selection<'_>> for Csv {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let names = Names::read(selection.store);
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(TITLES)?;
        let events = selection.each(|event| Ok(csv.write_record(line(&names.record(event)))?))?;
        csv.flush()?;
        Ok(Written { events, notes: Vec::new() })
    }
}

fn line(record: &Record<'_>) -> [String; TITLES.len()] {
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    let subject = record.subject.as_ref();
    let cause = record.cause.as_ref();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    [
        record.event.clone(),
        record.time_ns.to_string(),
        number(record.took_ns),
        record.site.to_owned(),
        record.kind.to_owned(),
        record.file.to_owned(),
        record.line.to_string(),
        text(subject.map(|subject| subject.kind.as_str())),
        number(subject.map(|subject| subject.key)),
        text(subject.and_then(|subject| subject.label)),
        text(cause.and_then(|cause| cause.event.as_deref())),
        text(cause.and_then(|cause| cause.site)),
        text(cause.and_then(|cause| cause.span.as_deref())),
        record.links.join(" "),
        record.lane.to_string(),
        record.thread.to_owned(),
        record.outcome.to_owned(),
        record.timed.to_string(),
        record.details.iter().map(detail).collect::<Vec<_>>().join("; "),
    ]
}

/// `name=value`, as one line of text shows a detail.
pub(super) fn detail(detail: &DetailRecord) -> String {
    let DetailRecord { kind, name, value, cut } = detail;
    let name = if name.is_empty() { kind } else { name.as_str() };
    format!("{name}={value}{}", if *cut { "…" } else { "" })
}
