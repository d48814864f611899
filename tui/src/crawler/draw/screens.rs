//! The names of the screens; what is let through, or how a table is sorted.
//!
//! ```text
//!  1 Events  2 Subjects  3 Sites  4 Lanes           filter: site:measure took:>50µs
//! ```

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::{Area, screens};
use crate::crawler::state::Crawler;
use crate::text::width;

/// Draws the line.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let (open, how) = (crawler.view.screen, crawler.view.how());
    let mut end = 0;
    for (x, screen, text) in screens(crawler.screens(), open, area.width, width(&how) as u16) {
        let style = if screen == open { theme::STRONG.patch(theme::CURSOR) } else { theme::PLAIN };
        let x = area.x + x;
        end = x + canvas.text(x, area.y, (area.x + area.width).saturating_sub(x), &text, style);
    }
    let room = (area.x + area.width).saturating_sub(end + 2);
    canvas.right(area.x + area.width - 1, area.y, room, &how, theme::FOCUS);
}
