//! Screen of the types that arrived at methods, and the findings about them.
//!
//! ```text
//! ┌ types ─────────────────────────────────────────────────┐
//! │ method, value, type              count finding         │
//! │ types that arrived                                     │
//! │   zoo::Animal::speak                                   │
//! │     self: dyn Animal             1,204 2 types         │
//! │       zoo::Dog                     904 75.0 %            │
//! └────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::text::wrap;

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.types;
    let inner = area.inner();
    let note = if crawler.view.filter.is_all() { "" } else { " all calls, not filtered " };
    canvas.frame(area, " types ", note, theme::FOCUS);
    let Some(read) = &view.read else {
        canvas.empty(inner, &["reading types and symbols …".into()]);
        return;
    };
    let notes = wrap(&read.notes.join("; "), inner.width.saturating_sub(4).into());
    if read.rows.is_empty() {
        canvas.empty(inner, &notes);
        return;
    }
    table::draw(
        canvas,
        Area { height: inner.height.saturating_sub(1), ..inner },
        &crawler.store,
        view,
    );
    let footer = inner.y + inner.height.saturating_sub(1);
    let room = inner.width.saturating_sub(1);
    canvas.text(inner.x + 1, footer, room, notes.first().map_or("", String::as_str), theme::FAINT);
}
