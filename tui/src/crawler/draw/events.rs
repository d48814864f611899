//! The list of events in order of time, indented by cause.
//!
//! ```text
//! ┌ 1,204 of 8.4 M ──────────────────────────┐
//! │ 03:41.207113 frame               1.81ms  │
//! │ 03:41.207119 ├ layout #1 html    1.79ms  │
//! │▶03:41.207204 │├ layout #412 p    61.2µs !│
//! └──────────────────────────────────────────┘
//! ```
//!
//! If the selected event has scrolled away, the first line shows it, so that list and pane agree.
//!
//! A cause with effects further below has a column of its own, as in `git log --graph`. Lines by
//! depth would be wrong, because lanes interleave, and a row then stands under an unrelated one.

use std::borrow::Cow;

use metaspy_reader::Outcome;
use metaspy_report::text::{duration, grouped, pad_left, short, width};

use super::canvas::Canvas;
use super::theme;
use crate::crawler::jobs::Slot;
use crate::crawler::layout::Area;
use crate::crawler::state::event_list::EventRow;
use crate::crawler::state::pane::detail;
use crate::crawler::state::{Crawler, indent, name};

/// Minimum width at which times are written with spaces.
const WIDE: u16 = 60;
/// Maximum number of columns for the lines of the tree; the rest belongs to the text.
const GUIDES: usize = 16;

/// Draws the list.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view;
    canvas.frame(
        area,
        &title(crawler),
        &follow_note(crawler),
        if view.pane.has_focus() { theme::FAINT } else { theme::FOCUS },
    );
    let inner = area.inner();
    let rows = view.list.visible();
    if rows.is_empty() {
        canvas.empty(inner, &why_empty(crawler));
        return;
    }
    let indents = indent::indents(&crawler.store, &view.filter, rows);
    let above = view.list.offscreen_selection().map(|event| {
        let gone = crawler.store.event(event.id).is_none();
        EventRow { event, gone }
    });
    // Minutes may take more than two columns, and all rows use the same number.
    let ends = [above.as_ref(), rows.last()].into_iter().flatten();
    let columns =
        ends.map(|row| width(&stamp(crawler, row, inner.width >= WIDE))).max().unwrap_or(0);
    for ((y, row), indent) in (inner.y..inner.y + inner.height).zip(rows).zip(&indents) {
        let line = Area { y, height: 1, ..inner };
        match above.as_ref().filter(|_| y == inner.y) {
            Some(above) => draw_row(canvas, line, crawler, above, "", columns),
            None => draw_row(canvas, line, crawler, row, indent, columns),
        }
    }
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    line: Area,
    crawler: &Crawler,
    row: &EventRow,
    indent: &str,
    columns: usize,
) {
    let event = &row.event;
    let selected = crawler.view.list.selected_id() == Some(event.id);
    let plain = if row.gone { theme::FAINT } else { theme::PLAIN };
    let wide = line.width >= WIDE;
    let (mark, style) = match (crawler.marks.name(event.id).is_some(), selected) {
        (true, true) => ("◈", theme::MARK),
        (true, false) => ("◆", theme::MARK),
        (false, true) => ("▶", theme::FOCUS),
        (false, false) => (" ", theme::PLAIN),
    };
    let gap = u16::from(wide);
    canvas.text(line.x, line.y, 1, mark, style);
    let mut x = line.x + 1 + gap;
    let stamp = pad_left(&stamp(crawler, row, wide), columns);
    x += canvas.text(x, line.y, line.width, &stamp, theme::FAINT) + 1;
    let end = line.x + line.width;
    let took = if wide { 9 } else { 7 };
    let is_timed = event.span.is_some() && event.timed && event.outcome != Outcome::Instant;
    // An event without a duration leaves these columns to the text.
    let took = if is_timed || row.gone || event.is_running() { took } else { 0 };
    let room = end.saturating_sub(x + took + 1);
    let indent = clip(indent);
    let indent: Cow<'_, str> = if wide || indent.is_empty() {
        indent.into()
    } else {
        // A level takes a single column instead of two.
        indent.chars().step_by(2).chain([' ']).collect::<String>().into()
    };
    let used = canvas.text(x, line.y, room, &indent, theme::FAINT);
    canvas.text(
        x + used,
        line.y,
        room - used,
        &name::fit_event(&crawler.store, event, (room - used) as usize),
        plain,
    );
    let (sign, style) = theme::outcome(event.outcome);
    match event.span {
        _ if row.gone => canvas.right(end - 1, line.y, took, "gone", theme::FAINT),
        _ if event.outcome == Outcome::Running => canvas.right(end, line.y, took, "runs …", style),
        Some(span) if is_timed => {
            let ns = crawler.store.span_ns(span);
            let text = duration(ns);
            let text = if wide { text } else { text.replacen(' ', "", 1).trim_start().to_owned() };
            canvas.right(end - 1 - gap, line.y, took, &text, theme::heat(ns));
            canvas.right(end, line.y, 1, &sign.to_string(), style);
        }
        _ => canvas.right(end, line.y, 1, &sign.to_string(), style),
    }
    if selected {
        canvas.paint(line, theme::CURSOR);
    }
}

/// Formats minutes and seconds, down to the microsecond: `03:41.207 113`.
fn stamp(crawler: &Crawler, row: &EventRow, wide: bool) -> String {
    let stamp = detail::stamp(crawler.store.time_ns(row.event.start));
    let stamp = stamp.rsplit_once(' ').map_or("", |(stamp, _)| stamp);
    if wide { stamp.to_owned() } else { stamp.replace(' ', "") }
}

/// Returns the innermost lines of a deep tree.
fn clip(indent: &str) -> &str {
    let over = indent.chars().count().saturating_sub(GUIDES);
    indent.char_indices().nth(over).map_or("", |(at, _)| &indent[at..])
}

fn title(crawler: &Crawler) -> String {
    let all = short(crawler.status.totals.emitted);
    let view = &crawler.view;
    match view.count {
        _ if view.filter.is_all() && crawler.status.totals.emitted == 1 => " 1 event ".into(),
        _ if view.filter.is_all() => format!(" {all} events "),
        Some(count) if count.exact => format!(" {} of {all} ", grouped(count.events)),
        Some(count) => {
            let inaccuracy = crawler.inaccuracy();
            format!(" {}{} of {all} ", inaccuracy.sign(), grouped(count.events))
        }
        None => format!(" … of {all} "),
    }
}

/// Describes the state of the end of the list: a search, follow mode, or new events.
fn follow_note(crawler: &Crawler) -> String {
    let list = &crawler.view.list;
    if let Some((done, of)) = crawler.progress(Slot::Rows) {
        return match of {
            0 => " searching … ".into(),
            _ => format!(" searching {} of {} ", short(done), short(of)),
        };
    }
    if list.follow {
        return " following ".into();
    }
    let new = crawler.status.totals.emitted.saturating_sub(crawler.seen_emitted);
    if crawler.store.grows() && new > 0 && !list.shows_end() {
        // The number of events that pass the filter is not known before they are read.
        let all = if crawler.view.filter.is_all() { "" } else { " in all" };
        return format!(" +{}{all} ▼ ", short(new));
    }
    String::new()
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.progress(Slot::Rows).is_some() {
        return vec!["reading …".into(), "Esc removes the filter".into()];
    }
    if !crawler.view.filter.is_all() {
        let filter = format!("no event passes `{}`", crawler.view.filter.text());
        return vec![filter, "f changes the filter, Esc removes it".into()];
    }
    let shown = "2 shows the subjects, 3 the sites";
    if let Some(mut lines) = crawler.status.only_counted() {
        lines.push(shown.into());
        return lines;
    }
    if crawler.status.totals.emitted > 0 {
        return vec!["no event is in the window".into(), shown.into()];
    }
    if crawler.store.grows() {
        vec!["no events yet".into(), "events appear here as soon as a profiler is installed".into()]
    } else {
        vec!["no events were recorded".into(), "install a profiler and record again".into()]
    }
}
