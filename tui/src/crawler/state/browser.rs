//! The screen of browsers: columns side by side. The selection in a column decides what the next ones show.

use std::sync::Arc;

use metaspy_core::store::{By, Filter, Measure, Position, Scope};
use metaspy_core::{Event, SiteId, Store};
use metaspy_report::text::{clean, duration, grouped, short_path};

use super::cursor::Cursor;
use super::table::Rows;
use super::{filter_edit, name};
use crate::crawler::config::browser::{Browser, BrowserColumn, RowsOf, ValueOf, filled};
use crate::crawler::jobs::Job;

/// Most rows of a column.
const ROWS: usize = 2_000;
/// Most events that are tested for a column of events.
const BUDGET: usize = 50_000_000;

/// A row of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserRow {
    /// Its name.
    pub name: String,
    /// Its number, as text.
    pub value: String,
    /// The filter term that selects it.
    pub term: Option<String>,
    /// The event, in a column of events.
    pub event: Option<Event>,
}

/// A column as it is shown.
#[derive(Clone, Debug, Default)]
pub struct ColumnView {
    /// The rows. `None` before the first reading.
    pub rows: Option<Vec<BrowserRow>>,
    /// The cursor.
    pub cursor: Cursor,
    /// The text of the filter that the rows were read for.
    read: Option<String>,
}

impl ColumnView {
    fn selected(&self) -> Option<&BrowserRow> {
        self.rows.as_ref()?.get(self.cursor.row)
    }
}

/// The screen.
#[derive(Clone, Debug, Default)]
pub struct BrowserView {
    /// The browser.
    pub browser: Option<Arc<Browser>>,
    /// Its columns.
    pub columns: Vec<ColumnView>,
    /// The column that the keys move in.
    pub focus: usize,
    /// Rows in view.
    height: usize,
    read_ns: u64,
    empty: Cursor,
}

impl BrowserView {
    /// Opens a browser.
    pub fn open(&mut self, browser: Arc<Browser>) {
        self.columns = vec![ColumnView::default(); browser.columns.len()];
        self.columns.iter_mut().for_each(|column| column.cursor.height = self.height);
        (self.browser, self.focus) = (Some(browser), 0);
    }

    /// The filter of a column under the filter of the screen. `None` if nothing is selected before it.
    fn filter(&self, column: usize, all: &Filter) -> Option<Filter> {
        let browser = self.browser.as_ref()?;
        let selections: Option<Vec<Option<String>>> =
            self.columns[..column].iter().map(|before| Some(before.selected()?.term.clone())).collect();
        let filter = filled(&browser.columns[column].query, &selections?).ok()?;
        Some(all.clone().and(filter))
    }

    /// The job for the first column that shows something else than its selections require.
    pub fn next_job(&mut self, all: &Filter) -> Option<Job> {
        let browser = self.browser.clone()?;
        for at in 0..self.columns.len() {
            let wanted = self.filter(at, all);
            let text = wanted.as_ref().map(|filter| filter.text().to_owned());
            if self.columns[at].read == text {
                continue;
            }
            let column = &mut self.columns[at];
            (column.read, column.rows) = (text, None);
            column.cursor.reset();
            // What follows depends on it.
            for behind in &mut self.columns[at + 1..] {
                (behind.read, behind.rows) = (None, None);
                behind.cursor.reset();
            }
            return Some(Job::Browse { at, column: browser.columns[at].clone(), filter: wanted? });
        }
        None
    }

    /// Shows the rows of a column, if they are still required.
    pub fn accept(&mut self, at: usize, filter: &str, rows: Vec<BrowserRow>) {
        if let Some(column) = self.columns.get_mut(at).filter(|column| column.read.as_deref() == Some(filter)) {
            column.rows = Some(rows);
        }
    }

    /// Moves the focus to the next column, or to the one before.
    pub fn move_focus(&mut self, by: isize) {
        self.focus = self.focus.saturating_add_signed(by).min(self.columns.len().saturating_sub(1));
    }

    fn focused(&self) -> Option<&ColumnView> {
        self.columns.get(self.focus)
    }

    /// The event under the cursor, in a column of events.
    pub fn event(&self) -> Option<Event> {
        self.focused()?.selected()?.event
    }
}

/// Reads the rows of a column.
pub fn read(store: &Store, column: &BrowserColumn, filter: Filter) -> Vec<BrowserRow> {
    let by = match column.rows {
        RowsOf::Site => By::Site,
        RowsOf::Subject => By::Subject,
        RowsOf::Root => By::RootCause,
        RowsOf::Event => return events(store, &filter),
    };
    let mut rows = store.tally(by, &Scope::matching(filter)).rows;
    rows.retain(|row| row.measure.count > 0 && !row.is_others());
    rows.sort_by_key(|row| std::cmp::Reverse(number(&row.measure, column.value)));
    rows.truncate(ROWS);
    let term = |site: SiteId| match column.rows {
        RowsOf::Root => filter_edit::site_term(store, site).replacen("site:", "cause:", 1),
        _ => filter_edit::site_term(store, site),
    };
    let row = |row: &metaspy_core::store::TallyRow| BrowserRow {
        name: match (row.site, row.subject) {
            (Some(site), _) => clean(short_path(store.site_path(site))).into_owned(),
            (None, Some(subject)) => name::subject(store, subject),
            (None, None) if column.rows == RowsOf::Root => "(left the window)".into(),
            (None, None) => "(no subject)".into(),
        },
        value: value(store, &row.measure, column.value),
        term: match (row.site, row.subject) {
            (Some(site), _) => Some(term(site)),
            (None, Some(subject)) => Some(filter_edit::subject_term(store, subject)),
            (None, None) => None,
        },
        event: None,
    };
    rows.iter().map(row).collect()
}

fn number(measure: &Measure, value: ValueOf) -> u64 {
    match value {
        ValueOf::Count => measure.count,
        ValueOf::Total => measure.total_ticks,
        ValueOf::Longest => measure.max_ticks,
    }
}

fn value(store: &Store, measure: &Measure, value: ValueOf) -> String {
    match value {
        ValueOf::Count => format!("{}{}", measure.sign(), grouped(measure.count)),
        _ if measure.timed == 0 => "–".into(),
        value => duration(store.span_ns(number(measure, value))).trim_start().into(),
    }
}

fn events(store: &Store, filter: &Filter) -> Vec<BrowserRow> {
    let events = store.forward(Position::Start, filter, ROWS, BUDGET).events;
    let row = |event: &Event| BrowserRow {
        name: name::event(store, event),
        value: event.span.filter(|_| event.timed).map_or(String::new(), |span| duration(store.span_ns(span))),
        term: None,
        event: Some(*event),
    };
    events.iter().map(row).collect()
}

impl Rows for BrowserView {
    fn cursor(&self) -> &Cursor {
        self.focused().map_or(&self.empty, |column| &column.cursor)
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        let focus = self.focus;
        self.columns.get_mut(focus).map_or(&mut self.empty, |column| &mut column.cursor)
    }

    fn row_count(&self) -> usize {
        self.focused().and_then(|column| column.rows.as_ref()).map_or(0, Vec::len)
    }

    fn read_ns(&self) -> u64 {
        self.read_ns
    }

    fn discard(&mut self) {
        self.columns.iter_mut().for_each(|column| column.read = None);
    }

    fn resize(&mut self, lines: usize) {
        self.height = lines.saturating_sub(1);
        self.columns.iter_mut().for_each(|column| column.cursor.height = lines.saturating_sub(1));
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        let rows = self.focused().and_then(|column| column.rows.as_ref());
        rows.and_then(|rows| rows.get(row)).map_or(String::new(), |row| row.name.clone())
    }

    fn site(&self) -> Option<SiteId> {
        self.event().map(|event| event.site)
    }

    /// The terms of the selections up to the focused column.
    fn filter_term(&self, _: &Store) -> Option<String> {
        let filter = self.filter(self.focus, &Filter::all())?;
        let own = self.focused()?.selected()?.term.clone()?;
        Some(format!("{} {own}", filter.text()).trim().to_owned())
    }

    fn job(&self, _: Filter) -> Job {
        // Its columns are read one after the other: see `next_job`.
        Job::Nothing
    }
}
