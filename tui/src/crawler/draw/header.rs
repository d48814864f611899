//! Two lines at the top: the recording and its state, then the screens, the filter and the order.
//!
//! ```text
//!  metaspy  layout  live ● 1.2 M ev/s   window 00:03:41   events 8.4 M  lost 0
//! ```
//!
//! If the room is not sufficient for all parts, warnings stay.

use metaspy_reader::EndState;
use metaspy_report::text::{clock, short, time, width};
use ratatui::style::Style;

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::{Area, screens};
use crate::crawler::state::Crawler;

/// Part of the first line. The part with the highest `rank` is dropped first.
struct Piece {
    rank: u8,
    text: String,
    style: Style,
}

/// Draws the first line.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let mut pieces = pieces(crawler);
    let room = area.width as usize;
    let long =
        |pieces: &[Piece]| pieces.iter().map(|piece| width(&piece.text) + 2).sum::<usize>() > room;
    while long(&pieces) && pieces.len() > 1 {
        let last = pieces.iter().map(|piece| piece.rank).max();
        let Some(at) = pieces.iter().rposition(|piece| Some(piece.rank) == last && piece.rank > 0)
        else {
            break;
        };
        pieces.remove(at);
    }
    let mut x = area.x + 1;
    for piece in &pieces {
        let room = (area.x + area.width).saturating_sub(x);
        x += canvas.text(x, area.y, room, &piece.text, piece.style) + 2;
    }
}

/// Draws the second line: the names of the screens, the filter, and the order of the table.
///
/// ```text
///  1 Events  2 Subjects  3 Sites  4 Lanes           filter: site:measure took:>50µs
/// ```
pub(crate) fn draw_screens(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let open = crawler.view.screen;
    let how = crawler.view.filter_and_sort();
    let mut end = 0;
    for (x, screen, text) in screens(crawler.screens(), open, area.width, width(&how) as u16) {
        let style = if screen == open { theme::STRONG.patch(theme::CURSOR) } else { theme::PLAIN };
        let x = area.x + x;
        end = x + canvas.text(x, area.y, (area.x + area.width).saturating_sub(x), &text, style);
    }
    let room = (area.x + area.width).saturating_sub(end + 2);
    canvas.right(area.x + area.width - 1, area.y, room, &how, theme::FOCUS);
}

fn pieces(crawler: &Crawler) -> Vec<Piece> {
    let status = &crawler.status;
    let totals = &status.totals;
    let mut pieces = Vec::new();
    let mut piece = |rank, text: String, style| pieces.push(Piece { rank, text, style });
    piece(5, "metaspy".into(), theme::FAINT);
    let name = if status.name.is_empty() { crawler.source.clone() } else { status.name.clone() };
    piece(1, metaspy_report::text::shorten(&name, 24), theme::STRONG);
    match status.ended {
        EndState::Live if crawler.paused => piece(0, "live ‖ paused".into(), theme::WARNING),
        EndState::Live => piece(0, "live ●".into(), theme::LIVE),
        EndState::Closed => piece(1, "closed".into(), theme::PLAIN),
        EndState::Snapshot => piece(0, "snapshot".into(), theme::WARNING),
        EndState::Unknown => piece(0, "in use or ended".into(), theme::WARNING),
        EndState::Killed => piece(0, "killed ✝".into(), theme::ALARM),
    }
    if let Some(rate) = status.rate.filter(|_| !crawler.paused) {
        piece(4, format!("{} ev/s", short(rate)), theme::PLAIN);
    }
    match status.evicted() {
        0 => piece(3, format!("window {}", time_span(crawler, status.window_ns)), theme::PLAIN),
        _ => {
            let (window, whole) =
                (time_span(crawler, status.window_ns), time_span(crawler, status.whole_ns));
            piece(0, format!("window {window} of {whole}"), theme::WARNING);
        }
    }
    piece(2, format!("events {}", short(totals.emitted)), theme::PLAIN);
    match totals.lost + totals.unnamed {
        0 => piece(2, "lost 0".into(), theme::FAINT),
        lost => piece(0, format!("lost {}", short(lost)), theme::ALARM),
    }
    if status.uncertain_order {
        piece(0, "order uncertain".into(), theme::WARNING);
    }
    if status.missing > 0 {
        piece(0, "damaged".into(), theme::ALARM);
    }
    pieces
}

/// Formats a length of time. While the recording is live, the text keeps its columns; afterwards, a
/// short time has three digits.
fn time_span(crawler: &Crawler, ns: u64) -> String {
    match crawler.status.ended {
        EndState::Live => clock(ns),
        _ if ns >= 60_000_000_000 => clock(ns),
        _ => time(ns),
    }
}
