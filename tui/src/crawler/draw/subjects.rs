//! To whom it happened, and how often: bars that widen while the program runs.
//!
//! ```text
//! ┌ 5,318 subjects ────────────────────────────────────────────────────────┐
//! │ subject                count                         Δ 1.0 s  total ms │
//! │ #412 <p> "The quick…"  48,211 ████████████████████▌     +512   3,100.0 │
//! │ never observed: 1,204 subjects known to the model            n to list │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::{Crawler, name};
use crate::text::{counted, grouped};

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.subjects;
    let inner = area.inner();
    let Some(rows) = &view.rows else {
        canvas.frame(area, " subjects ", "", true);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let exact = table::doubt(crawler, view);
    if view.lists_unobserved {
        let title = format!(" {} subjects never observed ", grouped(view.unobserved.len() as u64));
        canvas.frame(area, &title, "", true);
        draw_never(canvas, inner, crawler);
        return;
    }
    canvas.frame(area, &format!(" {} ", counted(rows.len() as u64, "subject")), &exact, true);
    if rows.is_empty() {
        canvas.empty(inner, &why_empty(crawler));
    } else {
        let body = Area { height: inner.height.saturating_sub(1), ..inner };
        table::draw(canvas, body, &crawler.store, view, "subject", &|_| None);
    }
    let (foot, end) = (inner.y + inner.height.saturating_sub(1), inner.x + inner.width);
    let never = view.unobserved.len() as u64;
    if never > 0 {
        let text = format!("never observed: {} subjects known to the model", grouped(never));
        canvas.text(inner.x + 1, foot, inner.width.saturating_sub(12), &text, theme::FAINT);
        canvas.line(end.saturating_sub(10), foot, 10, &[("n", theme::KEY), (" to list", theme::PLAIN)]);
    }
}

fn draw_never(canvas: &mut Canvas<'_>, inner: Area, crawler: &Crawler) {
    let view = &crawler.view.subjects;
    let seen = view.unobserved.iter().enumerate().skip(view.top).take(view.height);
    for (y, (at, &subject)) in (inner.y..inner.y + inner.height).zip(seen) {
        let kind = crawler.store.kind(subject.kind).map_or("", |kind| kind.name.as_str());
        let columns = inner.width * 2 / 3;
        let text = name::fit_subject(&crawler.store, subject, columns as usize);
        canvas.text(inner.x + 1, y, columns, &text, theme::PLAIN);
        canvas.right(inner.x + inner.width - 1, y, inner.width / 3, kind, theme::FAINT);
        if at == view.cursor {
            canvas.paint(Area { y, height: 1, ..inner }, theme::CURSOR);
        }
    }
    let foot = inner.y + inner.height.saturating_sub(1);
    canvas.line(
        inner.x + 1,
        foot,
        inner.width,
        &[("n", theme::KEY), (" back to those that were observed", theme::PLAIN)],
    );
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.view.filter.is_all() {
        vec!["nothing happened to anybody yet".into(), "1 shows what happened, if anything did".into()]
    } else {
        let filter = format!("nobody's events pass `{}`", crawler.view.filter.text());
        vec![filter, "f changes the filter, Esc takes it away".into()]
    }
}
