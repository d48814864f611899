//! Table that all screens share: titles over columns, and rows. The row under the cursor is
//! highlighted.
//!
//! ```text
//! │ subject                calls                         Δ 1.0 s     total │
//! │ #412 <p> "The quick…"  48,211 ████████████████████▌     +512   3,100.0 │
//! ```

use metaspy_reader::Store;
use metaspy_report::text::{cut, duration, grouped, short, shorten_path, width};
use ratatui::style::Style;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::table::{Cell, Column, Kind, Rows, TableList, Tone, Value, fitting};
use crate::crawler::state::{Crawler, name};

/// Draws the head and the visible rows, with a cursor.
pub fn draw<L: TableList>(canvas: &mut Canvas<'_>, area: Area, store: &Store, list: &L) {
    draw_rows(canvas, area, store, list);
    let cursor = list.cursor();
    let rows = area.height.saturating_sub(1) as usize;
    let line = cursor.visible(list.row_count()).take(rows).position(|row| row == cursor.row);
    if let Some(line) = line {
        canvas.paint(Area { y: area.y + 1 + line as u16, height: 1, ..area }, theme::CURSOR);
    }
}

/// Draws the head and the visible rows.
pub(crate) fn draw_rows<L: TableList>(
    canvas: &mut Canvas<'_>,
    area: Area,
    store: &Store,
    list: &L,
) {
    let columns = list.columns(store);
    let mut x = area.x;
    let placed: Vec<Placed<'_, L>> = (fitting(&columns, list.sort(), area.width).into_iter())
        .map(|(column, width)| {
            let placed = Placed { column, x, width, scale: Scale::new(store, list, column) };
            x += width;
            placed
        })
        .collect();
    let sorted = list.sort().map(|sort| &sort.column);
    for column in &placed {
        let style = if sorted == Some(&column.column.name) { theme::FOCUS } else { theme::FAINT };
        column.draw_title(canvas, area.y, style);
    }
    let rows = list.cursor().visible(list.row_count());
    for (y, row) in (area.y + 1..area.y + area.height).zip(rows) {
        draw_row(canvas, y, store, list, list.item(row), &placed);
    }
}

fn draw_row<L: TableList>(
    canvas: &mut Canvas<'_>,
    y: u16,
    store: &Store,
    list: &L,
    item: usize,
    row: &[Placed<'_, L>],
) {
    let cells: Vec<Cell> = row.iter().map(|placed| placed.column.cell(store, list, item)).collect();
    for (at, (placed, cell)) in row.iter().zip(&cells).enumerate() {
        let covered = cells[at + 1..].iter().take_while(|cell| cell.value == Value::Blank).count();
        let end = row[at + covered].x + row[at + covered].width;
        match placed.column.kind {
            Kind::Name => placed.draw_name(canvas, y, store, list, item, cell),
            _ => placed.draw_cell(canvas, y, end, cell),
        }
    }
}

/// Describes the restriction of a table's numbers, for the right of its frame: they are not exact,
/// or the values of a profile are not filtered.
pub fn note(crawler: &Crawler, inaccuracy: Option<&Inaccuracy>) -> String {
    match (inaccuracy, crawler.view.rows().and_then(Rows::profile)) {
        (Some(inaccuracy), _) => format!(" {} ", inaccuracy.reason()),
        (None, Some(name)) if !crawler.view.filter.is_all() => {
            format!(" {name}: all calls, not filtered ")
        }
        _ => String::new(),
    }
}

/// Column at its place.
struct Placed<'a, L> {
    column: &'a Column<L>,
    x: u16,
    width: u16,
    scale: Scale,
}

/// Reference of all numbers in a column, from which bars and units follow.
enum Scale {
    None,
    Largest(u64),
}

impl Scale {
    fn new<L: TableList>(store: &Store, list: &L, column: &Column<L>) -> Self {
        let largest = || list.largest(&column.name).unwrap_or_else(|| column.largest(store, list));
        match column.kind {
            Kind::Bar => Scale::Largest(largest()),
            _ => Scale::None,
        }
    }
}

impl<L: TableList> Placed<'_, L> {
    fn draw_title(&self, canvas: &mut Canvas<'_>, y: u16, style: Style) {
        let title = &self.column.title;
        match (&self.scale, self.column.kind) {
            (_, Kind::Name) => {
                _ = canvas.text(self.x + 1, y, self.width.saturating_sub(1), title, style)
            }
            (_, Kind::Text | Kind::Bar | Kind::Trend) => {
                _ = canvas.text(self.x, y, self.width, title, style)
            }
            _ => self.draw_right(canvas, y, title, style),
        }
    }

    fn draw_name(
        &self,
        canvas: &mut Canvas<'_>,
        y: u16,
        store: &Store,
        list: &L,
        item: usize,
        cell: &Cell,
    ) {
        let room = self.width.saturating_sub(1);
        let text = match &cell.value {
            Value::Subject(subject) => name::fit_subject(store, *subject, room.into()),
            Value::Path(path) => shorten_path(path, room.into()),
            Value::Text(text) => text.clone(),
            _ => String::new(),
        };
        // The tree lines get the room that the name leaves, and at least a third of it; a level
        // takes two columns.
        let levels = (room as usize).saturating_sub(width(&text) + 1).max(room as usize / 3) / 2;
        let x = self.x + 1;
        let used = canvas.text(x, y, room, &list.tree_lines(item, levels), theme::FAINT);
        let room = if used > 0 { room.saturating_sub(used + 1) } else { room };
        canvas.text(x + used, y, room, &text, tone(cell.tone));
    }

    /// Draws a cell. A note may extend up to `end`.
    fn draw_cell(&self, canvas: &mut Canvas<'_>, y: u16, end: u16, cell: &Cell) {
        let style = tone(cell.tone);
        match (&cell.value, &self.scale) {
            (Value::Blank | Value::Subject(_), _) => {}
            (Value::Unknown, _) if matches!(self.column.kind, Kind::Text | Kind::Trend) => {
                _ = canvas.text(self.x, y, self.width, "–", style)
            }
            (Value::Unknown, _) => self.draw_right(canvas, y, "–", style),
            (Value::Note(text), _) => {
                // Only a text that ends in another column needs a blank after it.
                let blank = u16::from(cell.tone == Tone::Alert);
                canvas.text(self.x, y, (end - self.x).saturating_sub(blank), text, style);
            }
            (Value::Text(text) | Value::Path(text), _)
                if matches!(self.column.kind, Kind::Text | Kind::Trend) =>
            {
                canvas.text(
                    self.x,
                    y,
                    self.width.saturating_sub(1),
                    &cut(text, self.width.into()),
                    style,
                );
            }
            (Value::Text(text) | Value::Path(text), _) => self.draw_right(canvas, y, text, style),
            (&Value::Amount(amount, _), &Scale::Largest(largest)) => {
                let room = self.width.saturating_sub(1);
                canvas.text(self.x, y, room, &bar(amount, largest, room), theme::BAR);
            }
            (Value::Amount(amount, sign), _) if self.column.kind == Kind::Time => {
                self.draw_right(canvas, y, &format!("{sign}{}", duration(*amount)), style);
            }
            (Value::Amount(amount, sign), Scale::None) => {
                let whole = format!("{sign}{}", grouped(*amount));
                let fits = width(&whole) < self.width.into();
                let text = if fits { whole } else { format!("{sign}{}", short(*amount)) };
                let style = match (self.column.kind, amount) {
                    (Kind::Change, 0) => theme::FAINT,
                    (Kind::Change, _) => theme::LIVE,
                    _ => style,
                };
                self.draw_right(canvas, y, &text, style);
            }
        }
    }

    fn draw_right(&self, canvas: &mut Canvas<'_>, y: u16, text: &str, style: Style) {
        let room = self.width.saturating_sub(1);
        canvas.right(self.x + room, y, room, text, style);
    }
}

fn tone(tone: Tone) -> Style {
    match tone {
        Tone::Plain => theme::PLAIN,
        Tone::Faint => theme::FAINT,
        Tone::Strong => theme::STRONG,
        Tone::Alert => theme::UNCOVERED,
    }
}

/// Draws a bar in eighths of a column.
fn bar(count: u64, largest: u64, columns: u16) -> String {
    let eighths =
        (count as u128 * columns as u128 * 8).checked_div(largest as u128).unwrap_or(0) as usize;
    // Any count above 0 gives a visible bar.
    self::eighths(if count > 0 { eighths.max(1) } else { 0 })
}

/// Draws a bar of this many eighths of a column.
pub fn eighths(eighths: usize) -> String {
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
            ["", "▏", "▍", "▊", "██████████"]
        );
    }
}
