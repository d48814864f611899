//! Table that most screens of the crawler share: a screen is a list of rows and its columns.
//!
//! A [`Column`] has a name, a width, a cell for each row, and a key to sort by. Subjects, sites,
//! productions and the structure are each a [`TableList`] in one file; a column is added there and
//! nowhere else. `draw/table.rs` draws all of them.

mod cell;
mod sort;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::Store;

pub use cell::{Cell, Tone, Value};
pub use sort::{Key, Sort, SortChange, reorder};

use super::cursor::Cursor;
use super::event_list::Side;
use crate::crawler::config::browser::BrowserTab;

/// Rows of a screen.
pub trait Rows {
    /// Returns the cursor.
    fn cursor(&self) -> &Cursor;
    /// Returns the cursor, to move it.
    fn cursor_mut(&mut self) -> &mut Cursor;
    /// Returns the number of rows that the cursor can reach.
    fn row_count(&self) -> usize;
    /// Discards the rows, because another filter is set.
    fn discard(&mut self);
    /// Sets the number of lines, including head and footer.
    fn resize(&mut self, lines: usize);
    /// Returns the name of a row, for a search.
    fn row_name(&self, store: &Store, row: usize) -> String;
    /// Returns the site of the row under the cursor.
    fn site(&self) -> Option<SiteId>;
    /// Returns the filter term for the events of the row under the cursor; `None` if no filter
    /// selects exactly these.
    fn filter_term(&self, store: &Store) -> Option<String>;

    /// Moves to the next row whose name contains `text`, on this side of the cursor. Returns false
    /// if there is none.
    fn find(&mut self, store: &Store, text: &str, side: Side) -> bool {
        let rows = self.row_count();
        let text = text.to_lowercase();
        let found = self
            .cursor()
            .find(rows, side, |row| self.row_name(store, row).to_lowercase().contains(&text));
        found.inspect(|&row| self.cursor_mut().select(row, rows)).is_some()
    }

    /// Returns the order of the rows, if it can be changed.
    fn sort(&self) -> Option<&Sort> {
        None
    }

    /// Returns the name of the method profiler whose columns are shown.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// Returns the name of the method profiler whose columns come next.
    fn next_profile(&self) -> Option<&str> {
        None
    }

    /// Shows the columns of the next method profiler. After the last profiler come the columns of
    /// the screen.
    fn show_next_profile(&mut self, _store: &Store) {}

    /// Changes the order.
    fn change_sort(&mut self, _store: &Store, _change: SortChange) {}
}

/// Rows that are drawn as a table.
pub trait TableList: Rows + Sized {
    /// Returns the columns, from left to right. The first column holds the names.
    fn columns(&self, store: &Store) -> Vec<Column<Self>>;

    /// Returns the number of items, including those that are folded away. All items determine the
    /// units of the columns.
    fn item_count(&self) -> usize {
        self.row_count()
    }

    /// Returns the item in a row.
    fn item(&self, row: usize) -> usize {
        row
    }

    /// Returns the largest number in a column, if the list stores it.
    fn largest(&self, _column: &str) -> Option<u64> {
        None
    }

    /// Draws the lines of the tree before the name of an item, for at most `levels` levels.
    fn tree_lines(&self, _item: usize, _levels: usize) -> String {
        String::new()
    }
}

/// Largest number of each column that has a bar or a unit, by the name of the column.
pub type Largest = HashMap<Cow<'static, str>, u64>;

/// Finds the largest number of each column that has a bar or a unit.
pub fn largest<L: TableList>(store: &Store, list: &L) -> Largest {
    let columns = list.columns(store);
    let scaled = columns.iter().filter(|column| matches!(column.kind, Kind::Time | Kind::Bar));
    scaled.map(|column| (column.name.clone(), column.largest(store, list))).collect()
}

/// Function that returns the cell, or the sort key, of an item.
type Get<L, T> = Arc<dyn Fn(&Store, &L, usize) -> T + Send + Sync>;

/// Column of a table.
pub struct Column<L> {
    /// Name of the column, for the line that shows the order.
    pub name: Cow<'static, str>,
    /// Title in the head of the table; the unit of a time follows it.
    pub title: Cow<'static, str>,
    /// Kind of the values in its cells.
    pub kind: Kind,
    /// Width of the column.
    pub width: Width,
    /// Minimum width of a table that shows the column, unless the rows are sorted by it.
    pub min_table: u16,
    cell: Get<L, Cell>,
    key: Option<Get<L, Key>>,
}

/// Kind of the values in a column, which determines how they are aligned and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The name of the item, behind the lines of the tree.
    Name,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A number that was added since the last reading.
    Change,
    /// A time in ns. All cells of the column use one unit.
    Time,
    /// A bar whose length shows the number.
    Bar,
    /// Numbers over time, as heights. Rows are not sorted by them.
    Trend,
}

/// Width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// This many cells of the terminal, including a blank at the end.
    Cells(u16),
    /// Room that the other columns leave, for the name.
    Rest,
    /// Part of the room that the numbers leave, for a bar.
    Part {
        /// Numerator and denominator.
        of: (u16, u16),
        /// Minimum width, in cells.
        min: u16,
    },
}

impl<L> Column<L> {
    /// Creates a column. It is sorted by the numbers or texts in its cells.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        width: Width,
        cell: impl Fn(&Store, &L, usize) -> Cell + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        Column {
            title: name.clone(),
            name,
            kind,
            width,
            min_table: 0,
            cell: Arc::new(cell),
            key: None,
        }
    }

    /// Creates the column of names.
    pub fn name(
        title: impl Into<Cow<'static, str>>,
        cell: impl Fn(&Store, &L, usize) -> Cell + Send + Sync + 'static,
    ) -> Self {
        Column::new("name", Kind::Name, Width::Rest, cell).titled(title)
    }

    /// Sets another title.
    pub(crate) fn titled(self, title: impl Into<Cow<'static, str>>) -> Self {
        Column { title: title.into(), ..self }
    }

    /// Leaves the column out in narrower tables, unless the rows are sorted by it.
    pub(crate) fn shown_from(self, min_table: u16) -> Self {
        Column { min_table, ..self }
    }

    /// Sets another key to sort by.
    pub(crate) fn sorted_by(
        self,
        key: impl Fn(&Store, &L, usize) -> Key + Send + Sync + 'static,
    ) -> Self {
        Column { key: Some(Arc::new(key)), ..self }
    }

    /// Returns the cell of an item.
    pub fn cell(&self, store: &Store, list: &L, item: usize) -> Cell {
        (self.cell)(store, list, item)
    }

    /// Returns the largest number in its cells.
    pub fn largest(&self, store: &Store, list: &L) -> u64
    where
        L: TableList,
    {
        let numbers =
            (0..list.item_count()).filter_map(|item| self.cell(store, list, item).number());
        numbers.max().unwrap_or(0)
    }

    /// Returns the key to sort an item by.
    pub fn key(&self, store: &Store, list: &L, item: usize) -> Key {
        match &self.key {
            Some(key) => key(store, list, item),
            None => self.cell(store, list, item).into_key(),
        }
    }
}

impl<L> fmt::Debug for Column<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Selection and order of the known columns, as a file states it. Without a file, all columns are
/// shown.
#[derive(Clone, Debug, Default)]
pub struct Arrangement(Option<Arc<BrowserTab>>);

impl Arrangement {
    /// Follows the tab of a file.
    pub fn new(tab: BrowserTab) -> Self {
        Arrangement(Some(Arc::new(tab)))
    }

    /// Selects the columns. The first of them holds the names. A column without values at present
    /// is left out.
    pub fn of<L>(&self, columns: Vec<Column<L>>) -> Vec<Column<L>> {
        let Some(tab) = &self.0 else { return columns };
        let mut known = columns.into_iter();
        let name = known.next().map(|name| name.titled(tab.title.clone()));
        let mut known: Vec<Column<L>> = known.collect();
        let shown = tab.show.iter().filter_map(|show| {
            let at = known.iter().position(|column| column.name == show.name)?;
            let column = known.swap_remove(at).shown_from(show.from);
            Some(match &show.title {
                Some(title) => column.titled(title.clone()),
                None => column,
            })
        });
        name.into_iter().chain(shown).collect()
    }
}

/// Returns the columns that fit into a table of this width, each with its own width.
pub fn fitting<'a, L>(
    columns: &'a [Column<L>],
    sort: Option<&Sort>,
    table: u16,
) -> Vec<(&'a Column<L>, u16)> {
    /// Minimum width of a name, before numbers give way to it.
    const NAME: u16 = 18;
    let is_sorted = |column: &Column<L>| sort.is_some_and(|sort| sort.column == column.name);
    let mut shown: Vec<&Column<L>> =
        columns.iter().filter(|column| table >= column.min_table || is_sorted(column)).collect();
    let cells = |shown: &[&Column<L>]| -> u16 {
        shown
            .iter()
            .map(|column| if let Width::Cells(cells) = column.width { cells } else { 0 })
            .sum()
    };
    let part = columns.iter().find_map(|column| match column.width {
        Width::Part { of, min } => Some((of, min)),
        _ => None,
    });
    let bar = |rest: u16| part.map_or(0, |((part, whole), min)| (rest * part / whole).max(min));
    // A column that is only present to show the order displaces others.
    let is_tight = |rest: u16| rest < NAME + bar(rest);
    while is_tight(table.saturating_sub(cells(&shown)))
        && let Some(at) =
            shown.iter().rposition(|column| column.min_table > 0 && !is_sorted(column))
    {
        shown.remove(at);
    }
    let rest = table.saturating_sub(cells(&shown));
    let bar = bar(rest).min(rest.saturating_sub(NAME / 2));
    let width = |column: &Column<L>| match column.width {
        Width::Cells(cells) => cells,
        Width::Rest => rest - bar,
        Width::Part { .. } => bar,
    };
    shown.into_iter().map(|column| (column, width(column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawler::state::view::View;

    /// Checks the names and widths of the columns of the structure in a table of this width.
    fn check(table: u16, sort: &'static str, expected: &str) {
        let recording =
            metaspy_core::Recording::memory().budget(1 << 20).start().expect("a small recording");
        let columns = View::new(80, 24).structure.columns(&recording.store());
        let fitting = fitting(&columns, Some(&Sort::by(sort)), table);
        assert_eq!(fitting.iter().map(|(_, width)| width).sum::<u16>(), table);
        let text: Vec<String> =
            fitting.iter().map(|(column, width)| format!("{}:{width}", column.name)).collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn a_column_that_the_rows_are_sorted_by_takes_the_place_of_others() {
        check(
            118,
            "name",
            "name:36 calls:11 bar:11 never ran:8 receivers:10 total:10 self:10 lines:11 complexity:11",
        );
        check(78, "name", "name:21 calls:11 bar:8 never ran:8 receivers:10 total:10 self:10");
        check(78, "lines", "name:20 calls:11 bar:8 never ran:8 receivers:10 total:10 lines:11");
        check(40, "name", "name:13 calls:11 bar:8 never ran:8");
    }
}
