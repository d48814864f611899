//! Card of a guide, in the last rows of the screen.
//!
//! ```text
//! ┌ 2 of 5: which nodes? ──────────────────────────────────────────────────┐
//! │ 31,968 of 48,539 layouts were needless: nothing had changed at the node. │
//! │ ↵ next  ⌫ back  Esc leave the guide                                    │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use super::canvas::Canvas;
use super::theme;
use crate::crawler::keys::{self, Mode};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::guide::Guide;

/// Draws the card.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler, guide: &Guide) {
    canvas.frame(area, &guide.title(), "", theme::FOCUS);
    let inner = area.inner();
    let x = inner.x + 1;
    let room = inner.width.saturating_sub(1);
    for (y, line) in (inner.y..).zip(&guide.lines) {
        canvas.text(x, y, room, line, theme::PLAIN);
    }
    let y = (inner.y + inner.height).saturating_sub(1);
    let mut used = 0;
    for binding in crawler.keys.hints(Mode::Guide) {
        let Some(hint) = guide.hint(binding) else { continue };
        let key = keys::name(binding.key);
        let word = format!(" {hint}  ");
        used += canvas.line(
            x + used,
            y,
            room.saturating_sub(used),
            &[(&key, theme::KEY), (&word, theme::PLAIN)],
        );
    }
}
