//! Screen of functions: the processor time of the program by function, from the samples of `metaspy
//! sample`. A function unfolds into its lines, its callers, its callees, and the subjects and
//! events that it ran in.

mod rows;

use std::collections::HashSet;
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::{EventId, Store};
use metaspy_report::functions::{Functions, InSubject, NoFunctions};

use super::cursor::Cursor;
use super::filter_edit;
use super::table::{Cell, Column, Kind, Rows, Sort, SortChange, TableList, Tone, Width};
use crate::crawler::command::Step;

/// Lines below the table.
const FOOTER: usize = 1;

/// Row of the tree: a function, a title within it, or a detail of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionRow {
    /// Depth in the tree; 0 for functions.
    pub depth: usize,
    /// Text of the row.
    pub name: String,
    /// Samples in the function's own code, if they are known.
    pub self_samples: Option<u64>,
    /// Samples in the function and its callees; `None` for titles.
    pub total_samples: Option<u64>,
    /// Destination of the row.
    pub target: Target,
}

/// Destination of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// No destination, as for a title.
    #[default]
    Nothing,
    /// Function to go to; the row of a function unfolds or folds it.
    Function(u64),
    /// Line of source.
    Line(String, u32),
    /// Events of a subject.
    Subject(InSubject),
    /// Single event.
    Event(EventId),
}

/// Screen of functions.
#[derive(Clone, Debug)]
pub struct FunctionsView {
    /// Functions, or the reason why there are none; `Err(None)` before the first reading.
    pub functions: Result<Arc<Functions>, Option<NoFunctions>>,
    rows: Arc<Vec<FunctionRow>>,
    unfolded: HashSet<u64>,
    sort: Sort,
    cursor: Cursor,
}

impl Default for FunctionsView {
    fn default() -> Self {
        FunctionsView {
            functions: Err(None),
            rows: Arc::default(),
            unfolded: HashSet::new(),
            sort: Sort::by("self"),
            cursor: Cursor::default(),
        }
    }
}

impl FunctionsView {
    /// Shows the result of a reading. The cursor stays on its row.
    pub fn accept(&mut self, store: &Store, read: Result<Functions, NoFunctions>) {
        self.functions = read.map(Arc::new).map_err(Some);
        self.unroll(store);
    }

    /// Returns the reason why there are no functions, once it is known.
    pub(crate) fn why_none(&self) -> Option<NoFunctions> {
        self.functions.as_ref().err().copied().flatten()
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<&FunctionRow> {
        self.rows.get(self.cursor.row)
    }

    /// Returns the function that the row under the cursor belongs to, with its row.
    fn around(&self) -> Option<(usize, u64)> {
        let to = self.rows.get(..=self.cursor.row)?;
        to.iter().enumerate().rev().find_map(|(at, row)| match row.target {
            Target::Function(number) if row.depth == 0 => Some((at, number)),
            _ => None,
        })
    }

    /// Unfolds or folds the function of the row, or goes to the function that the row names.
    /// Returns false for other rows.
    pub fn follow(&mut self, store: &Store) -> bool {
        let Some(FunctionRow { target: Target::Function(number), depth, .. }) = self.current()
        else {
            return false;
        };
        let number = *number;
        let is_own = *depth == 0;
        if !(is_own && self.unfolded.remove(&number)) {
            self.unfolded.insert(number);
        }
        self.unroll(store);
        self.select(number);
        true
    }

    /// Unfolds the function under the cursor. If it is unfolded already, goes to its first part.
    pub fn unfold(&mut self, store: &Store) {
        if let Some((_, number)) = self.around().filter(|&(at, _)| at == self.cursor.row) {
            if self.unfolded.insert(number) {
                self.unroll(store);
            } else {
                self.cursor.step(Step::Down, self.rows.len());
            }
        }
    }

    /// Folds the function around the cursor, and goes to it.
    pub fn fold(&mut self, store: &Store) {
        if let Some((_, number)) = self.around() {
            self.unfolded.remove(&number);
            self.unroll(store);
            self.select(number);
        }
    }

    fn select(&mut self, number: u64) {
        let is = |row: &FunctionRow| row.depth == 0 && row.target == Target::Function(number);
        if let Some(row) = self.rows.iter().position(is) {
            self.cursor.select(row, self.rows.len());
        }
    }

    /// Rebuilds the rows. The cursor stays on its row.
    fn unroll(&mut self, store: &Store) {
        let before = self.current().cloned();
        let Ok(functions) = &self.functions else { return self.rows = Arc::default() };
        let rows = rows::rows(store, functions, &self.sort, &self.unfolded);
        let found = before.and_then(|before| {
            rows.iter().position(|row| row.target == before.target && row.depth == before.depth)
        });
        self.cursor.follow(found, rows.len());
        self.rows = Arc::new(rows);
    }

    fn ns(&self, samples: Option<u64>) -> Cell {
        let ns = samples
            .zip(self.functions.as_ref().ok())
            .map(|(samples, functions)| functions.ns(samples));
        ns.map_or(Cell::blank(), Cell::amount)
    }

    fn share(&self, samples: Option<u64>) -> Cell {
        let percent = samples
            .zip(self.functions.as_ref().ok())
            .map(|(samples, functions)| functions.percent(samples));
        percent.map_or(Cell::blank(), |(share, error)| {
            Cell::text(format!("{share:>5.1} ± {error:.1}"))
        })
    }
}

impl TableList for FunctionsView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let name = |_: &Store, list: &Self, item: usize| {
            let row = &list.rows[item];
            let tone = if row.total_samples.is_none() { Tone::Faint } else { Tone::Plain };
            Cell::text(format!("{}{}", "  ".repeat(row.depth), row.name)).toned(tone)
        };
        vec![
            Column::name("function", name),
            Column::new("self", Kind::Time, Width::Cells(10), |_, list: &Self, item| {
                list.ns(list.rows[item].self_samples)
            }),
            Column::new("self % ±", Kind::Text, Width::Cells(13), |_, list: &Self, item| {
                list.share(list.rows[item].self_samples)
            }),
            Column::new("total", Kind::Time, Width::Cells(10), |_, list: &Self, item| {
                list.ns(list.rows[item].total_samples)
            }),
            Column::new("total % ±", Kind::Text, Width::Cells(13), |_, list: &Self, item| {
                list.share(list.rows[item].total_samples)
            })
            .shown_from(90),
        ]
    }
}

impl Rows for FunctionsView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Functions are not filtered.
    fn discard(&mut self) {}

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1 + FOOTER);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.rows[row].name.clone()
    }

    fn site(&self) -> Option<SiteId> {
        match &self.current()?.target {
            Target::Subject(of) => Some(of.site),
            _ => None,
        }
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        let Target::Subject(of) = &self.current()?.target else { return None };
        let subject = of.subject.map(|subject| filter_edit::subject_term(store, subject));
        Some(
            subject
                .into_iter()
                .chain([filter_edit::site_term(store, of.site)])
                .collect::<Vec<_>>()
                .join(" "),
        )
    }

    fn sort(&self) -> Option<&Sort> {
        Some(&self.sort)
    }

    fn change_sort(&mut self, store: &Store, change: SortChange) {
        // A share has the order of its time.
        let columns: Vec<_> =
            self.columns(store).into_iter().filter(|column| column.kind != Kind::Text).collect();
        self.sort = self.sort.changed(&columns, change);
        self.cursor.reset();
        self.unroll(store);
    }
}
