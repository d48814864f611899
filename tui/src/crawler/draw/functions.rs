//! Screen of functions by processor time, with their lines, their callers, and the subjects and
//! events that they ran in.
//!
//! ```text
//! ┌ 214 functions, 1,672 samples ──────────────────────────────────────────────┐
//! │ function                                self      self %      total         │
//! │ taffy::compute::grid                   310 ms  18.5 ± 1.9     702 ms         │
//! │   dependencies, target/release/app                                          │
//! │     src/compute/grid.rs:120-124        201 ms  12.0 ± 1.6     380 ms         │
//! │   for                                                                       │
//! │     Node #412 in Scene::layout         96 ms   5.7 ± 1.1     120 ms         │
//! └────────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::functions;
use metaspy_report::text::{counted, grouped, wrap};

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.functions;
    let inner = area.inner();
    let Ok(functions) = &view.functions else {
        canvas.frame(area, " functions ", "", theme::FOCUS);
        let text = view.why_none().map_or("reading samples …".into(), |why| why.to_string());
        return canvas.empty(inner, &wrap(&text, inner.width.saturating_sub(4).into()));
    };
    let note = if crawler.view.filter.is_all() { "" } else { " all samples, not filtered " };
    let count = counted(functions.all.len() as u64, "function");
    canvas.frame(
        area,
        &format!(" {count}, {} samples ", grouped(functions.whole.samples)),
        note,
        theme::FOCUS,
    );
    table::draw(
        canvas,
        Area { height: inner.height.saturating_sub(1), ..inner },
        &crawler.store,
        view,
    );
    let footer = functions::note(functions).unwrap_or_else(|| "± with 95 % probability".into());
    let y = inner.y + inner.height.saturating_sub(1);
    let room = inner.width.saturating_sub(1);
    canvas.text(inner.x + 1, y, room, &footer, theme::FAINT);
}
