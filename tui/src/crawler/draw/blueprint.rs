//! Screen of the blueprint: calls as a tree by time, the calls of a method with their coverage, and
//! the lists of candidates.
//!
//! ```text
//! ┌ calls by time from Scene::layout ──────────────────────────────────────┐
//! │ calls by time                            calls      total        self  │
//! │ Scene::layout         ██████████████        26      402.0        16.3  │
//! │ └ Scene::measure      ████▌             48,211      120.4       120.4  │
//! │ 12 methods not drawn: less than 1.0 % of 402 ms; …                     │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::text::{short_path, wrap};

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.blueprint;
    let inner = area.inner();
    let from =
        view.from.as_deref().map_or_else(String::new, |path| format!("from {} ", short_path(path)));
    canvas.frame(area, &format!(" {} {from}", view.picture.name()), "", theme::FOCUS);
    if view.graph.is_none() {
        canvas.empty(inner, &["counting …".into()]);
        return;
    }
    if let Some(problem) = &view.problem {
        canvas.empty(inner, &wrap(problem, inner.width.saturating_sub(4).into()));
        return;
    }
    let notes = view.footer(inner.width.saturating_sub(2).into());
    let below = (notes.len() as u16).min(inner.height / 3);
    let body = Area { height: inner.height - below, ..inner };
    table::draw(canvas, body, &crawler.store, view);
    for (line, note) in (body.y + body.height..inner.y + inner.height).zip(&notes) {
        canvas.text(inner.x + 1, line, inner.width.saturating_sub(2), note, theme::FAINT);
    }
}
