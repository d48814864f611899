//! Screen of a grammar: its rules as a tree of references, with their activations. Rules that no
//! input matched stand out.
//!
//! ```text
//! ┌ rules 36/37 matched ───────────────────────────────────────────────────┐
//! │ rule                 entered   matched    failed                       │
//! │ toml                     774       349       425 ██▌                   │
//! │ └ value               12,730    11,018     1,712 █████████████████████ │
//! │   ├ integer            9,526         0     9,526  NEVER MATCHED        │
//! │   └ ↑value            12,730    11,018     1,712                       │
//! │ grammars/toml.pest:75  integer = @{ ("+" | "-")? ~ int }               │
//! │ `float` matches where it would: 512 times, 438 of them taking no more, …│
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::text::{cut, grouped, shorten, shorten_file, width};

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::table::Rows;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.productions;
    let inner = area.inner();
    let Some(tree) = &view.tree else {
        canvas.frame(area, " productions ", "", theme::FOCUS);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let inaccuracy = (!tree.exact).then(|| crawler.inaccuracy());
    let note = table::note(crawler, inaccuracy.as_ref());
    canvas.frame(area, &title(crawler, inaccuracy.as_ref()), &note, theme::FOCUS);
    if tree.productions.is_empty() {
        canvas.empty(inner, &["no productions: the program observes no grammar".into()]);
        return;
    }
    let footer = view.footer_height() as u16;
    let body = Area { height: inner.height.saturating_sub(footer), ..inner };
    table::draw(canvas, body, &crawler.store, view);
    let line = |y| Area { y: inner.y + body.height + y, height: 1, ..inner };
    draw_source(canvas, line(0), crawler);
    if footer > 1 {
        draw_shadow(canvas, line(1), crawler);
    }
}

/// Counts the rules that matched. Under a filter this is not the coverage.
fn title(crawler: &Crawler, inaccuracy: Option<&Inaccuracy>) -> String {
    let (matched, of) = crawler.view.productions.covered(&crawler.store);
    let sign = inaccuracy.map_or("", Inaccuracy::sign);
    let among = if crawler.view.filter.is_all() { "" } else { " by what passes the filter" };
    format!(" rules {sign}{}/{} matched{among} ", grouped(matched as u64), grouped(of as u64))
}

/// Draws the first line of the production under the cursor, with its file and line.
fn draw_source(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler) {
    let source = &crawler.view.productions.source;
    let Some(site) = source.production.and_then(|site| crawler.store.site(site)) else { return };
    let room = line.width.saturating_sub(2) as usize;
    let text = source.line.as_deref().unwrap_or_default();
    // The source needs the room more than the folders.
    let place = format!("{}:{}", site.file, site.lines.0);
    let place = shorten_file(&place, room.saturating_sub(width(text) + 2).max(room / 3));
    let used = canvas.text(line.x + 1, line.y, room as u16, &place, theme::FAINT) + 2;
    let room = room.saturating_sub(used as usize);
    canvas.text(line.x + 1 + used, line.y, room as u16, &shorten(text, room), theme::PLAIN);
}

/// Draws the reason why the production under the cursor never matched, if the recording has it.
fn draw_shadow(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler) {
    let view = &crawler.view.productions;
    let Some(tree) = &view.tree else { return };
    let Some(why) = view.site().and_then(|site| tree.shadows.get(&site)) else { return };
    let room = line.width.saturating_sub(2);
    canvas.text(line.x + 1, line.y, room, &cut(why, room as usize), theme::PLAIN);
}
