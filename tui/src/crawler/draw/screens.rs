//! The names of the screens; what is let through, or how a table is sorted.
//!
//! ```text
//!  1 Events  2 Subjects  3 Sites  4 Lanes           filter: site:measure took:>50µs
//! ```

use super::canvas::Canvas;
use super::theme;
use crate::crawler::command::Screen;
use crate::crawler::layout::{Area, screens};
use crate::crawler::state::Crawler;

/// Draws the line.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let mut end = 0;
    for (x, screen, text) in screens(crawler.screens()) {
        let style = if screen == crawler.view.screen { theme::STRONG.patch(theme::CURSOR) } else { theme::PLAIN };
        let x = area.x + x;
        end = x + canvas.text(x, area.y, (area.x + area.width).saturating_sub(x), &text, style);
    }
    let mut words = Vec::new();
    if !crawler.view.filter.is_all() {
        words.push(format!("filter: {}", crawler.view.filter.text()));
    }
    let table = match crawler.view.screen {
        Screen::Subjects => Some(&crawler.view.subjects),
        Screen::Sites => Some(&crawler.view.sites),
        _ => None,
    };
    if let Some(table) = table {
        let sign = if table.sort.reversed { '▲' } else { '▼' };
        words.push(format!("sort: {} {sign}", table.sort.column.name()));
    }
    let room = (area.x + area.width).saturating_sub(end + 2);
    canvas.right(area.x + area.width - 1, area.y, room, &words.join("   "), theme::FOCUS);
}
