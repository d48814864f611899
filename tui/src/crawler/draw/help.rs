//! Help screen, built from the table that also feeds dispatch.
//!
//! ```text
//! ┌ keys of this screen ───────────────────────────────────────┐
//! │ ← c          to its cause; in the pane, out of it          │
//! ```

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::{Area, HELP_KEYS};
use crate::crawler::state::Crawler;

/// Draws the help over the body. `top` is its first visible line.
pub fn draw(canvas: &mut Canvas<'_>, body: Area, crawler: &Crawler, top: usize) {
    let lines = crawler.help_lines();
    let height = (lines.len() as u16 + 2).min(body.height);
    let area = Area { height, ..body };
    canvas.clear(area);
    let title = format!(" keys on {} ", crawler.view.screen.name());
    let more =
        if top + (height as usize).saturating_sub(2) < lines.len() { " ↓ more " } else { "" };
    canvas.frame(area, &title, more, theme::FOCUS);
    let inner = area.inner();
    for (y, line) in (inner.y..inner.y + inner.height).zip(lines.iter().skip(top)) {
        canvas.text(inner.x + 1, y, HELP_KEYS - 1, &line.keys, theme::KEY);
        let x = inner.x + 1 + HELP_KEYS;
        canvas.text(x, y, (inner.x + inner.width).saturating_sub(x), &line.help, theme::PLAIN);
    }
}
