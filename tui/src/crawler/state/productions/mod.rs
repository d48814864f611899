//! The productions of a grammar: which of them matched, which failed each time, which were never entered.

mod tree;

use std::collections::HashMap;
use std::sync::Arc;

use metaspy_core::store::{By, Measure};
use metaspy_core::{SiteId, Store};

pub use tree::{Branch, Tree};

use super::table::{TableRow, TableView};
use crate::crawler::jobs;

/// The tree of productions as it is seen.
#[derive(Clone, Debug)]
pub struct ProductionsView {
    /// Its rows, one for each branch, in the order of the tree.
    pub table: TableView,
    /// Where in the tree each row stands.
    pub branches: Arc<Vec<Branch>>,
    /// What takes the place of productions that never matched.
    pub shadows: Arc<HashMap<SiteId, String>>,
    /// The source of the production under the cursor.
    pub source: Source,
}

/// A line of the source.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The production that it begins.
    pub of: Option<SiteId>,
    /// The line; `None` while it is not known, and if it cannot be read.
    pub line: Option<String>,
}

/// How far the inputs got with a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// It matched at least once.
    Matched,
    /// It was entered, and never matched.
    NeverMatched,
    /// It was never entered.
    NeverEntered,
    /// No run can reach it.
    Skipped,
}

impl Coverage {
    /// What the counts of a row say of its production.
    pub fn of(store: &Store, row: &TableRow) -> Self {
        let skipped = row.site.and_then(|site| store.site(site)).is_some_and(|site| site.skipped.is_some());
        match (row.measure.count, matched(&row.measure)) {
            _ if skipped => Coverage::Skipped,
            (0, _) => Coverage::NeverEntered,
            (_, 0) => Coverage::NeverMatched,
            _ => Coverage::Matched,
        }
    }

    /// Whether the inputs lack something.
    pub fn is_uncovered(self) -> bool {
        matches!(self, Coverage::NeverMatched | Coverage::NeverEntered)
    }
}

/// Activations that ended without a match.
pub fn failed(measure: &Measure) -> u64 {
    measure.failed.saturating_add(measure.cancelled).saturating_add(measure.panicked)
}

/// Activations that matched.
pub fn matched(measure: &Measure) -> u64 {
    measure.count.saturating_sub(failed(measure)).saturating_sub(measure.running)
}

impl ProductionsView {
    /// Nothing looked at yet.
    pub fn new(height: usize) -> Self {
        let table = TableView::new(height);
        ProductionsView { table, branches: Arc::default(), shadows: Arc::default(), source: Source::default() }
    }

    /// Fits it to so many rows.
    pub fn resize(&mut self, rows: usize) {
        self.table.height = rows.saturating_sub(1 + self.footer_height());
    }

    /// Lines below the table: the source of a production and, if any has one, the reason why it never matched.
    pub fn footer_height(&self) -> usize {
        1 + usize::from(!self.shadows.is_empty())
    }

    /// Takes in what was read. The cursor stays on its production.
    pub fn accept(&mut self, tree: Tree, now_ns: u64) {
        self.branches = tree.branches;
        let rows = self.table.height + 1 + self.footer_height();
        self.shadows = tree.shadows;
        self.resize(rows);
        let (unobserved, sort) = (Arc::default(), self.table.sort);
        self.table.accept(jobs::Table { by: By::Site, rows: tree.rows, unobserved, exact: tree.exact, sort }, now_ns);
    }

    /// The rows with their branches, from the top.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (&TableRow, &Branch)> {
        self.table.rows.as_deref().map_or(&[][..], Vec::as_slice).iter().zip(self.branches.iter())
    }

    /// How many productions matched, and how many are in use.
    pub fn covered(&self, store: &Store) -> (usize, usize) {
        let of = self.rows().filter(|(_, branch)| !branch.again).map(|(row, _)| Coverage::of(store, row));
        of.fold((0, 0), |(matched, of), coverage| match coverage {
            Coverage::Matched => (matched + 1, of + 1),
            Coverage::Skipped => (matched, of),
            _ => (matched, of + 1),
        })
    }

    /// The next row whose production never matched, below the cursor and then from the top.
    pub fn next_uncovered(&self, store: &Store) -> Option<usize> {
        let uncovered: Vec<usize> = (self.rows().enumerate())
            .filter(|(_, (row, branch))| !branch.again && Coverage::of(store, row).is_uncovered())
            .map(|(at, _)| at)
            .collect();
        uncovered.iter().find(|&&at| at > self.table.cursor).or(uncovered.first()).copied()
    }
}
