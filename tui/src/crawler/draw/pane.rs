//! Pane of the selected event: its causes, its effects, and its subject.
//!
//! ```text
//! ┬ Scene::layout ── #412 <p> ──────┐
//! │ Detail Causes Effects Same …    │
//! │ frame 4,113                     │
//! │ └ resize 1280→1279              │
//! │   └ layout #1 html     ◀ here   │
//! │                                 │
//! │ took     61.2 µs (self 8.9)     │
//! └─────────────────────────────────┘
//! ```

use metaspy_reader::{Event, Outcome};
use metaspy_report::text::{duration, grouped, last_segment, short, short_path, width};

use super::canvas::Canvas;
use super::{graph, table, theme};
use crate::crawler::command::Tab;
use crate::crawler::jobs::Slot;
use crate::crawler::layout::{Area, tabs};
use crate::crawler::state::pane::{Content, PaneRow, detail};
use crate::crawler::state::{Crawler, name};

/// Draws the pane.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let pane = &crawler.view.pane;
    canvas.frame(
        area,
        &title(crawler, area.width),
        &index_progress(crawler),
        if pane.has_focus() { theme::FOCUS } else { theme::FAINT },
    );
    if area.x > 0 {
        canvas.text(area.x, area.y, 1, "┬", theme::FAINT);
        canvas.text(area.x, area.y + area.height.saturating_sub(1), 1, "┴", theme::FAINT);
    }
    let inner = area.inner();
    if crawler.view.list.selected.is_none() && !pane.tab.is_about_the_list() {
        canvas.empty(inner, &["no event is selected".into()]);
        return;
    }
    for (x, tab, text) in tabs(inner.width as usize, pane.tab) {
        let style = if tab == pane.tab { theme::STRONG.patch(theme::CURSOR) } else { theme::FAINT };
        canvas.text(inner.x + x, inner.y, inner.width.saturating_sub(x), text, style);
    }
    for (at, row) in pane.rows.iter().enumerate().skip(pane.cursor.top).take(pane.cursor.height) {
        let line = Area { y: inner.y + 1 + (at - pane.cursor.top) as u16, height: 1, ..inner };
        draw_row(canvas, line, crawler, row);
        if pane.tab == Tab::Graph {
            graph::draw(canvas, line, pane, at);
        } else if pane.has_focus() && at == pane.cursor.row {
            canvas.paint(line, theme::CURSOR);
        }
    }
}

fn draw_row(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler, row: &PaneRow) {
    let x = line.x + 1;
    let room = line.width.saturating_sub(1);
    let used = canvas.text(x, line.y, room, &row.indent, theme::FAINT);
    let x = x + used;
    let room = room - used;
    match &row.content {
        Content::Fact(name, value) => {
            canvas.text(x, line.y, room, name, theme::FAINT);
            let name = detail::NAME as u16 - 1;
            canvas.text(x + name, line.y, room.saturating_sub(name), value, theme::PLAIN);
        }
        Content::Continuation(value) => {
            let name = detail::NAME as u16 - 1;
            canvas.text(x + name, line.y, room.saturating_sub(name), value, theme::PLAIN);
        }
        Content::Event(event) => {
            draw_event(canvas, Area { x, width: room, ..line }, crawler, event, false)
        }
        Content::Current(event) => {
            draw_event(canvas, Area { x, width: room, ..line }, crawler, event, true)
        }
        Content::Subject(subject) => {
            let here = crawler.view.list.selected.and_then(|event| event.subject) == Some(*subject);
            let room = if here { room.saturating_sub(7) } else { room };
            let text = name::fit_subject(&crawler.store, *subject, room as usize);
            canvas.text(x, line.y, room, &text, theme::PLAIN);
            if here {
                canvas.right(line.x + line.width, line.y, 7, "◀ here ", theme::FOCUS);
            }
        }
        Content::Spark(text) => {
            canvas.text(x, line.y, room, text, theme::BAR);
        }
        Content::Bar { name, eighths, number } => {
            let used = canvas.text(x, line.y, room, name, theme::FAINT) + 1;
            canvas.text(
                x + used,
                line.y,
                room.saturating_sub(used),
                &table::eighths(*eighths),
                theme::BAR,
            );
            canvas.right(
                line.x + line.width - 1,
                line.y,
                width(number) as u16,
                number,
                theme::PLAIN,
            );
        }
        Content::Drawing(text) => {
            canvas.text(x, line.y, room, text, theme::FAINT);
        }
        Content::Facet(facet) => {
            let count = format!("{}{}", facet.sign, grouped(facet.count));
            let columns = (width(&count) as u16).min(room / 2);
            canvas.text(x, line.y, room.saturating_sub(columns + 2), &facet.name, theme::PLAIN);
            canvas.right(line.x + line.width - 1, line.y, columns, &count, theme::PLAIN);
        }
        Content::Title(text) => {
            canvas.text(x, line.y, room, text, theme::STRONG);
        }
        Content::Note(text) => {
            canvas.text(x, line.y, room, text, theme::FAINT);
        }
        Content::Blank => {}
    }
}

fn draw_event(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler, event: &Event, here: bool) {
    let end = area.x + area.width;
    let (sign, style) = theme::outcome(event.outcome);
    let style = if here {
        theme::STRONG
    } else if sign == ' ' {
        theme::PLAIN
    } else {
        style
    };
    let tail = match (here, event.span) {
        (true, _) => "◀ here ".into(),
        (false, _) if crawler.view.pane.tab == Tab::Detail => String::new(),
        (false, Some(span)) if event.outcome != Outcome::Instant => {
            format!("{} {sign}", duration(crawler.store.span_ns(span)))
        }
        _ => format!("{sign}"),
    };
    let tail_columns = (tail.chars().count() as u16).min(area.width / 2);
    let room = area.width.saturating_sub(tail_columns + 1);
    let text = match crawler.view.pane.tab {
        // The title shows the subject; the rows differ by time.
        Tab::SameSubject => {
            let stamp = detail::stamp(crawler.store.time_ns(event.start));
            let site = name::site(&crawler.store, event.site);
            format!("{} {site}", stamp.rsplit_once(' ').map_or("", |(stamp, _)| stamp))
        }
        _ => name::fit_event(&crawler.store, event, room as usize),
    };
    canvas.text(area.x, area.y, room, &text, style);
    canvas.right(end, area.y, tail_columns, &tail, if here { theme::FOCUS } else { theme::FAINT });
}

fn title(crawler: &Crawler, columns: u16) -> String {
    let Some(event) = crawler.view.list.selected else { return String::new() };
    let path = crawler.store.site_path(event.site);
    let Some(subject) = event.subject else { return format!(" {} ", short_path(path)) };
    // Ten columns are for the border and the signs around both names.
    let room = |site: &str| (columns as usize).saturating_sub(width(site) + 10);
    let whole = width(&name::subject(&crawler.store, subject));
    let site = match short_path(path) {
        // Twelve columns distinguish most subjects.
        site if whole.min(12) <= room(site) => site,
        _ => last_segment(path),
    };
    format!(" {site} ── {} ", name::fit_subject(&crawler.store, subject, room(site)))
}

fn index_progress(crawler: &Crawler) -> String {
    match (crawler.view.pane.tab, crawler.progress(Slot::Index)) {
        (Tab::Effects, Some((done, of))) if of > 0 => format!(" {} of {} ", short(done), short(of)),
        _ => String::new(),
    }
}
