//! Rows appended to tables and lists.
//!
//! Rows that are taken away are kept and used again, so that a page that changes for hours does not
//! grow, and a node never changes its identity.

use taffy::prelude::{line, span};
use taffy::{Display, Line, NodeId, Rect, Style};

use super::{Content, Node, Scene};
use crate::text::{Font, Text};

/// The rows appended to one table or list.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The boxes of each row, on the page and off it, in order.
    made: Vec<Vec<NodeId>>,
    /// How many of them are on the page.
    shown: usize,
}

impl Scene {
    /// Rows that have been appended to this node and are on the page.
    pub fn rows_shown(&self, list: NodeId) -> usize {
        self.rows.get(&list.into()).map_or(0, |rows| rows.shown)
    }

    pub(super) fn append_row(&mut self, list: NodeId) {
        let mut rows = self.rows.remove(&list.into()).unwrap_or_default();
        if rows.shown == rows.made.len() {
            rows.made.push(self.make_row(list, rows.shown));
        }
        self[list].children.extend(&rows.made[rows.shown]);
        rows.shown += 1;
        self.rows.insert(list.into(), rows);
    }

    pub(super) fn trim_rows(&mut self, list: NodeId) {
        let Some(rows) = self.rows.get_mut(&list.into()) else { return };
        let cells: usize = rows.made[..std::mem::take(&mut rows.shown)].iter().map(Vec::len).sum();
        let rest = self[list].children.len() - cells;
        self[list].children.truncate(rest);
    }

    /// Makes the boxes of a row, not yet on the page.
    fn make_row(&mut self, list: NodeId, number: usize) -> Vec<NodeId> {
        let columns = self[list].style.grid_template_columns.len();
        if self[list].style.display != Display::Grid || columns == 0 {
            let style = Style { display: Display::Block, ..Style::default() };
            return vec![self.make_box("li", style, &words(number, 0), list, list)];
        }
        let row = self.last_row(list).saturating_add(1);
        let owner = self.own(Node::new("tr", Content::Rows, Style::default()), list);
        if self.introduced {
            self.introduce_node(owner);
        }
        (0..columns)
            .map(|column| {
                let style = Style {
                    display: Display::Block,
                    padding: Rect::length(4.0),
                    grid_row: Line { start: line(row), end: span(1) },
                    grid_column: Line { start: line(column as i16 + 1), end: span(1) },
                    ..Style::default()
                };
                self.make_box("td", style, &words(number, column), list, owner)
            })
            .collect()
    }

    fn make_box(
        &mut self,
        tag: &str,
        style: Style,
        words: &str,
        parent: NodeId,
        owner: NodeId,
    ) -> NodeId {
        let mut text = Text::default();
        text.push(words, Font::default());
        text.shape();
        let id = self.own(Node::new(tag, Content::Text(text), style), owner);
        self[id].parent = Some(parent);
        if self.introduced {
            self.introduce_node(id);
        }
        id
    }

    /// The last row of a table that holds a cell.
    fn last_row(&self, table: NodeId) -> i16 {
        let row = |&cell: &NodeId| match self[cell].style.grid_row.start {
            taffy::GridPlacement::Line(line) => line.as_i16(),
            _ => 0,
        };
        self[table].children.iter().map(row).max().unwrap_or(0)
    }
}

/// Returns the text of a cell in a new row.
fn words(row: usize, column: usize) -> String {
    const WORDS: [&str; 7] =
        ["tracking issue", "unstable", "x86_64", "feature gate", "no", "accepted", "see above"];
    match column {
        0 => format!("new row {}", row + 1),
        _ => WORDS[(row * 3 + column * 5) % WORDS.len()].to_owned(),
    }
}
