//! A browser: columns side by side, each with its rows and their numbers.
//!
//! ```text
//! ┌ Too often ───────────┬ subject ─────────────┬ events ───────────────┐
//! │ Scene::measure   240 │▸#4 <p>            40 │ measure #4    61.2 µs │
//! ```

use metaspy_report::text::width;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::browser::ColumnView;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.browser;
    let Some(browser) = &view.browser else {
        canvas.frame(area, " browser ", "", theme::FOCUS);
        canvas.empty(area.inner(), &["no browser is open".into(), ": lists them".into()]);
        return;
    };
    let count = view.columns.len().max(1) as u16;
    // Columns share their borders.
    let each = (area.width - 1) / count;
    for (at, (column, of)) in (0..).zip(view.columns.iter().zip(&browser.columns)) {
        let x = area.x + at * each;
        let right = if at + 1 == count { area.x + area.width } else { x + each + 1 };
        let part = Area { x, width: right - x, ..area };
        let style = if usize::from(at) == view.focus { theme::FOCUS } else { theme::FAINT };
        let title = if at == 0 { format!(" {}: {} ", browser.title, of.title) } else { format!(" {} ", of.title) };
        canvas.frame(part, &title, "", style);
        draw_column(canvas, part.inner(), column, usize::from(at) == view.focus);
    }
    for at in 1..count {
        let x = area.x + at * each;
        canvas.text(x, area.y, 1, "┬", theme::FAINT);
        canvas.text(x, area.y + area.height.saturating_sub(1), 1, "┴", theme::FAINT);
    }
}

fn draw_column(canvas: &mut Canvas<'_>, area: Area, column: &ColumnView, has_focus: bool) {
    let Some(rows) = &column.rows else {
        canvas.text(area.x + 1, area.y, area.width, "…", theme::FAINT);
        return;
    };
    if rows.is_empty() {
        canvas.text(area.x + 1, area.y, area.width, "nothing passes its query", theme::FAINT);
    }
    for (y, at) in (area.y..area.y + area.height).zip(column.cursor.visible(rows.len())) {
        let row = &rows[at];
        let selected = at == column.cursor.row;
        let columns = (width(&row.value) as u16).min(area.width / 2);
        canvas.text(area.x, y, 1, if selected { "▸" } else { " " }, theme::FOCUS);
        let room = area.width.saturating_sub(columns + 3);
        canvas.text(area.x + 1, y, room, &row.name, if selected { theme::STRONG } else { theme::PLAIN });
        canvas.right(area.x + area.width - 1, y, columns, &row.value, theme::FAINT);
        if selected && has_focus {
            canvas.paint(Area { y, height: 1, ..area }, theme::CURSOR);
        }
    }
}
