//! The lanes over time: how busy each thread was, and what it did last.
//!
//! ```text
//! ┌ 3 lanes ───────────────────────────────────────── the last 12.4 ms ┐
//! │ main     1,204  ▁▁▂▇█▇▂▁▁▁▂▇█▇▂▁▁▁  layout #412 <p>                │
//! │ painter     12  ▁     ××    ▁       paint        lost 12           │
//! └────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! `×` marks a time in which calls of the lane found no room as events.

use metaspy_report::text::{clean, counted, duration, short};

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::lanes::{BUCKETS, LaneRow};
use crate::crawler::state::name;

/// Columns of the name and of the count.
const NAME: u16 = 16;
const COUNT: u16 = 9;
/// Narrower screens leave out the last event.
const NARROW: u16 = 60;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.lanes;
    let inner = area.inner();
    let Some(rows) = &view.rows else {
        canvas.frame(area, " lanes ", "", theme::FOCUS);
        canvas.empty(inner, &["reading …".into()]);
        return;
    };
    let span = rows.first().map_or(0, |row| crawler.store.span_ns(row.ticks));
    let title = format!(" {} ", counted(rows.len() as u64, "lane"));
    let span = duration(span);
    let span = if crawler.view.list.follow {
        format!(" the last {} ", span.trim_start())
    } else {
        format!(" {} around the selected event ", span.trim_start())
    };
    canvas.frame(area, &title, &span, theme::FOCUS);
    if rows.is_empty() {
        canvas.empty(inner, &["no thread has emitted anything yet".into()]);
        return;
    }
    let name_columns = inner.width.saturating_sub(COUNT + 2).min(NAME);
    let x = inner.x + 1 + name_columns + COUNT + 2;
    let room = inner.width.saturating_sub(name_columns + COUNT + 4);
    // On a narrow screen, time matters more than the last event.
    let strip = if inner.width < NARROW { room } else { room / 2 }.min(BUCKETS as u16);
    let last = match room.saturating_sub(strip) {
        0..=4 => 0,
        columns => columns - 1,
    };
    canvas.text(inner.x + 1, inner.y, name_columns, "lane", theme::FAINT);
    canvas.right(inner.x + 1 + name_columns + COUNT, inner.y, COUNT, "events", theme::FAINT);
    canvas.text(x, inner.y, strip, "over time", theme::FAINT);
    canvas.text(x + strip + 2, inner.y, last, "the last event", theme::FAINT);
    let largest = rows.iter().flat_map(|row| joined(row, strip)).max().unwrap_or(0);
    let seen = rows.iter().enumerate().skip(view.cursor.top).take(view.cursor.height);
    for (y, (at, row)) in (inner.y + 1..inner.y + inner.height).zip(seen) {
        let style = if row.lane.live { theme::PLAIN } else { theme::FAINT };
        canvas.text(inner.x + 1, y, name_columns, &clean(&row.lane.name), style);
        canvas.right(inner.x + 1 + name_columns + COUNT, y, COUNT, &short(row.events), style);
        canvas.text(x, y, strip, &heights(row, strip, largest), theme::BAR);
        let end = inner.x + inner.width;
        let lost = match row.lane.lost {
            0 => String::new(),
            lost => format!(" lost {} ", short(lost)),
        };
        let lost_columns = lost.chars().count() as u16;
        let room = if last > 0 { end.saturating_sub(x + strip + 2 + lost_columns) } else { 0 };
        let text = row.last.map_or(String::new(), |event| name::fit_event(&crawler.store, &event, room as usize));
        canvas.text(x + strip + 2, y, room, &text, style);
        canvas.right(end, y, lost_columns, &lost, theme::ALARM);
        if at == view.cursor.row {
            canvas.paint(Area { y, height: 1, ..inner }, theme::CURSOR);
        }
    }
}

/// The buckets of a lane, joined into one for each column.
fn joined(row: &LaneRow, columns: u16) -> Vec<u32> {
    let columns = columns.max(1) as usize;
    let mut joined = vec![0; columns];
    for (at, count) in row.buckets.iter().enumerate() {
        joined[at * columns / BUCKETS] += count;
    }
    joined
}

fn heights(row: &LaneRow, columns: u16, largest: u32) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let height = |count: u32| match count {
        0 => ' ',
        // Square roots, so that one busy moment does not hide all others.
        count => HEIGHTS[((count as f64 / largest.max(1) as f64).sqrt() * 7.0).round() as usize],
    };
    let width = columns.max(1) as usize;
    let is_lost = |column: usize| (0..BUCKETS).any(|at| row.lost[at] && at * width / BUCKETS == column);
    let column = |(column, count)| if is_lost(column) { '×' } else { height(count) };
    joined(row, columns).into_iter().enumerate().map(column).collect()
}
