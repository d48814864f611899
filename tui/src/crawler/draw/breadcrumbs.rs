//! Breadcrumbs in the lower border of the body: `└ ⌫ Subjects › frame › layout #1 ─`.

use metaspy_report::text::width;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::{Area, Layout};
use crate::crawler::state::Crawler;

/// Draws as many breadcrumbs as fit, the nearest at the end.
pub fn draw(canvas: &mut Canvas<'_>, body: Area, crawler: &Crawler) {
    if crawler.history.depth() == 0 || body.height < 3 {
        return;
    }
    // The text stays within the border of the leftmost part.
    let layout = Layout::new(crawler.size.0, crawler.size.1, crawler.view.pane.focus);
    let is_list = crawler.view.rows().is_none() && layout.list.width > 0;
    let columns = if is_list { layout.list.width } else { body.width }.saturating_sub(6) as usize;
    let mut text = String::new();
    for crumb in crawler.breadcrumbs() {
        let longer = if text.is_empty() { crumb } else { format!("{crumb} › {text}") };
        if width(&longer) + 2 > columns {
            text.insert_str(0, "… › ");
            break;
        }
        text = longer;
    }
    let pieces = [(" ⌫ ", theme::KEY), (&*text, theme::FAINT), (" ", theme::FAINT)];
    canvas.line(body.x + 1, body.y + body.height - 1, columns as u16 + 4, &pieces);
}
