//! What happened, in order of time, indented by cause.
//!
//! ```text
//! ┌ 1,204 of 8.4 M · from 03:41 ─────────────┐
//! │ 41.207113 frame                  1.81ms  │
//! │ 41.207119 ├ layout #1 html       1.79ms  │
//! │▶41.207204 │├ layout #412 p       61.2µs !│
//! └──────────────────────────────────────────┘
//! ```

use std::borrow::Cow;

use metaspy_core::Outcome;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::jobs::Slot;
use crate::crawler::layout::Area;
use crate::crawler::state::list::Row;
use crate::crawler::state::pane::{detail, fit_event};
use crate::crawler::state::{Crawler, tree};
use crate::text::{clock, duration, grouped, short};

/// From this width on, minutes stand in every row.
const WIDE: u16 = 60;
/// Columns for the lines of the tree at most: the text matters more.
const GUIDES: usize = 16;

/// Draws the list.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view;
    canvas.frame(area, &title(crawler), &news(crawler), !view.pane.focused);
    let inner = area.inner();
    let rows = view.list.visible();
    if rows.is_empty() {
        canvas.empty(inner, &why_empty(crawler));
        return;
    }
    let guides = tree::guides(&crawler.store, &view.filter, rows);
    for ((y, row), guide) in (inner.y..inner.y + inner.height).zip(rows).zip(&guides) {
        draw_row(canvas, Area { y, height: 1, ..inner }, crawler, row, guide);
    }
}

fn draw_row(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler, row: &Row, guide: &str) {
    let event = &row.event;
    let selected = crawler.view.list.selected_id() == Some(event.id);
    let plain = if row.gone { theme::FAINT } else { theme::PLAIN };
    let wide = line.width >= WIDE;
    let (mark, style) = match (crawler.marks.contains(&event.id), selected) {
        (true, true) => ("◈", theme::MARK),
        (true, false) => ("◆", theme::MARK),
        (false, true) => ("▶", theme::FOCUS),
        (false, false) => (" ", theme::PLAIN),
    };
    let gap = u16::from(wide);
    canvas.text(line.x, line.y, 1, mark, style);
    let mut x = line.x + 1 + gap;
    x += canvas.text(x, line.y, line.width, &stamp(crawler.store.time_ns(event.start), wide), theme::FAINT) + 1;
    let end = line.x + line.width;
    let took = if wide { 9 } else { 7 };
    let room = end.saturating_sub(x + took + 1);
    let guide = clip(guide);
    let guide: Cow<'_, str> = match wide || guide.is_empty() {
        true => guide.into(),
        // One column for each level instead of two.
        false => guide.chars().step_by(2).chain([' ']).collect::<String>().into(),
    };
    let used = canvas.text(x, line.y, room, &guide, theme::FAINT);
    canvas.text(x + used, line.y, room - used, &fit_event(&crawler.store, event, (room - used) as usize), plain);
    let (sign, style) = theme::outcome(event.outcome);
    match event.span {
        _ if row.gone => canvas.right(end - 1, line.y, took, "gone", theme::FAINT),
        _ if event.outcome == Outcome::Running => canvas.right(end, line.y, took, "runs …", style),
        Some(span) if event.timed && event.outcome != Outcome::Instant => {
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

/// Down to the microsecond; where there is little room, without what the title says.
fn stamp(ns: u64, wide: bool) -> String {
    // `03:41.207 113 042`
    let stamp = detail::stamp(ns);
    let stamp = stamp.rsplit_once(' ').map_or("", |(stamp, _)| stamp);
    if wide { stamp.to_owned() } else { stamp.split_once(':').map_or("", |(_, rest)| rest).replace(' ', "") }
}

/// The innermost lines of a deep tree.
fn clip(guide: &str) -> &str {
    let over = guide.chars().count().saturating_sub(GUIDES);
    guide.char_indices().nth(over).map_or("", |(at, _)| &guide[at..])
}

fn title(crawler: &Crawler) -> String {
    let list = &crawler.view.list;
    let all = short(crawler.status.totals.emitted);
    let mut title = match (crawler.view.filter.is_all(), crawler.view.count) {
        (true, _) => format!(" {all} events"),
        (false, Some(count)) => format!(" {} of {all}", grouped(count)),
        (false, None) => format!(" … of {all}"),
    };
    if let Some(first) = list.visible().first() {
        let from = clock(crawler.store.time_ns(first.event.start));
        title.push_str(&format!(" · from {}", from.strip_prefix("00:").unwrap_or(&from)));
    }
    title.push(' ');
    title
}

/// What goes on at the end of the list.
fn news(crawler: &Crawler) -> String {
    let list = &crawler.view.list;
    if let Some((done, of)) = crawler.progress(Slot::Rows) {
        return format!(" searching {} of {} ", short(done), short(of));
    }
    if list.follow {
        return " following ".into();
    }
    let new = crawler.status.totals.emitted.saturating_sub(crawler.seen_emitted);
    if crawler.store.is_live() && new > 0 && !list.sees_end() {
        return format!(" +{} ▼ ", short(new));
    }
    String::new()
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.progress(Slot::Rows).is_some() {
        return vec!["looking …".into(), "Esc takes the filter away".into()];
    }
    if !crawler.view.filter.is_all() {
        let filter = format!("no event passes `{}`", crawler.view.filter.text());
        return vec![filter, "f changes the filter, Esc takes it away".into()];
    }
    let totals = &crawler.status.totals;
    if totals.emitted > 0 {
        let counted = format!("{} calls were counted, none is kept as an event", grouped(totals.emitted));
        return vec![counted, "2 shows to whom they happened, 3 where".into()];
    }
    match crawler.store.is_live() {
        true => vec!["nothing happened yet".into(), "events appear here when a profiler is installed".into()],
        false => vec!["nothing was recorded".into(), "was a profiler installed while it ran?".into()],
    }
}
