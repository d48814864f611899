//! The tables: one row for each subject or site, with bars, and what changed since the last look.

use std::cmp::{Ordering, Reverse};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metaspy_core::store::{Measure, TallyRow};
use metaspy_core::{SiteId, Store, Subject};

use super::name;
use crate::crawler::command::Step;
use crate::crawler::jobs;

/// Rows that are sorted between two frames; more of them are sorted beside the screen.
const SORTED_IN_PLACE: usize = 20_000;

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub struct TableRow {
    /// The site, in a table of sites.
    pub site: Option<SiteId>,
    /// The subject, in a table of subjects; `None` there: events about nobody.
    pub subject: Option<Subject>,
    /// What was counted and timed.
    pub measure: Measure,
    /// Events since the last look; `None` at the first one.
    pub delta: Option<u64>,
}

/// What a row is about.
pub type RowKey = (Option<SiteId>, Option<Subject>);

impl TableRow {
    /// A row of a tally, and the count that it had at the last look.
    pub fn new(row: &TallyRow, before: Option<&HashMap<RowKey, u64>>) -> Self {
        let key = (row.site, row.subject);
        let delta = before.map(|before| row.measure.count.saturating_sub(before.get(&key).copied().unwrap_or(0)));
        TableRow { site: row.site, subject: row.subject, measure: row.measure, delta }
    }

    /// What it is about.
    pub fn key(&self) -> RowKey {
        (self.site, self.subject)
    }
}

/// Sites that stand in no row.
pub fn never_called(store: &Store, rows: &[TableRow]) -> Vec<TableRow> {
    let seen: HashSet<SiteId> = rows.iter().filter_map(|row| row.site).collect();
    let never = store.sites().iter().filter(|site| !seen.contains(&site.id));
    never
        .map(|site| TableRow { site: Some(site.id), subject: None, measure: Measure::default(), delta: None })
        .collect()
}

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Events.
    Count,
    /// Events since the last look.
    Delta,
    /// Time with what it led to.
    Total,
    /// Time without.
    SelfTime,
    /// The longest one.
    Max,
    /// The name.
    Name,
}

impl Column {
    const ALL: [Column; 6] = [Column::Count, Column::Delta, Column::Total, Column::SelfTime, Column::Max, Column::Name];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Column::Count => "count",
            Column::Delta => "Δ",
            Column::Total => "total",
            Column::SelfTime => "self",
            Column::Max => "max",
            Column::Name => "name",
        }
    }
}

/// How a table is sorted: the largest first, names from A; or the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sort {
    /// By this column.
    pub column: Column,
    /// The other way round.
    pub reversed: bool,
}

impl Sort {
    /// The column `by` places further in their ring.
    fn turned(self, by: usize) -> Sort {
        let at = Column::ALL.iter().position(|&column| column == self.column).unwrap_or(0);
        Sort { column: Column::ALL[(at + by) % Column::ALL.len()], reversed: false }
    }
}

/// Sorts rows.
pub fn sort(store: &Store, rows: &mut [TableRow], sort: Sort) {
    match sort.column {
        Column::Name => rows.sort_by_cached_key(|row| row_name(store, row)),
        column => rows.sort_by(|a, b| compare(store, a, b, column)),
    }
    if sort.reversed {
        rows.reverse();
    }
}

fn compare(store: &Store, a: &TableRow, b: &TableRow, column: Column) -> Ordering {
    let value = |row: &TableRow| match column {
        Column::Delta => row.delta,
        Column::Total => Some(row.measure.total_ticks),
        Column::SelfTime => row.measure.self_ticks,
        Column::Max => Some(row.measure.max_ticks),
        Column::Count | Column::Name => Some(row.measure.count),
    };
    // The numbers of sites differ from build to build; their paths do not.
    let path = |row: &TableRow| row.site.map(|site| store.site_path(site));
    Reverse(value(a)).cmp(&Reverse(value(b))).then_with(|| (path(a), a.subject).cmp(&(path(b), b.subject)))
}

/// What a row is about, in words.
pub fn row_name(store: &Store, row: &TableRow) -> String {
    match (row.site, row.subject) {
        (Some(site), _) => store.site_path(site).to_owned(),
        (None, Some(subject)) => name::subject(store, subject),
        (None, None) => "(about nobody)".into(),
    }
}

/// A table as it is seen.
#[derive(Clone, Debug)]
pub struct TableView {
    /// The rows, sorted. `None` before the first look.
    pub rows: Option<Arc<Vec<TableRow>>>,
    /// Labelled subjects that were never observed.
    pub unobserved: Arc<Vec<Subject>>,
    /// Whether those are listed instead of the rows.
    pub lists_unobserved: bool,
    /// Whether every number is exact.
    pub exact: bool,
    /// How it is sorted.
    pub sort: Sort,
    /// The row under the cursor.
    pub cursor: usize,
    /// The first row that is seen.
    pub top: usize,
    /// Rows that are seen at once.
    pub height: usize,
    /// When the rows were read, in ns since the crawler began.
    pub read_ns: u64,
    /// How long before that the rows before them were read.
    pub since_ns: Option<u64>,
}

impl TableView {
    /// Nothing looked at yet.
    pub fn new(height: usize) -> Self {
        TableView {
            rows: None,
            unobserved: Arc::default(),
            lists_unobserved: false,
            exact: true,
            sort: Sort { column: Column::Count, reversed: false },
            cursor: 0,
            top: 0,
            height,
            read_ns: 0,
            since_ns: None,
        }
    }

    /// How many rows there are to walk over.
    pub fn len(&self) -> usize {
        if self.lists_unobserved { self.unobserved.len() } else { self.rows.as_ref().map_or(0, |rows| rows.len()) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The row under the cursor, or the never observed subject as a row without events.
    pub fn current(&self) -> Option<TableRow> {
        if self.lists_unobserved {
            let &subject = self.unobserved.get(self.cursor)?;
            return Some(TableRow { site: None, subject: Some(subject), measure: Measure::default(), delta: None });
        }
        self.rows.as_ref()?.get(self.cursor).copied()
    }

    /// Moves the cursor.
    pub fn step(&mut self, step: Step) {
        self.select(step.apply(self.cursor, self.len(), self.height));
    }

    /// Puts the cursor on a row.
    pub fn select(&mut self, at: usize) {
        self.cursor = at.min(self.len().saturating_sub(1));
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(self.height.max(1)), self.cursor);
    }

    /// Takes in new rows. The cursor stays on what it was on, and on its line of the screen.
    pub fn accept(&mut self, table: jobs::Table, now_ns: u64) {
        self.since_ns = self.rows.is_some().then(|| now_ns - self.read_ns);
        self.read_ns = now_ns;
        (self.unobserved, self.exact) = (table.unobserved, table.exact);
        self.replace(table.rows);
    }

    /// Takes in the same rows in another order.
    pub fn replace(&mut self, rows: Arc<Vec<TableRow>>) {
        let key = self.current().filter(|_| !self.lists_unobserved).map(|row| row.key());
        let line = self.cursor.saturating_sub(self.top);
        // In a tree the same stands more than once: the cursor stays where it is if that is one of them.
        let here = rows.get(self.cursor).is_some_and(|row| Some(row.key()) == key).then_some(self.cursor);
        let found = here.or_else(|| rows.iter().position(|row| Some(row.key()) == key));
        self.rows = Some(rows);
        // A reader who never moved looks at the head of the table, not at its first row of some time ago.
        if let (Some(at), true) = (found, self.cursor > 0) {
            self.top = at.saturating_sub(line);
            self.select(at);
        }
        self.select(self.cursor);
    }

    /// Chooses another column or the other direction. Rows that are too many to be sorted here are handed back.
    pub fn change_sort(&mut self, store: &Store, turn: SortChange) -> Option<Arc<Vec<TableRow>>> {
        self.sort = match turn {
            SortChange::Next => self.sort.turned(1),
            SortChange::Previous => self.sort.turned(Column::ALL.len() - 1),
            SortChange::Reverse => Sort { reversed: !self.sort.reversed, ..self.sort },
        };
        (self.cursor, self.top) = (0, 0);
        let rows = self.rows.clone()?;
        if rows.len() > SORTED_IN_PLACE {
            return Some(rows);
        }
        let mut rows = rows.to_vec();
        sort(store, &mut rows, self.sort);
        self.rows = Some(Arc::new(rows));
        None
    }

    /// The next row whose name has `text` in it, after the cursor and then from the top.
    pub fn find(&mut self, store: &Store, text: &str) -> bool {
        let text = text.to_lowercase();
        let len = self.len();
        let found = (1..=len).map(|by| (self.cursor + by) % len).find(|&at| {
            let name = match self.lists_unobserved {
                true => name::subject(store, self.unobserved[at]),
                false => self.rows.as_ref().map_or(String::new(), |rows| row_name(store, &rows[at])),
            };
            name.to_lowercase().contains(&text)
        });
        found.inspect(|&at| self.select(at)).is_some()
    }
}

/// A change of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortChange {
    /// By the next column.
    Next,
    /// By the column before.
    Previous,
    /// The other way round.
    Reverse,
}
