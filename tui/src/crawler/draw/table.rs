//! What the screens with a table share: a name, a count, a bar, the change, and times.
//!
//! ```text
//! │ subject                count                         Δ 1.0 s  total ms │
//! │ #412 <p> "The quick…"  48,211 ████████████████████▌     +512   3,100.0 │
//! ```

use metaspy_core::Store;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::table::{Column, TableRow, TableView, row_name};
use crate::crawler::state::{Crawler, name};
use crate::text::{Unit, grouped, pad_left, shorten_path};

/// Columns of a count, of a change, and of a time.
const COUNT: u16 = 13;
const DELTA: u16 = 10;
const TIME: u16 = 10;
/// From this width on all times are shown, not only the one that matters for the order.
const WIDE: u16 = 100;
/// Narrower than this, no time is shown.
const NARROW: u16 = 50;

/// What a screen adds to a row, in place of its bar.
pub type Remark<'a> = &'a dyn Fn(&TableRow) -> Option<String>;

/// Draws the rows of a table with a head.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, store: &Store, table: &TableView, title: &str, remark: Remark<'_>) {
    let Some(rows) = table.rows.as_ref().filter(|_| area.height > 0) else { return };
    let times = times(area.width, table.sort.column);
    // What has ended does not change any more.
    let changes = store.is_live() || table.sort.column == Column::Delta;
    let delta_columns = if changes && area.width >= NARROW { DELTA } else { 0 };
    let fixed = COUNT + delta_columns + TIME * times.len() as u16;
    let name_columns = (area.width.saturating_sub(fixed) * 3 / 5).max(12).min(area.width.saturating_sub(COUNT)).max(2);
    let bar_columns = area.width.saturating_sub(fixed + name_columns + 1);
    let seen = rows.iter().skip(table.top).take(table.height);
    let largest = rows.iter().map(|row| row.measure.count).max().unwrap_or(0);
    let units: Vec<Unit> = (times.iter())
        .map(|&column| Unit::for_largest(rows.iter().filter_map(|row| time_ns(store, row, column)).max().unwrap_or(0)))
        .collect();
    head(canvas, area, table, title, name_columns, delta_columns > 0, &times, &units);
    for (y, row) in (area.y + 1..area.y + area.height).zip(seen) {
        let mut x = area.x;
        let text = match (row.site, row.subject) {
            (Some(_), _) => shorten_path(&row_name(store, row), name_columns as usize - 1),
            (None, Some(subject)) => name::fit_subject(store, subject, name_columns as usize - 1),
            (None, None) => row_name(store, row),
        };
        canvas.text(x + 1, y, name_columns - 1, &text, theme::PLAIN);
        x += name_columns;
        canvas.right(x + COUNT - 1, y, COUNT - 1, &grouped(row.measure.count), theme::PLAIN);
        x += COUNT;
        match remark(row) {
            Some(text) => {
                canvas.text(x, y, (area.x + area.width).saturating_sub(x), &text, theme::FAINT);
                continue;
            }
            None => canvas.text(x, y, bar_columns, &bar(row.measure.count, largest, bar_columns), theme::BAR),
        };
        let mut end = x + bar_columns + delta_columns;
        let delta = row.delta.map_or("–".into(), |delta| format!("+{}", grouped(delta)));
        let style = if row.delta.unwrap_or(0) > 0 { theme::LIVE } else { theme::FAINT };
        canvas.right(end, y, delta_columns, &delta, style);
        for (&column, unit) in times.iter().zip(&units) {
            end += TIME;
            let (text, style) = match time_ns(store, row, column) {
                // Not nothing, but too little for the unit of the column.
                Some(ns) if ns > 0 && unit.write(ns) == "0.0" => ("<0.1".into(), theme::FAINT),
                Some(ns) => (unit.write(ns), theme::PLAIN),
                None => ("–".into(), theme::FAINT),
            };
            canvas.right(end, y, TIME - 1, &text, style);
        }
    }
    cursor(canvas, area, table);
}

/// Shows which row, below the head, is the one under the cursor.
pub fn cursor(canvas: &mut Canvas<'_>, area: Area, table: &TableView) {
    let y = area.y + 1 + (table.cursor - table.top) as u16;
    if !table.is_empty() && y < area.y + area.height {
        canvas.paint(Area { y, height: 1, ..area }, theme::CURSOR);
    }
}

/// Why the numbers are not exact, if they are not.
pub fn doubt(crawler: &Crawler, table: &TableView) -> String {
    if table.exact {
        return String::new();
    }
    format!(" {} ", Inaccuracy::new(&crawler.store, &crawler.status.totals, &crawler.view.filter).reason())
}

#[allow(clippy::too_many_arguments, reason = "the places of one row, handed from the rows to their head")]
fn head(
    canvas: &mut Canvas<'_>,
    area: Area,
    table: &TableView,
    title: &str,
    name: u16,
    is_live: bool,
    times: &[Column],
    units: &[Unit],
) {
    let style = |column| if column == table.sort.column { theme::FOCUS } else { theme::FAINT };
    canvas.text(area.x + 1, area.y, name, title, style(Column::Name));
    let mut end = area.x + name + COUNT;
    canvas.right(end - 1, area.y, COUNT - 1, "count", style(Column::Count));
    end = area.x + area.width - 1 - TIME * times.len() as u16;
    let since = table.since_ns.map_or("Δ".into(), |ns| format!("Δ {:.1} s", ns as f64 / 1e9));
    if is_live {
        canvas.right(end, area.y, DELTA, &since, style(Column::Delta));
    }
    for (&column, unit) in times.iter().zip(units) {
        end += TIME;
        let text = pad_left(&format!("{} {}", column.name(), unit.sign()), TIME as usize - 1);
        canvas.right(end, area.y, TIME - 1, &text, style(column));
    }
}

fn times(width: u16, sorted: Column) -> Vec<Column> {
    match sorted {
        _ if width >= WIDE => vec![Column::Total, Column::SelfTime, Column::Max],
        _ if width < NARROW => Vec::new(),
        Column::SelfTime | Column::Max => vec![sorted],
        _ => vec![Column::Total],
    }
}

/// A time of a row; `None` where nothing was timed.
fn time_ns(store: &Store, row: &TableRow, column: Column) -> Option<u64> {
    let measure = &row.measure;
    let ticks = match column {
        _ if measure.timed == 0 => return None,
        Column::SelfTime => measure.self_ticks?,
        Column::Max => measure.max_ticks,
        _ => measure.total_ticks,
    };
    Some(store.span_ns(ticks))
}

/// A bar of eighths.
pub fn bar(count: u64, largest: u64, columns: u16) -> String {
    let eighths = (count as u128 * columns as u128 * 8).checked_div(largest as u128).unwrap_or(0) as usize;
    // Whatever happened at all can be seen.
    let eighths = if count > 0 { eighths.max(1) } else { 0 };
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_grows_by_eighths() {
        assert_eq!(
            [0, 1, 4, 8, 100].map(|count| bar(count, 100, 10)),
            ["", "▏", "▍", "▊", "██████████"].map(String::from).map(|b| b)
        );
    }
}
