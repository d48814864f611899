//! Screen of the lanes over time: how busy each thread was, and its last event.
//!
//! ```text
//! ┌ 3 lanes ─────────────────────────── 12.4 ms, 1 cell = 250 µs ┐
//! │ lane       events   ev/s  ┬1.200 s  ┬1.205    the last event │
//! │ main        1,204  8.2 k  ▁▁▂▇█▇▂──▁▂▇█┃▂▁▁▁  layout #412 <p> │
//! │ painter        12     80  ▁     ××    ▁       paint   lost 12 │
//! └──────────────────────────────────────────────────────────────┘
//! ```
//!
//! The height is the number of events that begin in a cell. `─` is an event that continues, `×` a
//! time in which calls of the lane found no room as events, and `┃` the selected event.

use metaspy_report::text::{clean, counted, short, time, width};

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::{Area, LaneColumns};
use crate::crawler::state::Crawler;
use crate::crawler::state::lanes::{LaneRow, Lanes, LanesView};
use crate::crawler::state::name;

/// Minimum number of columns between two labels of the ruler.
const LABEL: usize = 13;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.lanes;
    let inner = area.inner();
    let Some(lanes) = &view.lanes else {
        canvas.frame(area, " lanes ", "", theme::FOCUS);
        canvas.empty(inner, &["reading …".into()]);
        return;
    };
    let title = format!(" {} ", counted(lanes.rows.len() as u64, "lane"));
    canvas.frame(area, &title, &extent(crawler, view, lanes), theme::FOCUS);
    if lanes.rows.is_empty() {
        canvas.empty(inner, &["no thread has emitted anything yet".into()]);
        return;
    }
    let is_idle = |row: &LaneRow| row.events == 0 && row.lane.lost == 0;
    if let Some(lines) = crawler.status.only_counted().filter(|_| lanes.rows.iter().all(is_idle)) {
        canvas.empty(inner, &lines);
        return;
    }
    let at = LaneColumns::new(inner.width);
    let x = inner.x + at.time;
    canvas.text(inner.x + 1, inner.y, at.name, "lane", theme::FAINT);
    canvas.right(inner.x + at.events, inner.y, 9, "events", theme::FAINT);
    if at.rate > 0 {
        canvas.right(inner.x + at.rate, inner.y, 8, "ev/s", theme::FAINT);
    }
    canvas.text(x, inner.y, at.columns, &ruler(crawler, lanes, at.columns.into()), theme::FAINT);
    canvas.text(
        x + at.columns + 2,
        inner.y,
        at.last,
        if at.last < 14 { "last" } else { "the last event" },
        theme::FAINT,
    );
    let largest = lanes.rows.iter().flat_map(|row| row.columns.iter().copied()).max().unwrap_or(0);
    let seen = lanes.rows.iter().enumerate().skip(view.cursor.top).take(view.cursor.height);
    for (y, (index, row)) in (inner.y + 1..inner.y + inner.height).zip(seen) {
        draw_row(canvas, Area { y, height: 1, ..inner }, crawler, row, at, largest);
        if index == view.cursor.row {
            canvas.paint(Area { y, height: 1, ..inner }, theme::CURSOR);
        }
    }
    if let Some(column) = view.column.filter(|&column| column < at.columns.into()) {
        let height = inner.height.min(lanes.rows.len() as u16 + 1);
        canvas.paint(Area { x: x + column as u16, y: inner.y, width: 1, height }, theme::COLUMN);
    }
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    line: Area,
    crawler: &Crawler,
    row: &LaneRow,
    at: LaneColumns,
    largest: u32,
) {
    let y = line.y;
    let x = line.x + at.time;
    let end = line.x + line.width;
    let style = if row.lane.live { theme::PLAIN } else { theme::FAINT };
    canvas.text(line.x + 1, y, at.name, &clean(&row.lane.name), style);
    canvas.right(line.x + at.events, y, 9, &short(row.events), style);
    let ticks = crawler
        .view
        .lanes
        .lanes
        .as_ref()
        .map_or(1, |lanes| lanes.span.to.saturating_sub(lanes.span.from));
    let ns = crawler.store.span_ns(ticks).max(1);
    if at.rate > 0 {
        let rate = u128::from(row.events) * 1_000_000_000 / u128::from(ns);
        canvas.right(line.x + at.rate, y, 8, &short(rate as u64), style);
    }
    canvas.text(x, y, at.columns, &heights(row, largest), theme::BAR);
    if let (Some(event), Some(lanes)) = (crawler.view.list.selected, &crawler.view.lanes.lanes)
        && event.lane == row.lane.id
        && (lanes.span.from..lanes.span.to).contains(&event.start)
    {
        let column = lanes.span.column(event.start, at.columns.into());
        if !row.lost.get(column).copied().unwrap_or(false) {
            canvas.text(x + column as u16, y, 1, "┃", theme::MARK);
        }
    }
    let lost = match row.lane.lost {
        0 => String::new(),
        lost => format!(" lost {} ", short(lost)),
    };
    let lost_columns = width(&lost) as u16;
    let room = if at.last > 0 { end.saturating_sub(x + at.columns + 2 + lost_columns) } else { 0 };
    let text = row
        .last
        .map_or(String::new(), |event| name::fit_event(&crawler.store, &event, room as usize));
    canvas.text(x + at.columns + 2, y, room, &text, style);
    canvas.right(end, y, lost_columns, &lost, theme::ALARM);
}

/// Describes the length of the span, its position, and the length of a cell.
fn extent(crawler: &Crawler, view: &LanesView, lanes: &Lanes) -> String {
    let text = |ticks| time(crawler.store.span_ns(ticks));
    let ticks = lanes.span.to.saturating_sub(lanes.span.from);
    let cell = text(ticks / view.columns.max(1) as u64);
    let place = match (view.zoomed, view.around) {
        (Some(_), _) => "",
        (None, Some(_)) => " around the selected event",
        (None, None) => ", the last",
    };
    format!(" {}{place}, 1 cell = {cell} ", text(ticks))
}

/// Returns the labels of the time, each after a mark at its column.
fn ruler(crawler: &Crawler, lanes: &Lanes, columns: usize) -> String {
    let mut line: Vec<char> = vec![' '; columns];
    let whole_ns = crawler.store.span_ns(lanes.span.to.saturating_sub(lanes.span.from));
    // This number of decimals distinguishes two labels.
    let step_ns = (whole_ns / (columns / LABEL).max(1) as u64).max(1);
    let decimals = 10_usize.saturating_sub(step_ns.ilog10() as usize).min(9);
    for column in (0..columns.saturating_sub(LABEL / 2)).step_by(LABEL) {
        let ns = crawler.store.time_ns(lanes.span.tick(column, columns));
        let label = format!("┬{}", seconds(ns, decimals));
        for (cell, c) in line[column..].iter_mut().zip(label.chars().take(LABEL - 1)) {
            *cell = c;
        }
    }
    line.into_iter().collect()
}

/// Formats seconds with decimals; from one minute on, with minutes.
fn seconds(ns: u64, decimals: usize) -> String {
    let s = ns / 1_000_000_000;
    let fraction = format!("{:09}", ns % 1_000_000_000);
    let fraction =
        if decimals == 0 { String::new() } else { format!(".{}", &fraction[..decimals]) };
    match s / 60 {
        0 => format!("{s}{fraction}"),
        minutes => format!("{minutes}:{:02}{fraction}", s % 60),
    }
}

fn heights(row: &LaneRow, largest: u32) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |(at, &count): (usize, &u32)| match count {
        _ if row.lost[at] => '×',
        0 if row.busy[at] => '─',
        0 => ' ',
        // Heights are square roots, so that one busy moment does not hide all others.
        count => {
            HEIGHTS[((f64::from(count) / f64::from(largest.max(1))).sqrt() * 7.0).round() as usize]
        }
    };
    row.columns.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ruler_has_as_many_decimals_as_its_labels_need() {
        assert_eq!(seconds(12_405_000_000, 3), "12.405");
        assert_eq!(seconds(61_000_000_001, 9), "1:01.000000001");
        assert_eq!(seconds(3_599_900_000_000, 0), "59:59");
    }
}
