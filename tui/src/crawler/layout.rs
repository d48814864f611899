//! Where things stand on the screen: plain numbers, for the drawing and for the mouse.
//!
//! ```text
//! where we are, and what to distrust           row 0
//! screens                            filter    row 1
//! ┌ list ─────────────┬ pane ────────────┐     the body
//! └───────────────────┴──────────────────┘
//! keys, the line being written, or a word      last row
//! ```

use super::command::{Screen, Screens};
use super::state::pane::Tab;

/// A rectangle of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Area {
    /// From the left.
    pub x: u16,
    /// From the top.
    pub y: u16,
    /// Columns.
    pub width: u16,
    /// Rows.
    pub height: u16,
}

impl Area {
    /// What remains inside of a border.
    pub fn inner(self) -> Area {
        Area {
            x: self.x + 1,
            y: self.y + 1,
            width: self.width.saturating_sub(2),
            height: self.height.saturating_sub(2),
        }
    }

    /// Whether a cell lies in it.
    pub fn holds(self, column: u16, row: u16) -> bool {
        (self.x..self.x + self.width).contains(&column) && (self.y..self.y + self.height).contains(&row)
    }
}

/// Narrower than this, list and pane take turns.
const BOTH: u16 = 70;

/// The places of the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The line on top.
    pub top: Area,
    /// The names of the screens, and the filter.
    pub screens: Area,
    /// Everything between.
    pub body: Area,
    /// The list of events; empty if the pane has all the room.
    pub list: Area,
    /// The right pane; empty if the list has all the room.
    pub pane: Area,
    /// The line at the bottom.
    pub bottom: Area,
}

impl Layout {
    /// The layout for a screen of this size; where there is no room for both, `pane` says which of the two is shown.
    pub fn new(width: u16, height: u16, pane: bool) -> Self {
        let line = |y| Area { x: 0, y, width, height: 1.min(height.saturating_sub(y)) };
        let body = Area { x: 0, y: 2, width, height: height.saturating_sub(3) };
        let left = match (width < BOTH, pane) {
            (true, true) => 0,
            (true, false) => width,
            _ => width * 55 / 100,
        };
        let list = Area { width: left, ..body };
        // Both share the border between them.
        let x = if left > 0 && left < width { left - 1 } else { left };
        let right = Area { x, width: width - x, ..body };
        Layout { top: line(0), screens: line(1), body, list, pane: right, bottom: line(height.saturating_sub(1)) }
    }
}

/// The names of the screens as they stand in their line: where each begins.
pub fn screens(screens: Screens) -> impl Iterator<Item = (u16, Screen, String)> {
    let mut x = 1;
    screens.iter().enumerate().map(move |(at, &screen)| {
        let text = format!("{} {}", at + 1, screen.name());
        let begin = x;
        x += text.len() as u16 + 2;
        (begin, screen, text)
    })
}

/// The screen whose name stands at this column.
pub fn screen_at(column: u16, all: Screens) -> Option<Screen> {
    screens(all).find(|(x, _, text)| (*x..*x + text.len() as u16).contains(&column)).map(|(_, screen, _)| screen)
}

/// The names of the tabs as they stand in a pane of this many columns: where each begins.
pub fn tabs(columns: usize) -> impl Iterator<Item = (u16, Tab, &'static str)> {
    let narrow = columns < 46;
    let mut x = 1;
    Tab::ALL.into_iter().map(move |tab| {
        let begin = x;
        x += tab.name(narrow).len() as u16 + 1;
        (begin, tab, tab.name(narrow))
    })
}

/// The tab whose name stands at this column of the pane.
pub fn tab_at(column: u16, columns: usize) -> Option<Tab> {
    tabs(columns).find(|(x, _, text)| (*x..*x + text.len() as u16).contains(&column)).map(|(_, tab, _)| tab)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_size_is_too_small() {
        for width in 0..100 {
            for height in 0..30 {
                for pane in [false, true] {
                    let layout = Layout::new(width, height, pane);
                    for area in [layout.top, layout.screens, layout.list, layout.pane, layout.bottom] {
                        assert!(
                            area.x + area.width <= width && (area.height == 0 || area.y + area.height <= height.max(3))
                        );
                    }
                }
            }
        }
    }
}
