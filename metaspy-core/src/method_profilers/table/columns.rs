//! The columns of a method's data.
//!
//! The columns of a method profiler are those of its tables, not a list in its view. A view has a
//! name, sites, a grouping, relations, and the values of a row that a screen shows.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::format::profile::{COLUMNS_MAX, Column, ColumnKind, Merge};
use crate::method_profilers::table::Table;

/// The data that a method profiler keeps of a method.
///
/// Values in columns are part of the recording. Every type with a default value is data without
/// columns.
///
/// ```
/// use metaspy_core::method_profilers::{Columns, Count, Data, Max};
///
/// struct Depth {
///     calls: Count,
///     deepest: Max,
/// }
///
/// impl Data for Depth {
///     fn new(columns: &mut Columns<'_>) -> Self {
///         Depth { calls: columns.sum("calls"), deepest: columns.max("deepest") }
///     }
/// }
/// ```
pub trait Data: Send + Sync + 'static {
    /// Makes the data of one method. It declares the same columns in the same order each time.
    fn new(columns: &mut Columns<'_>) -> Self;
}

impl<T: Default + Send + Sync + 'static> Data for T {
    fn new(_: &mut Columns<'_>) -> Self {
        T::default()
    }
}

/// Declares the columns of a method's data, and hands out the values of one method.
pub struct Columns<'c> {
    /// The table and the word of its next column; `None` while the columns are only declared.
    next: Option<(Arc<Table>, usize)>,
    declared: Vec<Column>,
    _one_at_a_time: PhantomData<&'c mut ()>,
}

impl Columns<'_> {
    /// Columns that are only declared.
    pub(crate) fn declaration() -> Self {
        Columns { next: None, declared: Vec::new(), _one_at_a_time: PhantomData }
    }

    /// The columns of a row.
    pub(crate) fn of_row(table: &Arc<Table>, row: usize) -> Self {
        Columns {
            next: Some((Arc::clone(table), row * table.def.columns.len())),
            ..Columns::declaration()
        }
    }

    /// Returns the declared columns. Columns beyond the maximum of a table are left out, and hold
    /// no values.
    pub(crate) fn into_declared(self) -> Vec<Column> {
        self.declared
    }

    /// A number that is added up.
    pub fn sum(&mut self, column: impl Into<Column>) -> Count {
        Count(self.cell(column, Merge::Sum))
    }

    /// The largest of the values.
    pub fn max(&mut self, column: impl Into<Column>) -> Max {
        Max(self.cell(column, Merge::Max))
    }

    /// The smallest of the values.
    pub fn min(&mut self, column: impl Into<Column>) -> Min {
        Min(self.cell(column, Merge::Min))
    }

    /// A set of at most 64 names.
    pub fn flags(&mut self, column: impl Into<Column>, names: &[&str]) -> Flags {
        let names = names.iter().take(64).map(|name| (*name).to_owned()).collect();
        Flags(self.cell(Column { kind: ColumnKind::Flags(names), ..column.into() }, Merge::Union))
    }

    /// One of several names. Of two that were seen, the later one in the list stays.
    pub fn choice(&mut self, column: impl Into<Column>, names: &[&str]) -> Choice {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Choice(self.cell(Column { kind: ColumnKind::Choice(names), ..column.into() }, Merge::Max))
    }

    fn cell(&mut self, column: impl Into<Column>, merge: Merge) -> Cell {
        match &mut self.next {
            None => {
                if self.declared.len() < COLUMNS_MAX {
                    self.declared.push(Column { merge, ..column.into() });
                }
                Cell { table: None, at: 0 }
            }
            Some((table, at)) => {
                let is_declared = self.declared.len() < table.def.columns.len();
                let cell = Cell { table: is_declared.then(|| Arc::clone(table)), at: *at };
                self.declared.push(Column::default());
                *at += 1;
                cell
            }
        }
    }
}

/// The place of a value.
#[derive(Clone)]
struct Cell {
    table: Option<Arc<Table>>,
    at: usize,
}

impl Cell {
    #[inline]
    fn put(&self, word: u64, merge: Merge) {
        if let Some(table) = &self.table {
            table.put(self.at, word, merge);
        }
    }

    fn get(&self, merge: Merge) -> u64 {
        self.table.as_ref().map_or(0, |table| table.value(self.at, merge))
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $name:ident, $merge:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        pub struct $name(Cell);

        impl $name {
            /// The value now, over all threads.
            pub fn get(&self) -> u64 {
                self.0.get(Merge::$merge)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.get()).finish()
            }
        }
    )*};
}

columns! {
    /// A number that threads count up without waiting for each other.
    Count, Sum;
    /// The largest of many values.
    Max, Max;
    /// The smallest of many values.
    Min, Min;
    /// A set of names, as bits.
    Flags, Union;
    /// One of several names, as its place in their list, + 1.
    Choice, Max;
}

/// A single column, `count`.
impl Data for Count {
    fn new(columns: &mut Columns<'_>) -> Self {
        columns.sum("count")
    }
}

impl Count {
    /// Adds to the number.
    #[inline]
    pub fn add(&self, by: u64) {
        self.0.put(by, Merge::Sum);
    }

    /// The word that this thread counts up; `None` if it shares one with other threads.
    pub(crate) fn word(&self) -> Option<&'static AtomicU64> {
        let table = self.0.table.as_ref()?;
        table.own_word(table.current()?, self.0.at).ok()
    }

    /// The word that this thread counts up, and those of the next columns. `None` as in
    /// [`Count::word`], and before the first value.
    pub(super) fn words<const N: usize>(&self) -> Option<&'static [AtomicU64; N]> {
        let table = self.0.table.as_ref()?;
        table.own_words(table.current()?, self.0.at)
    }
}

impl Max {
    /// Remembers a value if it is larger than those before. The largest number of all is 2^64 - 1.
    #[inline]
    pub fn see(&self, value: u64) {
        self.0.put(value, Merge::Max);
    }
}

impl Min {
    /// Remembers a value if it is smaller than those before. 2^64 - 1 stands for no value.
    #[inline]
    pub fn see(&self, value: u64) {
        self.0.put(Merge::Min.value(value), Merge::Min);
    }
}

impl Flags {
    /// Adds the name at this place of the list.
    #[inline]
    pub fn set(&self, name: usize) {
        if name < 64 {
            self.0.put(1 << name, Merge::Union);
        }
    }
}

impl Choice {
    /// Remembers the name at this place of the list, unless a later one is remembered already.
    #[inline]
    pub fn see(&self, name: usize) {
        self.0.put(name as u64 + 1, Merge::Max);
    }
}
