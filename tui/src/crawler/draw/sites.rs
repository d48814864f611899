//! Where in the code it happened; with the places where nothing did, and those that cannot be observed.
//!
//! ```text
//! ┌ 14 sites ──────────────────────────────────────────────────────────────┐
//! │ site                   count                         Δ 1.0 s  total ms │
//! │ layout::Scene::measure 48,211 ████████████████████▌     +512   3,100.0 │
//! │ layout::Scene::paint        0 never called                             │
//! │ layout::Scene::NONE         0 skipped: const fn                        │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::table::TableRow;
use crate::text::counted;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.sites;
    let inner = area.inner();
    let Some(rows) = &view.rows else {
        canvas.frame(area, " sites ", "", true);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let exact = table::doubt(crawler, view);
    canvas.frame(area, &format!(" {} ", counted(rows.len() as u64, "site")), &exact, true);
    if rows.is_empty() {
        let why = match crawler.view.filter.is_all() {
            true => "the recording knows no sites: was anything observed?".into(),
            false => format!("no site's events pass `{}`", crawler.view.filter.text()),
        };
        canvas.empty(inner, &[why, "f changes the filter, Esc takes it away".into()]);
        return;
    }
    let body = Area { height: inner.height.saturating_sub(1), ..inner };
    table::draw(canvas, body, &crawler.store, view, "site", &|row| remark(crawler, row));
    let Some(site) = view.current().and_then(|row| row.site).and_then(|site| crawler.store.site(site)) else { return };
    let text = format!("{}  {}:{}–{}", site.kind.name(), site.file, site.lines.0, site.lines.1);
    canvas.text(inner.x + 1, inner.y + inner.height - 1, inner.width - 1, &text, theme::FAINT);
}

fn remark(crawler: &Crawler, row: &TableRow) -> Option<String> {
    if row.measure.count > 0 {
        return None;
    }
    let skipped = crawler.store.site(row.site?).and_then(|site| site.skipped.as_deref());
    Some(skipped.map_or("never called".into(), |why| format!("skipped: {why}")))
}
