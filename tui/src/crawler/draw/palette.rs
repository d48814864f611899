//! Palette of commands, drawn over the body.
//!
//! ```text
//! ┌ commands ────────────────────────────────────────────────────┐
//! │ mark NAME      set or remove a mark                         m │
//! │ pause          the recording has ended                      ␣ │
//! ```

use metaspy_report::text::width;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::palette::{Entry, Palette};

/// Columns for the name of a command.
const NAME: u16 = 22;

/// Draws the palette at the top of an area.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, palette: &Palette) {
    let height = (palette.entries.len().max(1) as u16 + 2).min(area.height);
    let area = Area { height, ..area };
    canvas.clear(area);
    let shown = palette.cursor.visible(palette.entries.len());
    let more = if shown.end < palette.entries.len() { " ↓ more " } else { "" };
    canvas.frame(area, " commands ", more, theme::FOCUS);
    let inner = area.inner();
    if palette.entries.is_empty() {
        canvas.text(
            inner.x + 1,
            inner.y,
            inner.width,
            "no command matches; Esc closes",
            theme::FAINT,
        );
    }
    for (y, at) in (inner.y..inner.y + inner.height).zip(shown) {
        let line = Area { y, height: 1, ..inner };
        draw_entry(canvas, line, &palette.entries[at]);
        if at == palette.cursor.row {
            canvas.paint(line, theme::CURSOR);
        }
    }
}

fn draw_entry(canvas: &mut Canvas<'_>, line: Area, entry: &Entry) {
    let x = line.x + 1;
    let style = if entry.refusal.is_some() { theme::FAINT } else { theme::KEY };
    let used = canvas.text(x, line.y, NAME, entry.name(), style);
    let argument =
        entry.argument.as_deref().filter(|text| !text.is_empty()).unwrap_or(entry.takes());
    canvas.text(x + used + 1, line.y, NAME.saturating_sub(used + 2), argument, theme::FAINT);
    let end = line.x + line.width - 1;
    let keys = (width(&entry.keys) as u16).min(line.width / 4);
    let room = end.saturating_sub(x + NAME + keys + 1);
    match &entry.refusal {
        Some(refusal) => canvas.text(x + NAME, line.y, room, refusal, theme::FAINT),
        None => canvas.text(x + NAME, line.y, room, entry.description(), theme::PLAIN),
    };
    canvas.right(end, line.y, keys, &entry.keys, theme::FAINT);
}
