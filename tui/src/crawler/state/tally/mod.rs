//! Tables of subjects and of sites: a row each, with its counts and times.

mod columns;
pub(crate) mod trend;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::control::{ControlRequest, SiteState};
use metaspy_reader::{By, Filter, Measure, RowKey, Scope, Store, TallyRow};

use super::cursor::Cursor;
use super::event_list::Side;
use super::profiles::Profiles;
use super::table::{self, Arrangement, Key, Largest, Rows, Sort, SortChange, TableList};
use super::{filter_edit, name};
use crate::crawler::jobs::Progress;
use trend::Trends;

/// Maximum number of rows that are sorted or searched between two frames. Larger tables use another
/// thread.
const SORTED_IN_PLACE: usize = 20_000;

/// Row of a table. It holds only values that the table shows, because there may be a million rows.
#[derive(Clone, Copy, Debug)]
pub struct TableRow {
    /// Site, in a table of sites.
    pub site: Option<SiteId>,
    /// Subject, in a table of subjects; none for events without a subject.
    subject: Subject,
    /// Number of calls.
    pub count: u64,
    /// Number of calls that found no room as events.
    pub lost: u64,
    /// Number of calls at the previous reading; valid if `has_before`.
    before: u64,
    /// Ticks of the timed calls.
    total_ticks: u64,
    /// Ticks of the timed calls without timed calls in them; valid if `has_self`.
    self_ticks: u64,
    /// Ticks of the longest call.
    max_ticks: u64,
    has_before: bool,
    has_self: bool,
    is_timed: bool,
    /// True if some calls have no time.
    is_partly_timed: bool,
    /// True if the longest call is async: its ticks are those from its first poll to its end.
    is_wall: bool,
    at_least: bool,
    /// Sign before the total time.
    total_sign: &'static str,
}

/// Identity of a row.
pub type TallyKey = (Option<SiteId>, Option<Subject>);

impl TableRow {
    fn new(site: Option<SiteId>, subject: Option<Subject>, measure: &Measure) -> Self {
        TableRow {
            site,
            subject: subject.unwrap_or(Subject::NONE),
            count: measure.count,
            lost: measure.lost,
            before: 0,
            total_ticks: measure.total_ticks,
            self_ticks: measure.self_ticks.unwrap_or(0),
            max_ticks: measure.max_ticks,
            has_before: false,
            has_self: measure.self_ticks.is_some(),
            is_timed: measure.timed > 0,
            is_partly_timed: measure.is_partly_timed(),
            is_wall: measure.wall_ticks > 0,
            at_least: measure.at_least,
            total_sign: measure.total_sign(),
        }
    }

    fn of(row: &TallyRow, before: Option<&HashMap<TallyKey, u64>>) -> Self {
        let found = before.and_then(|before| before.get(&(row.site, row.subject)).copied());
        let has_before = before.is_some();
        let before = found.unwrap_or(0);
        TableRow { has_before, before, ..TableRow::new(row.site, row.subject, &row.measure) }
    }

    /// Creates a row without events.
    fn empty(site: Option<SiteId>, subject: Option<Subject>) -> Self {
        TableRow::new(site, subject, &Measure::default())
    }

    /// Returns the subject, in a table of subjects; `None` for events without a subject.
    pub fn subject(&self) -> Option<Subject> {
        Some(self.subject).filter(|subject| !subject.is_none())
    }

    /// Returns the sign before the number of calls.
    fn sign(&self) -> &'static str {
        if self.at_least { "≥" } else { "" }
    }

    /// Returns the number of events since the last reading; `None` at the first reading.
    fn delta(&self) -> Option<u64> {
        self.has_before.then(|| self.count.saturating_sub(self.before))
    }

    fn self_ticks(&self) -> Option<u64> {
        self.has_self.then_some(self.self_ticks)
    }

    /// Returns the ticks of the longest call, if none is async.
    fn max_ticks(&self) -> Option<u64> {
        (!self.is_wall).then_some(self.max_ticks)
    }

    /// Returns the ticks of the longest call, if some are async.
    fn max_wall_ticks(&self) -> Option<u64> {
        self.is_wall.then_some(self.max_ticks)
    }

    fn key(&self) -> TallyKey {
        (self.site, self.subject())
    }

    /// Returns the name of the site or subject.
    fn name(&self, store: &Store) -> String {
        match (self.site, self.subject()) {
            (Some(site), _) => store.site_path(site).to_owned(),
            (None, Some(subject)) => name::subject(store, subject),
            (None, None) => "(no subject)".into(),
        }
    }
}

/// Table of subjects or of sites.
#[derive(Clone, Debug)]
pub struct TallyView {
    /// Grouping: by subject or by site.
    pub by: By,
    /// Rows, sorted; `None` before the first reading.
    pub rows: Option<Arc<Vec<TableRow>>>,
    /// Largest number of each column, because there may be too many rows to find it between two
    /// frames.
    largest: Arc<Largest>,
    /// Labelled subjects without an event.
    pub unobserved: Arc<Vec<TableRow>>,
    /// True if the unobserved subjects are listed instead of the rows.
    pub(crate) lists_unobserved: bool,
    /// Columns of method profilers.
    pub profiles: Profiles<TallyKey>,
    /// Arrangement of the columns that are shown.
    pub(crate) arrangement: Arrangement,
    /// True if every number is exact.
    pub exact: bool,
    /// True if calls of a row found no room as events.
    pub(crate) has_losses: bool,
    /// False if calls were only counted: then no row has a time or a trend.
    has_events: bool,
    /// True if calls of a row are async.
    has_walls: bool,
    /// Observed subjects at each site, if the running process lets readers change them.
    observed: Arc<HashMap<SiteId, SiteState>>,
    /// Change of the visible rows over time.
    pub trends: Trends,
    /// Order of the rows.
    pub sort: Sort,
    /// Cursor over the rows.
    pub cursor: Cursor,
    /// Time of the last reading, in ns since the crawler began.
    pub(crate) read_ns: u64,
    /// Time between the last two readings.
    pub since_ns: Option<u64>,
}

impl TallyView {
    /// Creates a table that was not read yet.
    pub fn new(by: By) -> Self {
        TallyView {
            by,
            rows: None,
            largest: Arc::default(),
            unobserved: Arc::default(),
            lists_unobserved: false,
            profiles: Profiles::default(),
            arrangement: Arrangement::default(),
            exact: true,
            has_losses: false,
            has_events: true,
            has_walls: false,
            observed: Arc::default(),
            trends: Trends::default(),
            sort: Sort::by("calls"),
            cursor: Cursor::default(),
            read_ns: 0,
            since_ns: None,
        }
    }

    /// Reads the rows. A row shows the change from the counts in `self`.
    pub fn read(mut self, store: &Store, filter: Filter) -> Self {
        let is_all = filter.is_all();
        let tally = store.tally(self.by, &Scope { filter, ..Scope::default() });
        let before: Option<HashMap<_, u64>> =
            self.rows.as_ref().map(|rows| rows.iter().map(|row| (row.key(), row.count)).collect());
        let mut rows: Vec<TableRow> =
            tally.rows.iter().map(|row| TableRow::of(row, before.as_ref())).collect();
        self.profiles = self.profiles.read(store, |key| match (self.by, key) {
            (_, RowKey::Context(..) | RowKey::Type(..) | RowKey::Sampled(..)) => Vec::new(),
            (By::Site, key) => vec![(Some(key.site()), None)],
            (_, RowKey::Subject(_, subject)) => vec![(None, Some(subject))],
            _ => Vec::new(),
        });
        drop(tally.rows);
        let mut unobserved = Vec::new();
        // Most subjects have no label.
        let may_lack = self.by == By::Site
            || store.labelled().next().is_some()
            || self.profiles.items().next().is_some();
        if is_all && may_lack {
            // A profiler may have values for subjects without events.
            let mut seen: HashSet<TallyKey> = rows.iter().map(TableRow::key).collect();
            for &(site, subject) in self.profiles.items() {
                if seen.insert((site, subject)) {
                    rows.push(TableRow::empty(site, subject));
                }
            }
            let is_new = |row: &TableRow| !seen.contains(&row.key());
            match self.by {
                By::Site => {
                    rows.extend(
                        store
                            .sites()
                            .iter()
                            .map(|site| TableRow::empty(Some(site.id), None))
                            .filter(is_new),
                    );
                }
                _ => {
                    unobserved.extend(
                        store
                            .labelled()
                            .map(|(it, _)| TableRow::empty(None, Some(it)))
                            .filter(is_new),
                    );
                    unobserved.sort_by_key(|row| row.subject);
                }
            }
        }
        (self.unobserved, self.exact) = (Arc::new(unobserved), tally.exact);
        if self.by == By::Site {
            let states = store.control(&ControlRequest::default()).unwrap_or_default();
            self.observed =
                Arc::new(states.into_iter().map(|state| (state.site(), state)).collect());
        }
        self.has_losses = rows.iter().any(|row| row.lost > 0);
        self.has_walls = rows.iter().any(|row| row.is_wall);
        self.has_events =
            store.grows() || rows.iter().any(|row| row.is_timed) || store.totals().stored > 0;
        self.rows = Some(Arc::new(rows));
        self.largest =
            Arc::new(table::largest(store, &TallyView { lists_unobserved: false, ..self.clone() }));
        self.sorted(store)
    }

    /// Sorts the rows.
    pub fn sorted(mut self, store: &Store) -> Self {
        let Some(rows) = self.rows.clone() else { return self };
        let list = TallyView { lists_unobserved: false, ..self.clone() };
        // The numbers of sites differ from build to build; their paths do not.
        let path = |row: &TableRow| row.site.map(|site| store.site_path(site));
        let mut keyed: Vec<(Key, usize)> =
            self.sort.keys(store, &list).into_iter().zip(0..).collect();
        // No two rows are equal, so the order is the same as that of a stable sort, which needs
        // more memory.
        keyed.sort_unstable_by(|(a_key, a), (b_key, b)| {
            let a = &rows[*a];
            let b = &rows[*b];
            a_key.cmp(b_key).then_with(|| (path(a), a.subject).cmp(&(path(b), b.subject)))
        });
        let mut order: Vec<usize> = keyed.into_iter().map(|(_, at)| at).collect();
        drop((list, rows));
        // A million rows are not copied, unless the screen shows them at this time.
        let mut rows = self.rows.take().map(Arc::unwrap_or_clone).unwrap_or_default();
        table::reorder(&mut rows, &mut order);
        if self.sort.reversed {
            rows.reverse();
        }
        self.rows = Some(Arc::new(rows));
        self
    }

    /// True if its rows were read, also if there are none.
    pub(crate) fn is_read(&self) -> bool {
        self.rows.is_some()
    }

    /// Shows the result of a reading. The cursor stays on its row, and on its line of the screen.
    pub fn accept(&mut self, store: &Store, read: TallyView, now_ns: u64) {
        self.since_ns = self.rows.is_some().then(|| now_ns - self.read_ns);
        self.read_ns = now_ns;
        let key = self.current().filter(|_| !self.lists_unobserved).map(|row| row.key());
        // The user may have chosen another order since the job was started.
        let read = if read.sort == self.sort {
            read
        } else {
            TallyView { sort: self.sort.clone(), ..read }.sorted(store)
        };
        (self.rows, self.unobserved, self.exact) = (read.rows, read.unobserved, read.exact);
        (self.largest, self.observed) = (read.largest, read.observed);
        (self.has_losses, self.has_events, self.has_walls) =
            (read.has_losses, read.has_events, read.has_walls);
        self.profiles.accept(read.profiles);
        self.trends.is_old = store.grows();
        let found = key.and_then(|key| self.rows.as_ref()?.iter().position(|row| row.key() == key));
        self.cursor.follow(found, self.row_count());
    }

    /// Returns true if there are too many rows to sort or search them between two frames.
    pub(crate) fn is_large(&self) -> bool {
        self.row_count() > SORTED_IN_PLACE
    }

    /// Finds the next row whose name contains a text, as [`Rows::find`] does.
    pub(crate) fn find_key(
        &self,
        store: &Store,
        text: &str,
        side: Side,
        progress: &Progress,
    ) -> Option<TallyKey> {
        progress.set(0, self.row_count() as u64);
        let text = text.to_lowercase();
        self.cursor
            .find(self.row_count(), side, |row| {
                !progress.goes_on(1) || self.row(row).name(store).to_lowercase().contains(&text)
            })
            .map(|row| self.row(row).key())
    }

    /// Moves to the row that a job has found. Returns false if there is none.
    pub(crate) fn select_key(&mut self, found: Option<TallyKey>) -> bool {
        let row = found.and_then(|key| self.listed().iter().position(|row| row.key() == key));
        let rows = self.row_count();
        row.inspect(|&row| self.cursor.select(row, rows)).is_some()
    }

    /// Returns the rows, or the subjects without an event.
    pub fn listed(&self) -> &[TableRow] {
        if self.lists_unobserved {
            &self.unobserved
        } else {
            self.rows.as_deref().map_or(&[], Vec::as_slice)
        }
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<&TableRow> {
        self.listed().get(self.cursor.row)
    }

    fn row(&self, item: usize) -> &TableRow {
        &self.listed()[item]
    }
}

impl Rows for TallyView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.listed().len()
    }

    fn discard(&mut self) {
        self.rows = None;
        self.trends = Trends::default();
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(2);
    }

    fn row_name(&self, store: &Store, row: usize) -> String {
        self.row(row).name(store)
    }

    fn site(&self) -> Option<SiteId> {
        self.current()?.site
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        let row = self.current()?;
        match (row.subject(), row.site) {
            (Some(subject), _) => Some(filter_edit::subject_term(store, subject)),
            (None, Some(site)) => Some(filter_edit::site_term(store, site)),
            (None, None) => None,
        }
    }

    fn sort(&self) -> Option<&Sort> {
        Some(&self.sort)
    }

    fn profile(&self) -> Option<&str> {
        self.profiles.shown()
    }

    fn next_profile(&self) -> Option<&str> {
        self.profiles.next()
    }

    fn show_next_profile(&mut self, store: &Store) {
        self.profiles.show_next();
        if self.columns(store).iter().all(|column| column.name != self.sort.column) {
            self.sort = Sort::by("calls");
            self.rows = self.clone().sorted(store).rows;
        }
    }

    fn change_sort(&mut self, store: &Store, change: SortChange) {
        if self.lists_unobserved {
            return;
        }
        self.sort = self.sort.changed(&self.columns(store), change);
        self.cursor.reset();
        if !self.is_large() {
            self.rows = self.clone().sorted(store).rows;
        }
    }
}
