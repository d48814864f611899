//! Only access to the cells of the terminal. It removes control characters and clips every text to
//! its area.

use metaspy_report::text::{clean, shorten, width, wrap};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use super::theme;
use crate::crawler::layout::Area;

/// Cells of a frame.
pub struct Canvas<'a>(&'a mut Buffer);

impl<'a> Canvas<'a> {
    /// Wraps the cells of a frame.
    pub fn new(cells: &'a mut Buffer) -> Self {
        Canvas(cells)
    }

    /// Writes a text into at most `columns` columns, and returns the number of columns that it
    /// took.
    pub fn text(&mut self, x: u16, y: u16, columns: u16, text: &str, style: Style) -> u16 {
        let area = self.0.area;
        if columns == 0 || x >= area.right() || y >= area.bottom() {
            return 0;
        }
        let columns = columns.min(area.right() - x);
        let text = shorten(&clean(text), columns as usize);
        self.0.set_stringn(x, y, &text, columns as usize, style);
        width(&text) as u16
    }

    /// Writes pieces next to each other into at most `columns` columns, and returns the number of
    /// columns that they took.
    pub fn line(&mut self, x: u16, y: u16, columns: u16, pieces: &[(&str, Style)]) -> u16 {
        let mut used = 0;
        for (text, style) in pieces {
            used += self.text(x + used, y, columns.saturating_sub(used), text, *style);
        }
        used
    }

    /// Writes a text that ends before column `end`.
    pub fn right(&mut self, end: u16, y: u16, columns: u16, text: &str, style: Style) {
        let took = (width(text) as u16).min(columns);
        self.text(end.saturating_sub(took), y, took, text, style);
    }

    /// Applies a style to an area.
    pub fn paint(&mut self, area: Area, style: Style) {
        self.0.set_style(rect(area).intersection(self.0.area), style);
    }

    /// Draws a border with a title at its left and another at its right.
    pub fn frame(&mut self, area: Area, left: &str, right: &str, style: Style) {
        Block::bordered().border_style(style).render(rect(area).intersection(self.0.area), self.0);
        let room = area.width.saturating_sub(4);
        // The right title gets the room that the left title leaves, but at least half of it.
        let right_columns =
            (width(right) as u16).min((room / 2).max(room.saturating_sub(width(left) as u16)));
        self.text(area.x + 1, area.y, room - right_columns, left, theme::STRONG);
        self.right(area.x + area.width.saturating_sub(1), area.y, right_columns, right, style);
    }

    /// Highlights words wherever they are in an area. The words are in lower case.
    pub(crate) fn highlight(&mut self, area: Area, words: &[String]) {
        for y in area.y..(area.y + area.height).min(self.0.area.bottom()) {
            let columns = area.x..(area.x + area.width).min(self.0.area.right());
            // The text has one character for each cell, so an index in the text is a column.
            let cell = |x| self.0[(x, y)].symbol().chars().next().unwrap_or(' ');
            let text: Vec<char> =
                columns.map(|x| cell(x).to_lowercase().next().unwrap_or(' ')).collect();
            for word in words {
                let word: Vec<char> = word.chars().collect();
                let found =
                    text.windows(word.len().max(1)).enumerate().filter(|(_, part)| *part == word);
                let columns: Vec<u16> = found.map(|(at, _)| area.x + at as u16).collect();
                for x in columns {
                    self.paint(Area { x, y, width: word.len() as u16, height: 1 }, theme::MATCH);
                }
            }
        }
    }

    /// Clears an area.
    pub fn clear(&mut self, area: Area) {
        Clear.render(rect(area).intersection(self.0.area), self.0);
    }

    /// Writes lines into the middle of an empty area: the reason why it is empty, and the key to
    /// press.
    pub fn empty(&mut self, area: Area, lines: &[String]) {
        let room = area.width.saturating_sub(2) as usize;
        let style = |at| if at == 0 { theme::PLAIN } else { theme::FAINT };
        let wrapped = lines
            .iter()
            .enumerate()
            .flat_map(|(at, text)| wrap(text, room).into_iter().map(move |it| (it, style(at))));
        let from = area.y + (area.height.saturating_sub(lines.len() as u16)) / 3;
        for (y, (text, style)) in (from..area.y + area.height).zip(wrapped) {
            let took = (width(&text) as u16).min(area.width);
            self.text(area.x + (area.width - took) / 2, y, area.width, &text, style);
        }
    }
}

fn rect(area: Area) -> Rect {
    Rect { x: area.x, y: area.y, width: area.width, height: area.height }
}
