//! The one table of the crawler: a screen is a list of rows and its columns.
//!
//! A [`Column`] has a name, a width, a cell for each row, and a key to sort by. Subjects, sites, productions and the
//! structure are each a [`TableList`] in one file; a column is added there and nowhere else. `draw/table.rs` draws
//! all of them.

mod cell;
mod sort;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, Store};

pub use cell::{Cell, Tone, Value};
pub use sort::{Key, Sort, SortChange, reorder};

use super::cursor::Cursor;
use super::event_list::Side;
use crate::crawler::config::browser::BrowserTab;
use crate::crawler::jobs::Job;

/// The rows of a screen.
pub trait Rows {
    /// The cursor.
    fn cursor(&self) -> &Cursor;
    /// The cursor, to move it.
    fn cursor_mut(&mut self) -> &mut Cursor;
    /// Number of rows that the cursor can reach.
    fn row_count(&self) -> usize;
    /// Discards the rows, because another filter holds.
    fn discard(&mut self);
    /// Sets the number of lines, head and footer included.
    fn resize(&mut self, lines: usize);
    /// The name of a row, for a search.
    fn row_name(&self, store: &Store, row: usize) -> String;
    /// The site of the row under the cursor.
    fn site(&self) -> Option<SiteId>;
    /// The filter term for the events of the row under the cursor; `None` if no filter selects exactly these.
    fn filter_term(&self, store: &Store) -> Option<String>;
    /// The job that reads the rows.
    fn job(&self, filter: Filter) -> Job;

    /// Moves to the next row whose name contains `text`, on this side of the cursor; false if there is none.
    fn find(&mut self, store: &Store, text: &str, side: Side) -> bool {
        let (rows, text) = (self.row_count(), text.to_lowercase());
        let found = self.cursor().find(rows, side, |row| self.row_name(store, row).to_lowercase().contains(&text));
        found.inspect(|&row| self.cursor_mut().select(row, rows)).is_some()
    }

    /// The job that finds it, if there are too many rows to search them between two frames.
    fn find_job(&self, _text: &str, _side: Side) -> Option<Job> {
        None
    }

    /// The order of the rows, if it can be changed.
    fn sort(&self) -> Option<&Sort> {
        None
    }

    /// The name of the method profiler whose columns are shown.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// The name of the method profiler whose columns come next.
    fn next_profile(&self) -> Option<&str> {
        None
    }

    /// Shows the columns of the next method profiler; after the last one, the columns of the screen.
    fn show_next_profile(&mut self, _store: &Store) {}

    /// Changes the order. Returns a job if there are too many rows to sort them between two frames.
    fn change_sort(&mut self, _store: &Store, _change: SortChange) -> Option<Job> {
        None
    }
}

/// Rows that are drawn as a table.
pub trait TableList: Rows + Sized {
    /// The columns, from left to right. The first one is the name.
    fn columns(&self, store: &Store) -> Vec<Column<Self>>;

    /// Number of items. All of them determine the units of the columns, also those that are folded away.
    fn item_count(&self) -> usize {
        self.row_count()
    }

    /// The item in a row.
    fn item(&self, row: usize) -> usize {
        row
    }

    /// The largest number in a column, if the list has it.
    fn largest(&self, _column: &str) -> Option<u64> {
        None
    }

    /// The lines of the tree before the name of an item, for at most `levels` levels.
    fn tree_lines(&self, _item: usize, _levels: usize) -> String {
        String::new()
    }
}

/// The largest number of each column that has a bar or a unit, by its name.
pub type Largest = HashMap<Cow<'static, str>, u64>;

/// Finds the largest number of each column that has a bar or a unit.
pub fn largest<L: TableList>(store: &Store, list: &L) -> Largest {
    let columns = list.columns(store);
    let scaled = columns.iter().filter(|column| matches!(column.kind, Kind::Time | Kind::Bar));
    scaled.map(|column| (column.name.clone(), column.largest(store, list))).collect()
}

/// The cell, or the key, of an item.
type Get<L, T> = Arc<dyn Fn(&Store, &L, usize) -> T + Send + Sync>;

/// A column of a table.
pub struct Column<L> {
    /// Its name, for the line that shows the order.
    pub name: Cow<'static, str>,
    /// Its title in the head of the table; the unit of a time follows it.
    pub title: Cow<'static, str>,
    /// What its cells hold.
    pub kind: Kind,
    /// How wide it is.
    pub width: Width,
    /// Narrower tables leave it out, unless the rows are sorted by it.
    pub min_table: u16,
    cell: Get<L, Cell>,
    key: Option<Get<L, Key>>,
}

/// What the cells of a column hold. It determines how they are aligned and written.
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
    /// A bar, as long as the number is large.
    Bar,
    /// Numbers over time, as heights. Rows are not sorted by them.
    Trend,
}

/// The width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// This many cells of the terminal, with a blank one at the end.
    Cells(u16),
    /// What the other columns leave: for the name.
    Rest,
    /// A part of what the numbers leave: for a bar.
    Part {
        /// Numerator and denominator.
        of: (u16, u16),
        /// Its least width.
        min: u16,
    },
}

impl<L> Column<L> {
    /// A column. It is sorted by the numbers or texts in its cells.
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        kind: Kind,
        width: Width,
        cell: impl Fn(&Store, &L, usize) -> Cell + Send + Sync + 'static,
    ) -> Self {
        let name = name.into();
        Column { title: name.clone(), name, kind, width, min_table: 0, cell: Arc::new(cell), key: None }
    }

    /// The column of names.
    pub fn name(
        title: impl Into<Cow<'static, str>>,
        cell: impl Fn(&Store, &L, usize) -> Cell + Send + Sync + 'static,
    ) -> Self {
        Column::new("name", Kind::Name, Width::Rest, cell).titled(title)
    }

    /// With another title.
    pub fn titled(self, title: impl Into<Cow<'static, str>>) -> Self {
        Column { title: title.into(), ..self }
    }

    /// Left out in tables narrower than this, unless the rows are sorted by it.
    pub fn shown_from(self, min_table: u16) -> Self {
        Column { min_table, ..self }
    }

    /// With another key to sort by.
    pub fn sorted_by(self, key: impl Fn(&Store, &L, usize) -> Key + Send + Sync + 'static) -> Self {
        Column { key: Some(Arc::new(key)), ..self }
    }

    /// The cell of an item.
    pub fn cell(&self, store: &Store, list: &L, item: usize) -> Cell {
        (self.cell)(store, list, item)
    }

    /// The largest number in its cells.
    pub fn largest(&self, store: &Store, list: &L) -> u64
    where
        L: TableList,
    {
        let numbers = (0..list.item_count()).filter_map(|item| self.cell(store, list, item).number());
        numbers.max().unwrap_or(0)
    }

    /// The key to sort an item by.
    pub fn key(&self, store: &Store, list: &L, item: usize) -> Key {
        match &self.key {
            Some(key) => key(store, list, item),
            None => self.cell(store, list, item).into_key(),
        }
    }
}

impl<L> fmt::Debug for Column<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// What a file shows of the known columns, in its order, behind the column of names. A layout of no file shows all.
#[derive(Clone, Debug, Default)]
pub struct Arrangement(Option<Arc<BrowserTab>>);

impl Arrangement {
    /// As this file states.
    pub fn new(tab: BrowserTab) -> Self {
        Arrangement(Some(Arc::new(tab)))
    }

    /// Selects the columns. The first of them is the one of names. A column that has nothing to show now is left out.
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

/// The columns that fit into a table of this width, each with its own width.
pub fn fitting<'a, L>(columns: &'a [Column<L>], sort: Option<&Sort>, table: u16) -> Vec<(&'a Column<L>, u16)> {
    /// Columns of a name at least, before numbers give way to it.
    const NAME: u16 = 18;
    let is_sorted = |column: &Column<L>| sort.is_some_and(|sort| sort.column == column.name);
    let mut shown: Vec<&Column<L>> =
        columns.iter().filter(|column| table >= column.min_table || is_sorted(column)).collect();
    let cells = |shown: &[&Column<L>]| -> u16 {
        shown.iter().map(|column| if let Width::Cells(cells) = column.width { cells } else { 0 }).sum()
    };
    let part = columns.iter().find_map(|column| match column.width {
        Width::Part { of, min } => Some((of, min)),
        _ => None,
    });
    let bar = |rest: u16| part.map_or(0, |((part, whole), min)| (rest * part / whole).max(min));
    // A column that is only there to show the order takes the place of others.
    let is_tight = |rest: u16| rest < NAME + bar(rest);
    while is_tight(table.saturating_sub(cells(&shown)))
        && let Some(at) = shown.iter().rposition(|column| column.min_table > 0 && !is_sorted(column))
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

    /// The names and widths of the columns of the structure in a table of this width.
    fn check(table: u16, sort: &'static str, expected: &str) {
        let recording = metaspy_core::Recording::memory().budget(1 << 20).start().expect("a small recording");
        let columns = View::new(80, 24).structure.columns(&recording.store());
        let fitting = fitting(&columns, Some(&Sort::by(sort)), table);
        assert_eq!(fitting.iter().map(|(_, width)| width).sum::<u16>(), table);
        let text: Vec<String> = fitting.iter().map(|(column, width)| format!("{}:{width}", column.name)).collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn a_column_that_the_rows_are_sorted_by_takes_the_place_of_others() {
        check(118, "name", "name:36 calls:11 bar:11 never ran:8 receivers:10 total:10 self:10 lines:11 complexity:11");
        check(78, "name", "name:21 calls:11 bar:8 never ran:8 receivers:10 total:10 self:10");
        check(78, "lines", "name:20 calls:11 bar:8 never ran:8 receivers:10 total:10 lines:11");
        check(40, "name", "name:13 calls:11 bar:8 never ran:8");
    }
}
