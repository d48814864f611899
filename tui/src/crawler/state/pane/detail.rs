//! Tab about the selected event: the chain of its causes, then its facts.

use metaspy_probe::SiteKind;
use metaspy_reader::{DetailKind, EndState, Event, Outcome, Store};
use metaspy_report::text::{clean, counted, duration, grouped, shorten_file, shorten_path, wrap};

use super::row::{Content, PaneRow};
use super::{causes, effects};
use crate::crawler::effects::Effects;
use crate::crawler::marks::Marks;
use crate::crawler::state::name;

/// Columns of the name of a fact.
pub const NAME: usize = 9;
/// Maximum number of lines of a value.
const LINES: usize = 12;
/// Maximum number of messages to other processes that are shown.
const SENT: usize = 8;

/// Builds the rows of the tab.
pub fn rows(
    store: &Store,
    event: &Event,
    effects: Option<&Effects>,
    marks: &Marks,
    columns: usize,
) -> Vec<PaneRow> {
    let gone = super::row::evicted_note(store, event);
    let is_gone = gone.is_some();
    let mut rows = match gone {
        Some(gone) => vec![PaneRow::plain(Content::Current(*event)), gone],
        None => chain(store, event),
    };
    rows.push(PaneRow::plain(Content::Blank));
    let mut fact =
        |name, value: String| push_fact(&mut rows, name, &value, columns.saturating_sub(NAME));
    if let Some(name) = marks.name(event.id).filter(|name| !name.is_empty()) {
        fact("mark", name.to_owned());
    }
    fact("took", duration_text(store, event, effects));
    if !matches!(event.outcome, Outcome::Running | Outcome::Instant) {
        fact("outcome", store.outcome_word(event).into());
    }
    if let Some((unit, rule)) = store.kept_because(event.id) {
        let over = match unit.threshold {
            0 => String::new(),
            ticks => format!(", over {}", duration(store.span_ns(ticks)).trim()),
        };
        fact("kept", format!("{rule}{over}"));
    } else if store.is_kept(event.id) {
        fact(
            "kept",
            if event.is_running() { "while it runs" } else { "with another event" }.into(),
        );
    }
    if let Some(cause) = event.cause.and_then(|id| store.event(id)) {
        let later = store.span_ns(event.start.saturating_sub(cause.start));
        fact(
            "cause",
            format!("{} (+{})", name::event(store, &cause), duration(later).replace(' ', "")),
        );
    }
    if let Some(remote) = store.remote_cause(event) {
        fact("cause", format!("span {:016x} of another process", remote.span));
        fact("", format!("in the trace {:032x}", remote.trace));
    }
    let marks = store.event_marks(event.id);
    for sent in marks.sent.iter().take(SENT) {
        let later = store.span_ns(sent.tick.saturating_sub(event.start));
        fact(
            "sent",
            format!(
                "span {:016x}, to another process (+{})",
                sent.span,
                duration(later).replace(' ', "")
            ),
        );
    }
    let links = marks.links.len();
    if links > 0 {
        fact("", format!("and {} further: see Causes", grouped(links as u64)));
    }
    match effects {
        _ if is_gone => {}
        Some(found) => fact("effects", effects::summary(store, found)),
        None => fact("effects", "…".into()),
    }
    if let Some(subject) = event.subject {
        fact("subject", name::subject(store, subject));
        match store.kind(subject.kind) {
            Some(kind) if kind.place => fact("", "a place in memory, not an identity".into()),
            Some(_) if store.label(subject).is_some() => {
                fact("", name::kind_and_key(store, subject))
            }
            _ => {}
        }
    }
    for detail in store.details(event.id) {
        let cut = if detail.cut { " … (cut)" } else { "" };
        match detail.kind {
            DetailKind::Argument => fact("arg", format!("{} = {}{cut}", detail.name, detail.value)),
            DetailKind::Return => fact("value", format!("{}{cut}", detail.value)),
            _ => fact("label", format!("{}{cut}", detail.value)),
        }
    }
    let kind = store.site(event.site).map(|site| site.kind);
    // Each of these scans the events of the lane up to the end of the event.
    if let Some(polls) =
        kind.is_some_and(SiteKind::is_entered).then(|| store.polls(event.id)).flatten()
    {
        let busy = duration(store.span_ns(polls.busy_ticks));
        let word = if kind == Some(SiteKind::Span) { "entered" } else { "polls" };
        fact(word, format!("{}, busy {}", grouped(polls.polls), busy.trim_start()));
    }
    if let Some(missed) =
        (kind == Some(SiteKind::Announcement)).then(|| store.gap(event.id)).flatten()
    {
        fact("missed", format!("{} before it", counted(missed, "announcement")));
    }
    if let Some(queued) = store.queued(event.id) {
        fact(
            "queued",
            format!("{} since it was sent", duration(store.span_ns(queued)).trim_start()),
        );
    }
    if event.level > 0 {
        fact("level", format!("{}: metaspy's own code or a handler", event.level));
    }
    fact("when", stamp(store.time_ns(event.start)));
    let lane = store.lanes().into_iter().find(|lane| lane.id == event.lane);
    fact(
        "lane",
        lane.map_or(format!("{}", event.lane.0), |lane| {
            format!("{} (thread {})", lane.name, lane.thread)
        }),
    );
    if let Some(process) = store.process_of(event.lane) {
        let file = process.source.rsplit('/').next().unwrap_or_default();
        fact("process", format!("{} ({file})", process.pid));
        if store.order_is_uncertain() {
            fact("", "times across processes are uncertain".into());
        }
    }
    if let Some(site) = store.site(event.site) {
        let room = columns.saturating_sub(NAME);
        fact("site", shorten_path(&clean(&site.path), room));
        if !site.file.is_empty() {
            fact("at", shorten_file(&clean(&format!("{}:{}", site.file, site.lines.0)), room));
        }
    }
    fact("event", event.id.to_string());
    rows
}

/// Formats minutes and seconds down to the nanosecond: `03:41.207 113 042`.
pub fn stamp(ns: u64) -> String {
    let s = ns / 1_000_000_000;
    let ms = ns / 1_000_000 % 1000;
    let us = ns / 1000 % 1000;
    format!("{:02}:{:02}.{ms:03} {us:03} {:03}", s / 60, s % 60, ns % 1000)
}

/// Builds the chain from the root down to the event. The middle of a long chain is left out.
fn chain(store: &Store, event: &Event) -> Vec<PaneRow> {
    let mut ancestors = store.causes(event.id);
    let mut chain: Vec<Event> = ancestors.by_ref().take(200).collect();
    let origin = if chain.len() < 200 { causes::origin(ancestors.origin(), false) } else { None };
    chain.reverse();
    let mut rows: Vec<PaneRow> =
        origin.map(|text| PaneRow::plain(Content::Note(text))).into_iter().collect();
    let hidden = if chain.len() > 6 { 2..chain.len() - 3 } else { 0..0 };
    let mut depth = 0;
    for (at, &cause) in chain.iter().enumerate() {
        if hidden.contains(&at) {
            if at == hidden.start {
                rows.push(PaneRow {
                    indent: indent(depth),
                    content: Content::Note(format!("… {} more …", hidden.len())),
                });
                depth += 1;
            }
            continue;
        }
        rows.push(PaneRow { indent: indent(depth), content: Content::Event(cause) });
        depth += 1;
    }
    rows.push(PaneRow { indent: indent(depth), content: Content::Current(*event) });
    rows
}

fn indent(depth: usize) -> String {
    if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) }
}

fn duration_text(store: &Store, event: &Event, effects: Option<&Effects>) -> String {
    match (event.span, event.outcome) {
        (_, Outcome::Running) => match store.end_state() {
            EndState::Live => "it still runs".into(),
            EndState::Snapshot => "still running when this was read".into(),
            _ => "it never ended: the program stopped here".into(),
        },
        (_, Outcome::Instant) => "an instant".into(),
        (Some(span), _) => {
            let total = duration(store.span_ns(span));
            match effects {
                Some(effects) => {
                    // An async call and a span have the time of their polls.
                    let is_entered = store.site(event.site).is_some_and(|it| it.kind.is_entered());
                    let polls = if is_entered { store.polls(event.id) } else { None };
                    let busy = polls.map_or(span, |polls| polls.busy_ticks);
                    let own = duration(store.span_ns(busy.saturating_sub(effects.ticks)));
                    let bound = if effects.is_least { "≤" } else { "" };
                    format!("{} (self {bound}{})", total.trim_start(), own.trim_start())
                }
                None => total.trim_start().into(),
            }
        }
        (None, Outcome::Moved) => "longer than the window: its time is only in the totals".into(),
        (None, _) => "not timed".into(),
    }
}

/// Adds a name and a value, on as many lines as the value takes.
fn push_fact(rows: &mut Vec<PaneRow>, name: &'static str, value: &str, columns: usize) {
    let mut lines = wrap(&clean(value), columns.max(8));
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines.push("…".into());
    }
    let mut lines = lines.into_iter();
    rows.push(PaneRow::plain(Content::Fact(name, lines.next().unwrap_or_default())));
    rows.extend(lines.map(|line| PaneRow::plain(Content::Continuation(line))));
}
