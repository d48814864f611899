//! Screen of the program's structure: packages, types and methods, with their calls, times and
//! receivers. Elements that never ran stand out.
//!
//! ```text
//! ┌ 14/23 methods ran ─────────────────────────────────────────────────────┐
//! │ element                calls            ran receivers     total    self │
//! │ taffy                 48,211 ████████ 14/23       512           3,100.0 │
//! │ └ compute             48,211 ████████  9/12       512             900.1 │
//! │   ├ Cache             40,000 ██████     1/2       256             400.0 │
//! │   │ ├ get             40,000 ██████               256     600.0   400.0 │
//! │   │ └ clear                0  NEVER RAN             –         –       – │
//! │   └ ▸(functions)       8,211 █▎         3/3         –             100.0 │
//! │ taffy::compute::Cache::clear                           pub fn(&mut self) │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::program::Program;
use metaspy_report::text::{counted, grouped};

use super::canvas::Canvas;
use super::{element, table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::structure::StructureView;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.structure;
    let inner = area.inner();
    let Some(whole) = &view.whole else {
        canvas.frame(area, " structure ", "", theme::FOCUS);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let inaccuracy = (!whole.exact).then(|| crawler.inaccuracy());
    let note = table::note(crawler, inaccuracy.as_ref());
    canvas.frame(area, &title(crawler, whole, inaccuracy.as_ref()), &note, theme::FOCUS);
    if whole.elements.is_empty() {
        canvas.empty(inner, &why_empty(crawler));
        return;
    }
    let footer = StructureView::footer_height(inner.height as usize) as u16;
    let body = Area { height: inner.height.saturating_sub(footer), ..inner };
    table::draw(canvas, body, &crawler.store, view);
    if footer > 0 {
        element::draw(canvas, Area { y: body.y + body.height, height: footer, ..inner }, crawler);
    }
}

/// Counts the methods that ran. Under a filter this is not the coverage, because other methods may
/// have run too.
fn title(crawler: &Crawler, whole: &Program, inaccuracy: Option<&Inaccuracy>) -> String {
    let (ran, of) = whole.ran();
    let sign = inaccuracy.map_or("", Inaccuracy::sign);
    if crawler.view.filter.is_all() {
        format!(" {sign}{}/{} ran ", grouped(ran.into()), counted(of.into(), "method"))
    } else {
        let have = if ran == 1 { "has" } else { "have" };
        format!(" {sign}{} {have} calls that pass the filter ", counted(ran.into(), "method"))
    }
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.view.filter.is_all() {
        vec!["no methods: the program has no observed or woven code".into()]
    } else {
        let filter = format!("no method has calls that pass `{}`", crawler.view.filter.text());
        vec![filter, "f changes the filter, Esc removes it".into()]
    }
}
