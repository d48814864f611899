//! Cursor over rows, and the visible rows.

use std::ops::Range;

use super::event_list::Side;
use crate::crawler::command::Step;

/// Cursor over rows. It scrolls them so that its own row stays visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// Index of the row under the cursor.
    pub row: usize,
    /// Index of the first visible row.
    pub top: usize,
    /// Maximum number of visible rows.
    pub height: usize,
}

impl Cursor {
    /// Applies a movement among `rows` rows.
    pub fn step(&mut self, step: Step, rows: usize) {
        self.select(step.apply(self.row, rows, self.height), rows);
    }

    /// Moves to a row, or to the last row if there are fewer.
    pub fn select(&mut self, row: usize, rows: usize) {
        self.row = row.min(rows.saturating_sub(1));
        self.top = self.top.clamp((self.row + 1).saturating_sub(self.height.max(1)), self.row);
    }

    /// Scrolls `rows` rows by this many. The cursor moves only as far as it must to stay visible.
    pub fn scroll(&mut self, by: isize, rows: usize) {
        self.top = self.top.saturating_add_signed(by).min(rows.saturating_sub(self.height));
        let last = (self.top + self.height.max(1) - 1).min(rows.saturating_sub(1));
        self.row = self.row.clamp(self.top.min(last), last);
    }

    /// Moves to the first row.
    pub(crate) fn reset(&mut self) {
        (self.row, self.top) = (0, 0);
    }

    /// Moves to the new position of the selected row after a reading, and keeps its line of the
    /// screen.
    ///
    /// A cursor on the first row stays there, because the user looks at the top of the table.
    pub fn follow(&mut self, found: Option<usize>, rows: usize) {
        let line = self.row.saturating_sub(self.top);
        if let Some(row) = found.filter(|_| self.row > 0) {
            self.top = row.saturating_sub(line);
            self.row = row;
        }
        self.select(self.row, rows);
    }

    /// Returns the range of visible rows.
    pub fn visible(&self, rows: usize) -> Range<usize> {
        let top = self.top.min(rows);
        top..(top + self.height).min(rows)
    }

    /// Finds the next row that matches: below the cursor, then from the top down to the cursor
    /// itself. For the other side, the search goes upwards.
    pub fn find(
        &self,
        rows: usize,
        side: Side,
        mut is_match: impl FnMut(usize) -> bool,
    ) -> Option<usize> {
        let by = |by: usize| if side == Side::After { by } else { rows - by };
        (1..=rows).map(|steps| (self.row + by(steps)) % rows).find(|&row| is_match(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_keeps_its_row_and_its_line_when_rows_are_read_again() {
        let mut cursor = Cursor { row: 7, top: 5, height: 4 };
        cursor.follow(Some(9), 20);
        assert_eq!(cursor, Cursor { row: 9, top: 7, height: 4 });
        cursor.follow(None, 3);
        assert_eq!((cursor.row, cursor.visible(3)), (2, 2..3));
        let mut first = Cursor { row: 0, top: 0, height: 4 };
        first.follow(Some(9), 20);
        assert_eq!(first.row, 0, "the head of the table stays in view");
    }

    #[test]
    fn a_cursor_moves_only_as_far_as_scrolling_forces_it() {
        let mut cursor = Cursor { row: 5, top: 4, height: 4 };
        cursor.scroll(1, 20);
        assert_eq!(cursor, Cursor { row: 5, top: 5, height: 4 });
        cursor.scroll(3, 20);
        assert_eq!(cursor, Cursor { row: 8, top: 8, height: 4 });
        cursor.scroll(100, 20);
        assert_eq!(cursor, Cursor { row: 16, top: 16, height: 4 });
        cursor.scroll(-100, 20);
        assert_eq!(cursor, Cursor { row: 3, top: 0, height: 4 });
        cursor.scroll(3, 0);
        assert_eq!((cursor.row, cursor.top), (0, 0));
    }

    #[test]
    fn a_search_begins_below_the_cursor_and_ends_at_the_cursor() {
        let cursor = Cursor { row: 2, top: 0, height: 4 };
        assert_eq!(cursor.find(5, Side::After, |row| row % 2 == 0), Some(4));
        assert_eq!(cursor.find(5, Side::After, |row| row < 2), Some(0));
        assert_eq!(cursor.find(5, Side::After, |row| row == 2), Some(2));
        assert_eq!(cursor.find(0, Side::After, |_| true), None);
        assert_eq!(cursor.find(5, Side::Before, |row| row % 2 == 0), Some(0));
        assert_eq!(cursor.find(5, Side::Before, |row| row > 2), Some(4));
        assert_eq!(cursor.find(5, Side::Before, |row| row == 2), Some(2));
    }
}
