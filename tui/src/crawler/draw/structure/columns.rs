//! The rows of the structure, and where their parts stand.

use ratatui::style::Style;

use super::super::canvas::Canvas;
use super::super::{table, theme};
use crate::crawler::layout::Area;
use crate::crawler::state::Crawler;
use crate::structure::{Column, Element, Structure};
use crate::text::{Unit, grouped, short, width};

/// Columns of a bar at least, of a number of calls, of coverage, of receivers, of a time, and of what the weaver counted.
const BAR: u16 = 8;
const CALLS: u16 = 11;
const RAN: u16 = 8;
const RECEIVERS: u16 = 10;
const TIME: u16 = 10;
const WOVEN: u16 = 11;
/// From this width on what the weaver counted is shown, too.
const WIDE: u16 = 100;
/// Narrower than this, neither times nor receivers are shown.
const NARROW: u16 = 66;

/// Where the parts of a row stand, and what they are measured by.
pub struct Columns<'a> {
    crawler: &'a Crawler,
    whole: &'a Structure,
    name: u16,
    bar: u16,
    numbers: Vec<Column>,
    largest: u64,
    units: [Unit; 2],
}

impl<'a> Columns<'a> {
    /// For so many columns.
    pub fn new(crawler: &'a Crawler, whole: &'a Structure, columns: u16) -> Self {
        let numbers = match columns {
            0..NARROW => Vec::new(),
            NARROW..WIDE => vec![Column::Receivers, Column::Total, Column::SelfTime],
            WIDE.. => {
                vec![Column::Receivers, Column::Total, Column::SelfTime, Column::Lines, Column::Complexity]
            }
        };
        let fixed = CALLS + RAN + numbers.iter().map(|&column| columns_of(column)).sum::<u16>();
        let rest = columns.saturating_sub(fixed);
        let bar = (rest / 4).max(BAR).min(rest.saturating_sub(BAR));
        let largest = |of: fn(&Element) -> Option<u64>| whole.elements.iter().filter_map(of).max().unwrap_or(0);
        let unit = |ticks| Unit::for_largest(crawler.store.span_ns(ticks));
        Columns {
            crawler,
            whole,
            name: rest - bar,
            bar,
            numbers,
            largest: largest(|element| Some(element.measure.count)),
            units: [unit(largest(Element::total_ticks)), unit(largest(Element::self_ticks))],
        }
    }

    /// The titles; that of the column that the rows are sorted by stands out.
    pub fn draw_head(&self, canvas: &mut Canvas<'_>, line: Area) {
        let sorted = self.crawler.view.structure.order.column;
        let style = |column| if column == sorted { theme::FOCUS } else { theme::FAINT };
        canvas.text(line.x + 1, line.y, self.name.saturating_sub(1), "element", style(Column::Name));
        let mut end = line.x + self.name + CALLS;
        canvas.right(end - 1, line.y, CALLS - 1, "calls", style(Column::Calls));
        end += self.bar + RAN;
        canvas.right(end - 1, line.y, RAN - 1, "ran", style(Column::NeverRan));
        for &column in &self.numbers {
            end += columns_of(column);
            let title = match column {
                Column::Total => format!("total {}", self.units[0].sign()),
                Column::SelfTime => format!("self {}", self.units[1].sign()),
                column => column.name().to_owned(),
            };
            canvas.right(end - 1, line.y, columns_of(column) - 1, &title, style(column));
        }
    }

    /// A row.
    pub fn draw_row(&self, canvas: &mut Canvas<'_>, line: Area, at: usize) {
        let element = &self.whole.elements[at];
        let store = &self.crawler.store;
        let skipped = element.skipped(store);
        let plain = if skipped.is_some() { theme::FAINT } else { theme::PLAIN };
        self.draw_name(canvas, line, at, plain);
        let mut x = line.x + self.name;
        if let Some(why) = skipped {
            let room = (line.x + line.width).saturating_sub(x + CALLS);
            canvas.text(x + CALLS, line.y, room, &format!("skipped: {why}"), theme::FAINT);
            return;
        }
        canvas.right(x + CALLS - 1, line.y, CALLS - 1, &written(element.measure.count), plain);
        x += CALLS;
        // Under a filter nobody can tell what never ran.
        let tells = self.crawler.view.filter.is_all();
        let lacks = tells && element.never_ran();
        if lacks && element.site().is_some() {
            // Numbers that are not exact may hide a call.
            let doubt = if self.whole.exact { "" } else { "?" };
            canvas.text(x, line.y, self.bar + RAN - 1, &format!(" NEVER RAN{doubt} "), theme::UNCOVERED);
        } else {
            let bar = table::bar(element.measure.count, self.largest, self.bar.saturating_sub(1));
            canvas.text(x, line.y, self.bar, &bar, theme::BAR);
        }
        x += self.bar + RAN;
        if tells && element.site().is_none() && element.methods > 0 {
            let style = if lacks { theme::UNCOVERED } else { plain };
            canvas.right(x - 1, line.y, RAN - 1, &format!("{}/{}", element.ran, element.methods), style);
        }
        for &column in &self.numbers {
            x += columns_of(column);
            let (text, style) = self.number(element, column);
            canvas.right(x - 1, line.y, columns_of(column) - 1, &text, style);
        }
    }

    fn draw_name(&self, canvas: &mut Canvas<'_>, line: Area, at: usize, style: Style) {
        let element = &self.whole.elements[at];
        let folded = if self.crawler.view.structure.is_folded(element) { "▸" } else { "" };
        let name = format!("{folded}{}", element.name);
        let (x, room) = (line.x + 1, self.name.saturating_sub(2));
        // What the name leaves, and a third of the room at least; a level takes two columns.
        let levels = (room as usize).saturating_sub(width(&name)).max(room as usize / 3) / 2;
        let used = canvas.text(x, line.y, room, &self.whole.guide(at, levels), theme::FAINT);
        let style = if element.site().is_none() { style.patch(theme::STRONG) } else { style };
        canvas.text(x + used, line.y, room - used, &name, style);
    }

    fn number(&self, element: &Element, column: Column) -> (String, Style) {
        let partly = element.measure.is_partly_timed();
        let text = match column {
            Column::Receivers if element.receivers.count > 0 => {
                let sign = if element.receivers.is_least { "≥" } else { "" };
                Some(format!("{sign}{}", written(element.receivers.count)))
            }
            Column::Total => element.total_ticks().map(|ticks| self.time(ticks, 0, if partly { "≥" } else { "" })),
            Column::SelfTime => element.self_ticks().map(|ticks| self.time(ticks, 1, if partly { "~" } else { "" })),
            Column::Lines if element.lines > 0 => Some(written(element.lines)),
            Column::Complexity => element.complexity.map(|paths| written(paths.into())),
            _ => None,
        };
        text.map_or(("–".into(), theme::FAINT), |text| (text, theme::PLAIN))
    }

    fn time(&self, ticks: u64, unit: usize, sign: &str) -> String {
        let ns = self.crawler.store.span_ns(ticks);
        match self.units[unit].write(ns) {
            // Not nothing, but too little for the unit of the column.
            text if ns > 0 && text == "0.0" => "<0.1".into(),
            text => format!("{sign}{text}"),
        }
    }
}

fn columns_of(column: Column) -> u16 {
    match column {
        Column::Receivers => RECEIVERS,
        Column::Lines | Column::Complexity => WOVEN,
        _ => TIME,
    }
}

/// A number in the columns that there are.
fn written(number: u64) -> String {
    if number < 1_000_000 { grouped(number) } else { short(number) }
}
