//! The program as it is built: packages, types and methods, how much of each ran, how often, how long and on whom.
//!
//! ```text
//! ┌ 14/23 methods ran ─────────────────────────────────────────────────────┐
//! │ element                calls            ran receivers  total µs self µs │
//! │ taffy                 48,211 ████████ 14/23       512           3,100.0 │
//! │ └ compute             48,211 ████████  9/12       512             900.1 │
//! │   ├ Cache             40,000 ██████     1/2       256             400.0 │
//! │   │ ├ get             40,000 ██████               256     600.0   400.0 │
//! │   │ └ clear                0  NEVER RAN             –         –       – │
//! │   └ ▸(functions)       8,211 █▎         3/3         –             100.0 │
//! │ taffy::compute::Cache::clear                           pub fn(&mut self) │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

mod columns;
mod footer;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::structure::StructureView;
use crate::structure::Structure;
use crate::text::grouped;
use columns::Columns;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.structure;
    let inner = area.inner();
    let Some(whole) = &view.whole else {
        canvas.frame(area, " structure ", "", true);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let doubt = (!whole.exact).then(|| Inaccuracy::new(&crawler.store, &crawler.status.totals, &crawler.view.filter));
    let reason = doubt.as_ref().map_or(String::new(), |doubt| format!(" {} ", doubt.reason()));
    canvas.frame(area, &title(crawler, whole, doubt.as_ref()), &reason, true);
    if whole.elements.is_empty() {
        canvas.empty(inner, &why_empty(crawler));
        return;
    }
    let foot = StructureView::footer_height(inner.height as usize) as u16;
    let body = Area { height: inner.height.saturating_sub(foot), ..inner };
    let columns = Columns::new(crawler, whole, body.width);
    columns.draw_head(canvas, body);
    let seen = view.rows.iter().enumerate().skip(view.top).take(view.height);
    for (y, (row, &at)) in (body.y + 1..body.y + body.height).zip(seen) {
        let line = Area { y, height: 1, ..body };
        columns.draw_row(canvas, line, at);
        if row == view.cursor {
            canvas.paint(line, theme::CURSOR);
        }
    }
    if foot > 0 {
        footer::draw(canvas, Area { y: body.y + body.height, height: foot, ..inner }, crawler);
    }
}

/// How much ran. Under a filter that is no coverage: what it leaves out may have run, too.
fn title(crawler: &Crawler, whole: &Structure, doubt: Option<&Inaccuracy>) -> String {
    let (ran, of) = whole.ran();
    let sign = doubt.map_or("", Inaccuracy::sign);
    let (ran, of) = (grouped(ran.into()), grouped(of.into()));
    match crawler.view.filter.is_all() {
        true => format!(" {sign}{ran}/{of} methods ran "),
        false => format!(" {sign}{ran} methods in what passes the filter "),
    }
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.view.filter.is_all() {
        vec!["the recording knows no methods: was anything woven or observed?".into()]
    } else {
        let filter = format!("no method's calls pass `{}`", crawler.view.filter.text());
        vec![filter, "f changes the filter, Esc takes it away".into()]
    }
}
