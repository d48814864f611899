//! Screen of the subjects with their counts. The bars widen while the program runs.
//!
//! ```text
//! ┌ 5,318 subjects ────────────────────────────────────────────────────────┐
//! │ subject                calls                         Δ 1.0 s     total │
//! │ #412 <p> "The quick…"  48,211 ████████████████████▌     +512   3,100.0 │
//! │ never observed: 1,204 subjects known to the model            n to list │
//! └────────────────────────────────────────────────────────────────────────┘
//! ```

use metaspy_report::text::counted;

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.subjects;
    let inner = area.inner();
    let Some(rows) = &view.rows else {
        canvas.frame(area, " subjects ", "", theme::FOCUS);
        canvas.empty(inner, &["counting …".into()]);
        return;
    };
    let unobserved = view.unobserved.len() as u64;
    if view.lists_unobserved {
        canvas.frame(
            area,
            &format!(" {} never observed ", counted(unobserved, "subject")),
            "",
            theme::FOCUS,
        );
    } else {
        let inaccuracy = (!view.exact).then(|| crawler.inaccuracy());
        let note = table::note(crawler, inaccuracy.as_ref());
        canvas.frame(
            area,
            &format!(" {} ", counted(rows.len() as u64, "subject")),
            &note,
            theme::FOCUS,
        );
    }
    if view.listed().is_empty() {
        canvas.empty(inner, &why_empty(crawler));
    } else {
        table::draw(
            canvas,
            Area { height: inner.height.saturating_sub(1), ..inner },
            &crawler.store,
            view,
        );
    }
    let footer = inner.y + inner.height.saturating_sub(1);
    let end = inner.x + inner.width;
    if view.lists_unobserved {
        let back = [("n", theme::KEY), (" back to the observed subjects", theme::PLAIN)];
        canvas.line(inner.x + 1, footer, inner.width, &back);
    } else if unobserved > 0 {
        let text = format!("never observed: {} known to the model", counted(unobserved, "subject"));
        canvas.text(inner.x + 1, footer, inner.width.saturating_sub(12), &text, theme::FAINT);
        canvas.line(
            end.saturating_sub(10),
            footer,
            10,
            &[("n", theme::KEY), (" to list", theme::PLAIN)],
        );
    }
}

fn why_empty(crawler: &Crawler) -> Vec<String> {
    if crawler.view.filter.is_all() {
        vec!["no events yet".into(), "1 shows events as they arrive".into()]
    } else {
        let filter = format!("no subject has events that pass `{}`", crawler.view.filter.text());
        vec![filter, "f changes the filter, Esc removes it".into()]
    }
}
