//! The rules of a grammar under each other as they refer to each other, as large as they were active; and those that no
//! input reached.
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

use ratatui::style::Style;

use super::canvas::Canvas;
use super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::crawler::state::accuracy::Inaccuracy;
use crate::crawler::state::productions::{Branch, Coverage, failed, matched};
use crate::crawler::state::table::TableRow;
use crate::text::{cut, grouped, last_segment, short, shorten, shorten_file, width};

/// Columns of a number.
const NUMBER: u16 = 10;
/// Columns of the bar at least, so that the words fit in its place.
const BAR: u16 = 17;
/// Narrower than this, only the activations are told in numbers.
const NARROW: u16 = 60;

/// Where the parts of a row stand.
struct Columns {
    name: u16,
    numbers: &'static [Number],
    bar: u16,
}

/// A column of numbers: its title, and the number of a row.
type Number = (&'static str, fn(&TableRow) -> u64);

const NUMBERS: [Number; 3] = [
    ("entered", |row| row.measure.count),
    ("matched", |row| matched(&row.measure)),
    ("failed", |row| failed(&row.measure)),
];

/// Draws the screen.
pub fn draw(canvas: &mut Canvas<'_>, area: Area, crawler: &Crawler) {
    let view = &crawler.view.productions;
    let inner = area.inner();
    if view.table.rows.is_none() {
        canvas.frame(area, " productions ", "", true);
        canvas.empty(inner, &["counting …".into()]);
        return;
    }
    canvas.frame(area, &title(crawler), &table::doubt(crawler, &view.table), true);
    if view.table.is_empty() {
        canvas.empty(inner, &["the recording knows no productions: was a grammar observed?".into()]);
        return;
    }
    let foot = view.footer_height() as u16;
    let body = Area { height: inner.height.saturating_sub(foot), ..inner };
    let columns = Columns::new(body.width);
    columns.draw_head(canvas, body);
    let largest = view.rows().map(|(row, _)| row.measure.count).max().unwrap_or(0);
    let seen = view.rows().skip(view.table.top).take(view.table.height);
    for (y, (row, branch)) in (body.y + 1..body.y + body.height).zip(seen) {
        columns.draw_row(canvas, Area { y, height: 1, ..body }, crawler, row, branch, largest);
    }
    table::cursor(canvas, body, &view.table);
    let line = |y| Area { y: inner.y + body.height + y, height: 1, ..inner };
    draw_source(canvas, line(0), crawler);
    if foot > 1 {
        draw_shadow(canvas, line(1), crawler);
    }
}

/// How many rules matched. Under a filter that is no coverage: what it leaves out may have matched too.
fn title(crawler: &Crawler) -> String {
    let (matched, of) = crawler.view.productions.covered(&crawler.store);
    let filter = &crawler.view.filter;
    let sign = match crawler.view.productions.table.exact {
        true => "",
        false => Inaccuracy::new(&crawler.store, &crawler.status.totals, filter).sign(),
    };
    let among = if filter.is_all() { "" } else { " in what passes the filter" };
    format!(" rules {sign}{}/{} matched{among} ", grouped(matched as u64), grouped(of as u64))
}

impl Columns {
    fn new(width: u16) -> Self {
        let numbers = if width < NARROW { &NUMBERS[..1] } else { &NUMBERS };
        let rest = width.saturating_sub(NUMBER * numbers.len() as u16);
        let bar = (rest * 2 / 5).max(BAR).min(rest.saturating_sub(BAR));
        Columns { name: rest - bar, numbers, bar }
    }

    fn draw_head(&self, canvas: &mut Canvas<'_>, line: Area) {
        canvas.text(line.x + 1, line.y, self.name.saturating_sub(1), "rule", theme::FAINT);
        let mut end = line.x + self.name;
        for (title, _) in self.numbers {
            end += NUMBER;
            canvas.right(end - 1, line.y, NUMBER - 1, title, theme::FAINT);
        }
    }

    fn draw_row(
        &self,
        canvas: &mut Canvas<'_>,
        line: Area,
        crawler: &Crawler,
        row: &TableRow,
        branch: &Branch,
        largest: u64,
    ) {
        let coverage = Coverage::of(&crawler.store, row);
        let plain = if branch.again || coverage == Coverage::Skipped { theme::FAINT } else { theme::PLAIN };
        let (x, room) = (line.x + 1, self.name.saturating_sub(2));
        let sign = if branch.again { "↑" } else { "" };
        let name = format!("{sign}{}", last_segment(crawler.store.site_path(branch.site)));
        // What the name leaves, and half of the room at least; a level takes two columns.
        let levels = (room as usize).saturating_sub(width(&name)).max(room as usize / 2) / 2;
        let guide = branch.guide(&crawler.view.productions.branches, levels);
        let used = canvas.text(x, line.y, room, &guide, theme::FAINT);
        canvas.text(x + used, line.y, room - used, &name, plain);
        let (mut x, end) = (line.x + self.name, line.x + line.width);
        if coverage == Coverage::Skipped {
            let why = crawler.store.site(branch.site).and_then(|site| site.skipped.as_deref()).unwrap_or_default();
            canvas.text(x, line.y, end.saturating_sub(x), why, theme::FAINT);
            return;
        }
        for (_, number) in self.numbers {
            x += NUMBER;
            canvas.right(x - 1, line.y, NUMBER - 1, &written(number(row)), plain);
        }
        // What stands further up already is told there.
        if !branch.again {
            let (text, style) = self.bar(crawler, coverage, row.measure.count, largest);
            canvas.text(x, line.y, self.bar.saturating_sub(1), &text, style);
        }
    }

    /// A bar, or what is to be seen instead of it.
    fn bar(&self, crawler: &Crawler, coverage: Coverage, count: u64, largest: u64) -> (String, Style) {
        // Numbers that are not exact may hide an activation.
        let doubt = if crawler.view.productions.table.exact { "" } else { "?" };
        match coverage {
            Coverage::NeverMatched if crawler.view.filter.is_all() => {
                (format!(" NEVER MATCHED{doubt} "), theme::UNCOVERED)
            }
            Coverage::NeverEntered if crawler.view.filter.is_all() => {
                (format!(" NEVER ENTERED{doubt} "), theme::UNCOVERED)
            }
            _ => (table::bar(count, largest, self.bar.saturating_sub(1)), theme::BAR),
        }
    }
}

/// A number in the columns that there are.
fn written(number: u64) -> String {
    if number < 10_000_000 { grouped(number) } else { short(number) }
}

/// Where the production under the cursor stands in the grammar, and how it begins there.
fn draw_source(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler) {
    let source = &crawler.view.productions.source;
    let Some(site) = source.of.and_then(|site| crawler.store.site(site)) else { return };
    let room = line.width.saturating_sub(2) as usize;
    let text = source.line.as_deref().unwrap_or_default();
    // The source matters more than the folders.
    let place = format!("{}:{}", site.file, site.lines.0);
    let place = shorten_file(&place, room.saturating_sub(width(text) + 2).max(room / 3));
    let used = canvas.text(line.x + 1, line.y, room as u16, &place, theme::FAINT) + 2;
    let room = room.saturating_sub(used as usize);
    canvas.text(line.x + 1 + used, line.y, room as u16, &shorten(text, room), theme::PLAIN);
}

/// Why the production under the cursor never matched, where that was found out.
fn draw_shadow(canvas: &mut Canvas<'_>, line: Area, crawler: &Crawler) {
    let view = &crawler.view.productions;
    let site = view.table.current().and_then(|row| row.site);
    let Some(why) = site.and_then(|site| view.shadows.get(&site)) else { return };
    let room = line.width.saturating_sub(2);
    canvas.text(line.x + 1, line.y, room, &cut(why, room as usize), theme::PLAIN);
}
