//! Screen of the sites with their counts, including sites without events and sites that cannot be
//! observed.
//!
//! ```text
//! ┌ 14 sites ──────────────────────────────────────────────────────────────┐
//! │ site                   calls                         Δ 1.0 s     total │
//! │ layout::Scene::measure 48,211 ████████████████████▌     +512   3,100.0 │
//! │ layout::Scene::paint        0 never called                             │
//! │ layout::Scene::NONE         0 skipped: const fn                        │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::text::counted;

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::table::Rows;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.sites;
    let inner = area.inner();
    let Some(rows) = &view.rows else {
        canvas.frame(area, " sites ", "", theme::FOCUS);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let inaccuracy = (!view.exact).then(|| crawler.inaccuracy());
    let note = table::note(crawler, inaccuracy.as_ref());
    canvas.frame(area, &format!(" {} ", counted(rows.len() as u64, "site")), &note, theme::FOCUS);
    if rows.is_empty() {
        let why = if crawler.view.filter.is_all() {
            "no sites: the program has no observed code".into()
        } else {
            format!("no site has events that pass `{}`", crawler.view.filter.text())
        };
        canvas.empty(inner, &[why, "f changes the filter, Esc removes it".into()]);
        return;
    }
    table::draw(
        canvas,
        Area { height: inner.height.saturating_sub(1), ..inner },
        &crawler.store,
        view,
    );
    let Some(site) = view.site().and_then(|site| crawler.store.site(site)) else { return };
    let text = format!("{}  {}:{}–{}", site.kind.name(), site.file, site.lines.0, site.lines.1);
    canvas.text(inner.x + 1, inner.y + inner.height - 1, inner.width - 1, &text, theme::FAINT);
}
