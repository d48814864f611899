//! Column of a browser: rows of the same kind with their values.

use std::cmp::Reverse;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{
    By, Event, Filter, FilterError, Measure, Members, NO_CAUSE, Position, REMOTE_CAUSE, Scope,
    Store,
};
use metaspy_report::text::{clean, grouped, short_path, width};

use super::related;
use crate::crawler::config::browser::{BrowserTab, RowsOf, Show, ValueOf};
use crate::crawler::state::cursor::Cursor;
use crate::crawler::state::table::{Cell, Column, Kind, Rows, TableList, Width};
use crate::crawler::state::{filter_edit, name};

/// Maximum number of rows of a column.
pub(super) const ROWS: usize = 2_000;
/// Maximum number of events that are tested for a column of events.
const BUDGET: usize = 50_000_000;

/// Row of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct BrowserRow {
    /// Name of the site, subject or event.
    pub name: String,
    /// Values, in the order of the file.
    pub cells: Vec<Cell>,
    /// Filter term that selects the row; `None` if no term can.
    pub term: Option<String>,
    /// Event of the row, in a column of events.
    pub event: Option<Event>,
}

impl BrowserRow {
    /// Returns true if the other row stands for the same item at another time.
    fn is_same(&self, other: &BrowserRow) -> bool {
        let id = |row: &BrowserRow| row.event.map(|event| event.id);
        self.term == other.term && id(self) == id(other)
    }
}

/// Column as it is shown.
#[derive(Clone, Debug)]
pub struct ColumnView {
    /// Index of the open tab.
    pub tab: usize,
    /// Definition of the open tab.
    pub of: BrowserTab,
    /// Rows of the column; `None` before the first reading.
    pub rows: Option<Vec<BrowserRow>>,
    cursor: Cursor,
    /// Text of the filter that the rows were read for.
    read: Option<String>,
    /// True if the recording has grown since the rows were read.
    pub is_old: bool,
}

impl ColumnView {
    /// Creates a column with an open tab.
    pub fn new(tabs: &[BrowserTab], tab: usize) -> Self {
        ColumnView {
            tab,
            of: tabs[tab].clone(),
            rows: None,
            cursor: Cursor::default(),
            read: None,
            is_old: false,
        }
    }

    /// Returns the row under the cursor.
    pub fn selected(&self) -> Option<&BrowserRow> {
        self.rows.as_ref()?.get(self.cursor.row)
    }

    /// Returns true if the rows, or their job, are for this filter.
    pub(crate) fn was_read_for(&self, filter: Option<&str>) -> bool {
        self.read.as_deref() == filter
    }

    /// Returns an error if the filter names an element that the recording does not have. It lists
    /// the most similar names.
    pub fn unknown(&self, store: &Store) -> Option<FilterError> {
        self.read.as_deref()?.parse::<Filter>().ok()?.check(store).err()
    }

    /// Discards the rows, and expects those for another filter.
    pub fn begin(&mut self, filter: Option<String>) {
        (self.read, self.rows, self.is_old) = (filter, None, false);
        self.cursor.reset();
    }

    /// Shows the rows of a reading. The cursor stays on its row, because the next columns depend on
    /// it.
    pub fn accept(&mut self, rows: Vec<BrowserRow>) {
        let before = self.selected();
        let found = before.and_then(|before| rows.iter().position(|row| row.is_same(before)));
        self.cursor.select(found.unwrap_or(self.cursor.row), rows.len());
        self.rows = Some(rows);
    }

    /// Computes the width of a value from its widest number.
    fn cells_of(&self, at: usize, title: &str) -> u16 {
        let rows = self.rows.iter().flatten();
        let largest = rows.filter_map(|row| row.cells.get(at)?.number()).max().unwrap_or(0);
        // A sign comes before the number, and a blank after it.
        (width(&grouped(largest)) + 2).max(width(title) + 1) as u16
    }
}

impl TableList for ColumnView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let row =
            |list: &Self, item: usize| list.rows.as_ref().and_then(|rows| rows.get(item)).cloned();
        let name = Column::name("", move |_, list: &Self, item| {
            Cell::text(row(list, item).map_or(String::new(), |row| row.name))
        });
        let values = self.of.show.iter().enumerate().map(|(at, show)| {
            let title = show.title.clone().unwrap_or_else(|| show.name.clone());
            let (kind, cells) = match show.name.as_str() {
                "bar" => (Kind::Bar, Width::Part { of: (2, 5), min: 8 }),
                "calls" | "lost" => (Kind::Number, Width::Cells(self.cells_of(at, &title))),
                _ => (Kind::Time, Width::Cells(10)),
            };
            let cell = move |_: &Store, list: &Self, item: usize| {
                row(list, item)
                    .and_then(|row| row.cells.into_iter().nth(at))
                    .unwrap_or(Cell::blank())
            };
            let title = if kind == Kind::Bar { String::new() } else { title };
            Column::new(show.name.clone(), kind, cells, cell).titled(title).shown_from(show.from)
        });
        std::iter::once(name).chain(values).collect()
    }
}

impl Rows for ColumnView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.rows.as_ref().map_or(0, Vec::len)
    }

    fn discard(&mut self) {
        self.read = None;
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.rows
            .as_ref()
            .and_then(|rows| rows.get(row))
            .map_or(String::new(), |row| row.name.clone())
    }

    fn site(&self) -> Option<SiteId> {
        self.selected()?.event.map(|event| event.site)
    }

    fn filter_term(&self, _: &Store) -> Option<String> {
        self.selected()?.term.clone()
    }
}

/// Reads the rows of a column.
pub fn read(store: &Store, tab: &BrowserTab, filter: Filter) -> Vec<BrowserRow> {
    let by = match tab.rows {
        RowsOf::Site => By::Site,
        RowsOf::Subject => By::Subject,
        RowsOf::Root => By::RootCause,
        RowsOf::Sender => By::Sender,
        RowsOf::Asker => By::SenderSubject,
        RowsOf::Event => return events(store, &filter),
        RowsOf::Relation => return related::read(store, tab, filter),
        // Productions and elements have screens of their own.
        RowsOf::Production | RowsOf::Element => return Vec::new(),
    };
    let mut rows = store.tally(by, &scope(tab, filter)).rows;
    rows.retain(|row| row.measure.count > 0 && !row.is_others());
    rows.sort_by_key(|row| Reverse(number(&row.measure, tab.value)));
    rows.truncate(ROWS);
    rows.iter().map(|row| counted(store, tab, row.site, row.subject, &row.measure)).collect()
}

/// Selects the calls that pass a filter, at the sites of the tab.
pub(super) fn scope(tab: &BrowserTab, filter: Filter) -> Scope {
    let members = tab.sites.clone().map(|sites| Members::new(move |site, _| sites.contains(&site)));
    Scope { members, ..Scope::matching(filter) }
}

pub(super) fn counted(
    store: &Store,
    tab: &BrowserTab,
    site: Option<SiteId>,
    subject: Option<Subject>,
    measure: &Measure,
) -> BrowserRow {
    let site_name = |site: SiteId| clean(short_path(store.site_path(site))).into_owned();
    // A cause has its own term: `cause.site:layout`.
    let site_term =
        |site: SiteId, name: &str| filter_edit::site_term(store, site).replacen("site:", name, 1);
    let of_cause =
        |subject: Subject| format!("cause.{}", filter_edit::subject_term(store, subject));
    let (name, term) = match (tab.rows, site, subject) {
        (RowsOf::Sender | RowsOf::Asker, Some(NO_CAUSE), _) => ("(no cause)".into(), None),
        (RowsOf::Sender | RowsOf::Asker, Some(REMOTE_CAUSE), _) => {
            ("(in another process)".into(), None)
        }
        (RowsOf::Asker, Some(site), Some(subject)) => (
            format!("{} at {}", name::subject(store, subject), site_name(site)),
            Some(format!("{} {}", site_term(site, "cause.site:"), of_cause(subject))),
        ),
        (RowsOf::Sender | RowsOf::Asker, Some(site), _) => {
            (site_name(site), Some(site_term(site, "cause.site:")))
        }
        (RowsOf::Root, Some(site), _) => (site_name(site), Some(site_term(site, "cause:"))),
        (_, Some(site), _) => (site_name(site), Some(site_term(site, "site:"))),
        (_, None, Some(subject)) => {
            (name::subject(store, subject), Some(filter_edit::subject_term(store, subject)))
        }
        (RowsOf::Root | RowsOf::Sender | RowsOf::Asker, None, None) => {
            ("(left the window)".into(), None)
        }
        (_, None, None) => ("(no subject)".into(), None),
    };
    BrowserRow {
        name,
        term,
        cells: tab.show.iter().map(|show| cell(store, measure, show)).collect(),
        event: None,
    }
}

pub(super) fn number(measure: &Measure, value: ValueOf) -> u64 {
    match value {
        ValueOf::Count => measure.count,
        ValueOf::Total => measure.total_ticks,
        ValueOf::Max => measure.max_ticks,
    }
}

fn cell(store: &Store, measure: &Measure, show: &Show) -> Cell {
    let time = |ticks: Option<u64>| {
        Cell::optional(ticks.filter(|_| measure.timed > 0).map(|ticks| store.span_ns(ticks)), "")
    };
    match show.name.as_str() {
        "total" => Cell::optional(
            (measure.timed > 0).then(|| store.span_ns(measure.total_ticks)),
            measure.total_sign(),
        ),
        "self" => time(measure.self_ticks),
        "max" => time(Some(measure.max_ticks).filter(|_| measure.wall_ticks == 0)),
        // Of async calls, the longest is one from its first poll to its end.
        "max wall" => time(Some(measure.max_ticks).filter(|_| measure.wall_ticks > 0)),
        "lost" => Cell::optional(Some(measure.lost).filter(|&lost| lost > 0), ""),
        _ => Cell::optional(Some(measure.count), measure.sign()),
    }
}

fn events(store: &Store, filter: &Filter) -> Vec<BrowserRow> {
    let events = store.forward(Position::Start, filter, ROWS, BUDGET).events;
    let row = |event: &Event| BrowserRow {
        name: name::event(store, event),
        cells: vec![
            event
                .span
                .filter(|_| event.timed)
                .map_or(Cell::blank(), |span| Cell::amount(store.span_ns(span))),
        ],
        // The next columns show the subject of the event, or its site.
        term: Some(match event.subject {
            Some(subject) => filter_edit::subject_term(store, subject),
            None => filter_edit::site_term(store, event.site),
        }),
        event: Some(*event),
    };
    events.iter().map(row).collect()
}
