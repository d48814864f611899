//! Screen of findings: a list, and the evidence of the finding under the cursor.
//!
//! ```text
//! ┌ 2 findings in 760 events, 600 ms ──────────────────────────────────────┐
//! │     cost                 finding                                       │
//! │  1  38 % of the time     Scene::layout runs again although nothing ch… │
//! │     nothing found by     n+1, held-lock, backlog                       │
//! │     not looked for       same-result: record with --returns            │
//! │────────────────────────────────────────────────────────────────────────│
//! │ Scene::layout runs again although nothing changed             repeated │
//! │ 457,597 of 486,328 calls are on a node that …  Most: #879 <main> 3,784 │
//! │ at         page::Scene::layout  src/page.rs:88                         │
//! │ filter     site:page::Scene::layout                                    │
//! │ certainty  counts exact                                                │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::findings::text;
use metaspy_report::text::{short, width, wrap};

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::jobs::Slot;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::findings::Details;

/// Columns of the words in front of the details.
const WORD: u16 = 11;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.findings;
    let inner = area.inner();
    let Some(read) = &view.read else {
        canvas.frame(area, " findings ", "", theme::FOCUS);
        let progress = crawler.progress(Slot::Findings).filter(|&(_, of)| of > 0);
        let of = progress.map_or_else(String::new, |(done, of)| {
            format!(" {} of {} events", short(done), short(of))
        });
        return canvas.empty(inner, &[format!("looking …{of}"), "Esc stops it".into()]);
    };
    let note = if crawler.view.filter.is_all() { "" } else { " all events, not filtered " };
    canvas.frame(
        area,
        &format!(" {} ", text::headline(read, read.listed().count())),
        note,
        theme::FOCUS,
    );
    let body = Area { height: (view.table_height() as u16).min(inner.height), ..inner };
    table::draw(canvas, body, &crawler.store, view);
    let line = inner.y + body.height;
    let below = Area { y: line + 1, height: inner.height.saturating_sub(body.height + 1), ..inner };
    if below.height > 0 {
        canvas.text(inner.x, line, inner.width, &"─".repeat(inner.width.into()), theme::FAINT);
        draw_details(canvas, below, &view.details());
    }
}

/// Draws the texts about the row under the cursor.
fn draw_details(canvas: &mut Canvas<'_>, area: Area, details: &Details) {
    let x = area.x + 1;
    let room = area.width.saturating_sub(2);
    let mut lines = Vec::new();
    let kind = width(&details.kind) as u16;
    let title = wrap(&details.title, room.saturating_sub(kind + 2).into());
    lines.extend(title.into_iter().map(|text| ("", 0, text, theme::STRONG)));
    for part in &details.parts {
        let indent = if part.word.is_empty() { 0 } else { WORD };
        let mut word = part.word;
        for text in wrap(&part.text, room.saturating_sub(indent).into()) {
            lines.push((word, indent, text, theme::PLAIN));
            word = "";
        }
    }
    let shown = usize::from(area.height);
    if lines.len() > shown {
        lines.truncate(shown.saturating_sub(1));
        lines.push(("", 0, "… `metaspy findings` has the rest".into(), theme::FAINT));
    }
    for (y, (word, indent, text, style)) in (area.y..).zip(&lines) {
        canvas.text(x, y, *indent, word, theme::FAINT);
        canvas.text(x + indent, y, room.saturating_sub(*indent), text, *style);
    }
    canvas.right(x + room, area.y, kind, &details.kind, theme::FAINT);
}
