//! Layout of the screen: plain numbers, for the drawing and for the mouse.
//!
//! ```text
//! recording and its state                      row 0
//! screens                   filter, order      row 1
//! ┌ list ─────────────┬ pane ────────────┐     the body
//! └───────────────────┴──────────────────┘
//! keys, the prompt, or a message               last row
//! ```

use super::command::{Screen, Screens, Tab};

/// Columns for the keys of the help, with a blank after them.
pub(crate) const HELP_KEYS: u16 = 23;

/// Rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// Columns from the left.
    pub x: u16,
    /// Rows from the top.
    pub y: u16,
    /// Width, in columns.
    pub width: u16,
    /// Height, in rows.
    pub height: u16,
}

impl Area {
    /// Returns the area inside a border.
    pub fn inner(self) -> Area {
        Area {
            x: self.x + 1,
            y: self.y + 1,
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    /// Returns one of `count` areas side by side. Neighbours share their borders.
    pub fn share(self, at: usize, count: usize) -> Area {
        let each = self.width.saturating_sub(1) / count.max(1) as u16;
        let x = self.x + at as u16 * each;
        let right = if at + 1 >= count { self.x + self.width } else { x + each + 1 };
        Area { x, width: right - x, ..self }
    }

    /// Returns the index of the share that contains a column.
    pub(crate) fn share_at(self, column: u16, count: usize) -> usize {
        (1..count).take_while(|&at| self.share(at, count).x <= column).count()
    }

    /// Returns true if the area contains a cell.
    pub fn contains(self, column: u16, row: u16) -> bool {
        (self.x..self.x + self.width).contains(&column)
            && (self.y..self.y + self.height).contains(&row)
    }
}

/// Minimum width for list and pane together. Narrower screens show either of them.
const BOTH: u16 = 70;

/// Part of the events screen that the keys move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// List of events.
    #[default]
    List,
    /// Pane on the right.
    Pane,
}

/// Areas of the parts of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Line at the top.
    pub header: Area,
    /// Names of the screens, and the filter.
    pub screens: Area,
    /// Everything between header and footer.
    pub body: Area,
    /// List of events; empty if only the pane is shown.
    pub list: Area,
    /// Right pane; empty if only the list is shown.
    pub pane: Area,
    /// Line at the bottom.
    pub footer: Area,
}

impl Layout {
    /// Computes the layout for a screen of this size. If list and pane do not fit side by side,
    /// only the focused part is shown.
    pub fn new(width: u16, height: u16, focus: Focus) -> Self {
        let line = |y| Area { x: 0, y, width, height: 1.min(height.saturating_sub(y)) };
        let body = Area { x: 0, y: 2, width, height: height.saturating_sub(3) };
        let left = match (width < BOTH, focus) {
            (true, Focus::Pane) => 0,
            (true, Focus::List) => width,
            _ => width * 55 / 100,
        };
        let list = Area { width: left, ..body };
        // List and pane share one border.
        let x = if left > 0 && left < width { left - 1 } else { left };
        let right = Area { x, width: width - x, ..body };
        Layout {
            header: line(0),
            screens: line(1),
            body,
            list,
            pane: right,
            footer: line(height.saturating_sub(1)),
        }
    }
}

/// Places the names of the screens in a line of `columns` columns, each with its first column. If
/// `beside` more columns leave too little room, the last screens have only their keys. The open
/// screen keeps its name.
pub fn screens(
    all: Screens,
    open: Screen,
    columns: u16,
    beside: u16,
) -> impl Iterator<Item = (u16, Screen, String)> {
    // A screen that the line does not list is named while it is open.
    let all = all.iter().copied().chain((!all.contains(&open)).then_some(open));
    let name = |screen: Screen| screen.name().len() + 1;
    let keys = 3 * all.clone().count() + name(open);
    let mut room = usize::from(columns).saturating_sub(usize::from(beside) + keys + 1);
    let mut x = 1;
    all.map(move |screen| {
        let fits = name(screen) <= room;
        if screen != open {
            room = if fits { room - name(screen) } else { 0 };
        }
        let text = if fits || screen == open {
            format!("{} {}", screen.digit(), screen.name())
        } else {
            screen.digit().to_string()
        };
        let begin = x;
        x += text.len() as u16 + 2;
        (begin, screen, text)
    })
}

/// Places the names of the tabs in a pane of `columns` columns, each with its first column. If not
/// all fit, the tabs around the open tab are shown.
pub fn tabs(columns: usize, open: Tab) -> impl Iterator<Item = (u16, Tab, &'static str)> {
    let width = |tabs: &[Tab]| tabs.iter().map(|tab| tab.name().len() + 1).sum::<usize>();
    let open = open as usize;
    // This is the first tab from which the open tab and its successor are visible.
    let last = (open + 2).min(Tab::ALL.len());
    let first = (0..=open).find(|&first| width(&Tab::ALL[first..last]) < columns).unwrap_or(open);
    let mut x = 1;
    let placed = Tab::ALL[first..].iter().map(move |&tab| {
        let begin = x;
        x += tab.name().len() as u16 + 1;
        (begin, tab, tab.name())
    });
    placed.take_while(move |(x, _, name)| usize::from(*x) + name.len() <= columns)
}

/// Returns the tab at this column of the pane.
pub(crate) fn tab_at(column: u16, columns: usize, open: Tab) -> Option<Tab> {
    tabs(columns, open)
        .find(|(x, _, text)| (*x..*x + text.len() as u16).contains(&column))
        .map(|(_, tab, _)| tab)
}

/// Columns of the screen of lanes, from the left end of its inner area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneColumns {
    /// Width of the name.
    pub name: u16,
    /// Column after the number of events.
    pub events: u16,
    /// Column after the rate; 0 if it is not shown.
    pub rate: u16,
    /// First column of the time.
    pub time: u16,
    /// Width of the time.
    pub columns: u16,
    /// Width of the last event; 0 if it is not shown.
    pub last: u16,
}

impl LaneColumns {
    /// Computes the columns in an area of this width. In a narrow area, time takes precedence over
    /// the last event.
    pub fn new(width: u16) -> Self {
        let name = width.saturating_sub(11).min(if width < 90 { 16 } else { 24 });
        let events = 1 + name + 9;
        let rate = if width < 70 { 0 } else { events + 8 };
        let time = rate.max(events) + 2;
        let room = width.saturating_sub(time + 1);
        let columns = if width < 60 { room } else { room * 2 / 3 };
        let last = if room.saturating_sub(columns) < 6 { 0 } else { room - columns - 2 };
        LaneColumns { name, events, rate, time, columns, last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_screens_give_way_to_the_filter() {
        let line = |beside| {
            let names =
                screens(&Screen::ALL[..7], Screen::Sites, 80, beside).map(|(_, _, text)| text);
            names.collect::<Vec<_>>().join("  ")
        };
        let whole = "1 Events  2 Subjects  3 Sites  4 Lanes  5 Findings  6 Structure  7 Browser";
        assert_eq!(line(0), whole);
        assert_eq!(line(12), "1 Events  2 Subjects  3 Sites  4 Lanes  5 Findings  6  7");
        assert_eq!(line(52), "1  2  3 Sites  4  5  6  7");
        let names = screens(&Screen::ALL[..2], Screen::Blueprint, 80, 0).map(|(_, _, text)| text);
        assert_eq!(names.collect::<Vec<_>>(), ["1 Events", "2 Subjects", "b Blueprint"]);
    }

    #[test]
    fn no_size_is_too_small() {
        for width in 0..100 {
            for height in 0..30 {
                for focus in [Focus::List, Focus::Pane] {
                    let layout = Layout::new(width, height, focus);
                    for area in
                        [layout.header, layout.screens, layout.list, layout.pane, layout.footer]
                    {
                        assert!(
                            area.x + area.width <= width
                                && (area.height == 0 || area.y + area.height <= height.max(3))
                        );
                    }
                }
            }
        }
    }
}
