//! Screen of a browser: columns side by side, each with its rows and their numbers.
//!
//! ```text
//! ┌ Too often ───────────┬ subject ─────────────┬ events ───────────────┐
//! │ Scene::measure   240 │▸#4 <p>            40 │ measure #4    61.2 µs │
//! ```

use metaspy_reader::Store;
use metaspy_report::text::wrap;

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::config::browser::{Browser, BrowserTab, RowsOf};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::browser::ColumnView;
use crate::crawler::state::status::Status;
use crate::crawler::state::table::Rows;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.browser;
    let Some(browser) = &view.browser else {
        canvas.frame(area, " browser ", "", theme::FOCUS);
        canvas.empty(area.inner(), &["no browser is open".into(), ": lists them".into()]);
        return;
    };
    let count = view.columns.len();
    for (at, column) in view.columns.iter().enumerate() {
        let part = area.share(at, count);
        let has_focus = at == view.focus;
        canvas.frame(
            part,
            &title(browser, at, column),
            "",
            if has_focus { theme::FOCUS } else { theme::FAINT },
        );
        draw_column(canvas, part.inner(), crawler, column, has_focus);
    }
    for at in 1..count {
        let x = area.share(at, count).x;
        canvas.text(x, area.y, 1, "┬", theme::FAINT);
        canvas.text(x, area.y + area.height.saturating_sub(1), 1, "┴", theme::FAINT);
    }
}

/// Returns the title of a column: the title of the browser before the first column, then the tabs.
/// The open tab is in brackets.
fn title(browser: &Browser, at: usize, column: &ColumnView) -> String {
    let tabs = &browser.columns[at];
    let tab = |(at, tab): (usize, &BrowserTab)| {
        if at == column.tab && tabs.len() > 1 {
            format!("[{}]", tab.title)
        } else {
            tab.title.clone()
        }
    };
    let tabs = tabs.iter().enumerate().map(tab).collect::<Vec<_>>().join(" ");
    if at == 0 { format!(" {}: {tabs} ", browser.title) } else { format!(" {tabs} ") }
}

/// Explains why a column has no rows: its query names an element that the recording does not have,
/// calls were counted without events, or their events left the window.
fn why_empty(column: &ColumnView, store: &Store, status: &Status) -> Vec<String> {
    if let Some(unknown) = column.unknown(store) {
        return vec![unknown.to_string()];
    }
    match column.of.rows {
        RowsOf::Event if status.totals.folded > 0 => {
            Some(vec!["none of its events is in the window".into()])
        }
        RowsOf::Event => status.only_counted(),
        _ => None,
    }
    .unwrap_or_else(|| vec!["nothing passes its query".into()])
}

fn draw_column(
    canvas: &mut Canvas<'_>,
    area: Area,
    crawler: &Crawler,
    column: &ColumnView,
    has_focus: bool,
) {
    let Some(rows) = &column.rows else {
        canvas.text(area.x + 1, area.y, area.width, "…", theme::FAINT);
        return;
    };
    if rows.is_empty() {
        let room = area.width.saturating_sub(1);
        let lines = why_empty(column, &crawler.store, &crawler.status)
            .into_iter()
            .flat_map(|text| wrap(&text, room.into()));
        for (line, text) in (0..area.height).zip(lines) {
            canvas.text(area.x + 1, area.y + line, room, &text, theme::FAINT);
        }
        return;
    }
    if has_focus {
        table::draw(canvas, area, &crawler.store, column)
    } else {
        table::draw_rows(canvas, area, &crawler.store, column)
    }
    if let Some(line) =
        column.cursor().visible(rows.len()).position(|row| row == column.cursor().row)
    {
        canvas.text(area.x, area.y + 1 + line as u16, 1, "▸", theme::FOCUS);
    }
}
