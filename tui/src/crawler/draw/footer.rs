//! Line at the bottom: the keys of the screen, or the prompt, or a message.
//!
//! ```text
//!  ↑↓ move  → effects  ← cause  s subject  / search  f filter  m mark  ␣ pause  ? help
//!  `1x` is no length of time: write `took:>1ms`
//!  filter: site:measure took:>1x▏
//! ```

use std::ops::Range;

use metaspy_report::text::{short, width, wrap};

use ratatui::style::Style;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::command::Command;
use crate::crawler::jobs::Slot;
use crate::crawler::keys;
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::completion::Completion;
use crate::crawler::state::line::Line;
use crate::crawler::state::prompt::Purpose;

/// Draws the line.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let x = area.x + 1;
    let room = area.width.saturating_sub(1);
    if let Some(line) = &crawler.prompt {
        let name = match line.purpose {
            Purpose::Filter => "filter: ",
            Purpose::Search => "search: ",
            Purpose::Mark => "name of the mark: ",
            Purpose::Export => "export to: ",
            Purpose::Rule => "keep what meets: ",
        };
        let wrong = line.problem.as_ref().map(|problem| problem.at.clone());
        draw_line(canvas, x, area.y, room, name, &line.line, wrong);
        let problem =
            line.problem.as_ref().map_or(Vec::new(), |problem| wrap(&problem.text, room as usize));
        draw_above(canvas, area, &problem, theme::ALARM);
        let above = Area { y: area.y.saturating_sub(problem.len() as u16), ..area };
        draw_candidates(canvas, above, &line.completion);
        if line.line.text().is_empty() && line.purpose == Purpose::Filter {
            let used = width(name) as u16 + 2;
            let example = "site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*";
            canvas.text(x + used, area.y, room.saturating_sub(used), example, theme::FAINT);
        }
    } else if let Some(palette) = &crawler.palette {
        draw_line(canvas, x, area.y, room, ":", &palette.line, None);
    } else if let Some(message) = &crawler.message {
        // The message is shown in full, because it states how to correct the input.
        let mut lines = wrap(message, room as usize);
        let last = lines.pop().unwrap_or_default();
        draw_above(canvas, area, &lines, theme::WARNING);
        canvas.text(x, area.y, room, &last, theme::WARNING);
    } else if let Some((done, of)) = crawler.progress(Slot::Export) {
        let text = format!("writing … {} of {}, Esc stops", short(done), short(of));
        canvas.text(x, area.y, room, &text, theme::FOCUS);
    } else if let Some((done, of)) = crawler.progress(Slot::Search) {
        let text = format!(
            "searching `{}` … {} of {}, Esc stops",
            crawler.searched,
            short(done),
            short(of)
        );
        canvas.text(x, area.y, room, &text, theme::FOCUS);
    } else {
        hints(canvas, x, area.y, room, crawler);
    }
}

/// Draws lines directly above the line at the bottom.
fn draw_above(canvas: &mut Canvas<'_>, area: Area, lines: &[String], style: Style) {
    let height = (lines.len() as u16).min(area.y);
    let above = Area { y: area.y - height, height, ..area };
    canvas.clear(above);
    for (y, text) in (above.y..area.y).zip(lines) {
        canvas.text(area.x + 1, y, area.width.saturating_sub(1), text, style);
    }
}

/// Draws the candidates for the word before the caret, above an area.
fn draw_candidates(canvas: &mut Canvas<'_>, area: Area, completion: &Completion) {
    let candidates = &completion.candidates;
    let height = (candidates.len() as u16).min(area.y.saturating_sub(2));
    let columns = candidates.iter().map(|it| width(&it.text)).max().unwrap_or(0) as u16 + 1;
    let columns = columns.min(area.width / 2);
    let above = Area { y: area.y - height, height, ..area };
    canvas.clear(above);
    for ((y, candidate), at) in (above.y..area.y).zip(candidates).zip(0..) {
        let x = area.x + 1;
        let room = area.width.saturating_sub(1);
        canvas.text(x, y, columns, &candidate.text, theme::KEY);
        canvas.text(
            x + columns + 1,
            y,
            room.saturating_sub(columns + 1),
            &candidate.note,
            theme::FAINT,
        );
        if completion.chosen == Some(at) {
            canvas.paint(Area { y, height: 1, ..area }, theme::CURSOR);
        }
    }
}

/// Draws a line that is edited, with its caret. A wrong part has the colour of errors.
fn draw_line(
    canvas: &mut Canvas<'_>,
    x: u16,
    y: u16,
    room: u16,
    name: &str,
    line: &Line,
    wrong: Option<Range<usize>>,
) {
    // A long text shows the end before the caret, because the user types there.
    let before = tail(line.before(), (room as usize).saturating_sub(width(name) + 2));
    let cut = line.before().len() - before.len();
    let part = |text: &str, from: usize| -> [String; 3] {
        let wrong = wrong.clone().unwrap_or(0..0);
        let at = |byte: usize| byte.clamp(from, from + text.len()) - from;
        let begin = at(wrong.start);
        let end = at(wrong.end);
        [text[..begin].to_owned(), text[begin..end].to_owned(), text[end..].to_owned()]
    };
    let [a, b, c] = part(before, cut);
    let [d, e, f] = part(line.behind(), line.before().len());
    let f = if line.behind().is_empty() { " ".into() } else { f };
    let plain = theme::PLAIN;
    let alarm = theme::ALARM.patch(theme::UNDERLINED);
    let pieces = [
        (name, theme::KEY),
        (&*a, plain),
        (&*b, alarm),
        (&*c, plain),
        ("▏", theme::FOCUS),
        (&*d, plain),
        (&*e, alarm),
        (&*f, plain),
    ];
    canvas.line(x, y, room, &pieces);
}

fn hints(canvas: &mut Canvas<'_>, x: u16, y: u16, room: u16, crawler: &Crawler) {
    let rows = crawler.view.rows();
    let all: Vec<_> = crawler
        .keys
        .hints(crawler.mode())
        .filter(|binding| match binding.command {
            Command::Pause => crawler.store.grows(),
            Command::NextProfile => {
                rows.is_some_and(|rows| rows.profile().or(rows.next_profile()).is_some())
            }
            _ => true,
        })
        .map(|binding| match binding.hint.strip_prefix('↓') {
            Some(word) => ("↑↓".to_owned(), word.to_owned()),
            None => (keys::name(binding.key), format!(" {}", binding.hint)),
        })
        .collect();
    let mut used = 0;
    // The key for the help is always shown.
    let help = all.iter().position(|(key, _)| key == "?");
    let kept = help.map_or(0, |at| width(&all[at].0) + width(&all[at].1)) as u16;
    for (at, (key, word)) in all.iter().enumerate() {
        let columns = (width(key) + width(word)) as u16;
        let reserve = if help.is_some_and(|help| at < help) { kept + 2 } else { 0 };
        if used + columns + reserve > room {
            continue;
        }
        canvas.line(x + used, y, room - used, &[(key, theme::KEY), (word, theme::PLAIN)]);
        used += columns + 2;
    }
}

/// Returns as much of the end of a text as fits.
fn tail(text: &str, columns: usize) -> &str {
    let over = width(text).saturating_sub(columns);
    let mut cut = 0;
    let mut at = 0;
    for (begin, c) in text.char_indices() {
        if cut >= over {
            break;
        }
        cut += width(c.encode_utf8(&mut [0; 4]));
        at = begin + c.len_utf8();
    }
    &text[at..]
}
