//! Order of the rows of a table.

use std::borrow::Cow;
use std::cmp::Reverse;

use metaspy_reader::Store;

use super::{Column, Kind, TableList};

/// Sort key of an item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// A text, from A.
    Text(String),
    /// Number in descending order; an unknown number comes last.
    Amount(Reverse<Option<u64>>),
}

/// Order of a table: numbers in descending order, texts from A; or reversed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// Name of the column to sort by.
    pub column: Cow<'static, str>,
    /// True if the order is reversed.
    pub reversed: bool,
}

/// Change of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortChange {
    /// Sort by the next column.
    Next,
    /// Sort by the previous column.
    Previous,
    /// Reverse the order.
    Reverse,
}

impl Sort {
    /// Sorts by a column.
    pub fn by(column: &'static str) -> Self {
        Sort { column: column.into(), reversed: false }
    }

    /// Returns the order after a change. The columns form a ring.
    pub fn changed<L>(&self, columns: &[Column<L>], change: SortChange) -> Self {
        let sortable: Vec<_> = columns
            .iter()
            .filter(|column| !matches!(column.kind, Kind::Bar | Kind::Trend))
            .collect();
        let at = sortable.iter().position(|column| column.name == self.column).unwrap_or(0);
        let at = match change {
            SortChange::Reverse => {
                return Sort { reversed: !self.reversed, column: self.column.clone() };
            }
            SortChange::Next => at + 1,
            SortChange::Previous => at + sortable.len().saturating_sub(1),
        };
        let column = sortable.get(at % sortable.len().max(1));
        Sort {
            column: column.map_or(Cow::Borrowed("name"), |column| column.name.clone()),
            reversed: false,
        }
    }

    /// Returns the sort keys of all items, in the order of the items.
    pub fn keys<L: TableList>(&self, store: &Store, list: &L) -> Vec<Key> {
        let columns = list.columns(store);
        let Some(column) =
            columns.iter().find(|column| column.name == self.column).or(columns.first())
        else {
            return Vec::new();
        };
        (0..list.item_count()).map(|item| column.key(store, list, item)).collect()
    }

    /// Describes the order for the line at the top.
    pub fn label(&self) -> String {
        format!("sort: {} {}", self.column, if self.reversed { '▲' } else { '▼' })
    }
}

/// Moves each row to its place. `order` holds the present index of each row, and is consumed.
pub fn reorder<T>(rows: &mut [T], order: &mut [usize]) {
    for start in 0..order.len() {
        let mut at = start;
        while order[at] != start {
            let from = std::mem::replace(&mut order[at], at);
            if from == at {
                break;
            }
            rows.swap(at, from);
            at = from;
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_reordered_in_place() {
        for order in [
            vec![0, 1, 2, 3],
            vec![3, 2, 1, 0],
            vec![1, 2, 3, 0],
            vec![2, 0, 1, 3],
            vec![3, 0, 2, 1],
        ] {
            let mut rows: Vec<usize> = (0..4).collect();
            reorder(&mut rows, &mut order.clone());
            assert_eq!(rows, order);
        }
    }
}
