//! Screen of browsers: columns side by side. The selection in a column decides the rows of the next
//! columns.
//!
//! A column is read again if its filter differs from the one that its selections require. Columns
//! send no messages to each other, so each change of a selection, a filter or a browser is one
//! comparison.

mod column;
mod related;

use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::{Event, Filter, Store};

use super::cursor::Cursor;
use super::table::Rows;
use crate::crawler::config::browser::{Browser, BrowserTab, filled};

pub use column::{BrowserRow, ColumnView, read};

/// Screen of a browser.
#[derive(Clone, Debug, Default)]
pub struct BrowserView {
    /// Browser that is open.
    pub browser: Option<Arc<Browser>>,
    /// Columns of the open browser.
    pub columns: Vec<ColumnView>,
    /// Index of the column that the keys move in.
    pub focus: usize,
    /// Number of lines of a column.
    lines: usize,
    empty: Cursor,
}

/// Column whose rows must be read.
pub struct UnreadColumn {
    /// Index of the column.
    pub at: usize,
    /// Definition of its open tab.
    pub tab: BrowserTab,
    /// Filter that its rows pass.
    pub filter: Filter,
}

impl BrowserView {
    /// Opens a browser.
    pub fn open(&mut self, browser: Arc<Browser>) {
        self.columns = browser.columns.iter().map(|tabs| ColumnView::new(tabs, 0)).collect();
        (self.browser, self.focus) = (Some(browser), 0);
        self.resize(self.lines);
    }

    /// Returns the filter of a column, combined with the filter of the screen; `None` if an earlier
    /// column has no selection.
    fn filter(&self, column: usize, all: &Filter) -> Option<Filter> {
        let selections: Option<Vec<Option<String>>> = self.columns[..column]
            .iter()
            .map(|before| Some(before.selected()?.term.clone()))
            .collect();
        let filter = filled(&self.columns[column].of.query, &selections?).ok()?;
        Some(all.clone().and(filter))
    }

    /// Returns the first column whose rows do not match the selections before it.
    pub(crate) fn next_unread(&mut self, all: &Filter) -> Option<UnreadColumn> {
        for at in 0..self.columns.len() {
            let wanted = self.filter(at, all);
            let text = wanted.as_ref().map(|filter| filter.text().to_owned());
            if self.columns[at].was_read_for(text.as_deref()) {
                continue;
            }
            self.columns[at].begin(text);
            // The later columns depend on it.
            self.columns[at + 1..].iter_mut().for_each(|behind| behind.begin(None));
            return Some(UnreadColumn { at, tab: self.columns[at].of.clone(), filter: wanted? });
        }
        None
    }

    /// Marks all columns to be read again, because the recording has grown.
    pub fn grow(&mut self) {
        self.columns.iter_mut().for_each(|column| column.is_old = column.rows.is_some());
    }

    /// Returns the first outdated column of a recording that has grown.
    pub(crate) fn next_outdated(&mut self, all: &Filter) -> Option<UnreadColumn> {
        let at = self.columns.iter().position(|column| column.is_old)?;
        self.columns[at].is_old = false;
        Some(UnreadColumn { at, tab: self.columns[at].of.clone(), filter: self.filter(at, all)? })
    }

    /// Shows the rows of a column, if they are still required.
    pub fn accept(&mut self, at: usize, filter: &str, rows: Vec<BrowserRow>) {
        if let Some(column) =
            self.columns.get_mut(at).filter(|column| column.was_read_for(Some(filter)))
        {
            column.accept(rows);
        }
    }

    /// Moves the focus to the next column, or to the previous column.
    pub(crate) fn move_focus(&mut self, by: isize) {
        self.focus = self.focus.saturating_add_signed(by).min(self.columns.len().saturating_sub(1));
    }

    /// Shows the next or the previous tab of the focused column. Returns false if it has no other.
    pub(crate) fn move_tab(&mut self, by: isize) -> bool {
        let Some(browser) = &self.browser else { return false };
        let tabs = &browser.columns[self.focus];
        let column = &mut self.columns[self.focus];
        let tab = (column.tab + tabs.len()).wrapping_add_signed(by) % tabs.len();
        if tab != column.tab {
            *column = ColumnView::new(tabs, tab);
            column.resize(self.lines);
        }
        tabs.len() > 1
    }

    fn focused(&self) -> Option<&ColumnView> {
        self.columns.get(self.focus)
    }

    /// Returns the event under the cursor, in a column of events.
    pub fn event(&self) -> Option<Event> {
        self.focused()?.selected()?.event
    }
}

impl Rows for BrowserView {
    fn cursor(&self) -> &Cursor {
        self.focused().map_or(&self.empty, ColumnView::cursor)
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        let focus = self.focus;
        self.columns.get_mut(focus).map_or(&mut self.empty, ColumnView::cursor_mut)
    }

    fn row_count(&self) -> usize {
        self.focused().map_or(0, ColumnView::row_count)
    }

    fn discard(&mut self) {
        self.columns.iter_mut().for_each(ColumnView::discard);
    }

    fn resize(&mut self, lines: usize) {
        self.lines = lines;
        self.columns.iter_mut().for_each(|column| column.resize(lines));
    }

    fn row_name(&self, store: &Store, row: usize) -> String {
        self.focused().map_or(String::new(), |column| column.row_name(store, row))
    }

    fn site(&self) -> Option<SiteId> {
        self.event().map(|event| event.site)
    }

    /// Joins the terms of the selections up to the focused column.
    fn filter_term(&self, store: &Store) -> Option<String> {
        let filter = self.filter(self.focus, &Filter::all())?;
        let own = self.focused()?.filter_term(store)?;
        Some(format!("{} {own}", filter.text()).trim().to_owned())
    }
}
