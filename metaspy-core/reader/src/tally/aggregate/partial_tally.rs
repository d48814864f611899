//! Rows from a part of the events, and the tally that they become.

use crate::causes::roots::Roots;
use crate::measure::Measure;
use crate::ring::row_table::{Key, Table};
use crate::tally::aggregate::{Cell, PartialTally};
use crate::tally::first_rows::Share;
use crate::tally::self_time::NO_ROW;
use crate::tally::shares::Shares;
use crate::tally::{By, DetailLevel, Tally, TallyRow};
use metaspy_format::row::OTHERS;
use metaspy_format::{high, join, low};
use metaspy_probe::{KindId, SiteId, Subject};

/// Returns the key of the row of the other subjects of a site.
fn others(key: Key) -> Key {
    Key { key: 0, who: join(low(key.who), OTHERS.into()) }
}

impl PartialTally {
    pub fn new() -> Self {
        PartialTally {
            table: Table::new(),
            cells: Vec::new(),
            exact: true,
            unknown: 0,
            self_exact: true,
            shared: 0,
            repeated: Shares::default(),
            totals_at_most: false,
            share: Share::ALL,
            is_cut: false,
        }
    }

    /// Creates a tally for a share of the subjects.
    pub fn of(share: Share) -> Self {
        PartialTally { share, ..PartialTally::new() }
    }

    /// Adds the time of a call to its row, and subtracts it from the row around it.
    #[inline(always)]
    pub(super) fn add_self(&mut self, row: u32, around: u32, ticks: u64) {
        if let Some(cell) = self.cells.get_mut(row as usize) {
            cell.own = cell.own.wrapping_add(ticks);
        }
        if let Some(cell) = self.cells.get_mut(around as usize) {
            cell.own = cell.own.wrapping_sub(ticks);
        }
    }

    /// Notes that some timed call of a row has no self time.
    #[inline]
    pub(super) fn has_no_self(&mut self, row: u32) {
        if let Some(cell) = self.cells.get_mut(row as usize) {
            cell.without_self = true;
        }
    }

    /// Adds the time from the first poll of an async call to its end.
    #[inline]
    pub(super) fn add_wall(&mut self, row: u32, ticks: u64) {
        if let Some(cell) = self.cells.get_mut(row as usize) {
            let measure = &mut cell.rare().measure;
            measure.wall_ticks = measure.wall_ticks.wrapping_add(ticks);
        }
    }

    /// Marks that some time of a row may count twice.
    #[inline]
    pub(super) fn total_is_at_most(&mut self, row: u32, at_most: bool) {
        if at_most && let Some(cell) = self.cells.get_mut(row as usize) {
            cell.at_most = true;
        }
    }

    /// Returns the row of a site and a subject, as far as the grouping distinguishes them;
    /// [`NO_ROW`] outside the share.
    #[inline(always)]
    pub fn row(&mut self, by: By, site: Option<u32>, subject: Option<Subject>) -> usize {
        let subject = subject.unwrap_or(Subject::NONE);
        if self.is_cut || !self.share.contains(subject) {
            return NO_ROW as usize;
        }
        let kind = subject.kind.0.into();
        let site = site.map_or(0, |site| site + 1);
        // The table finds dense numbers fastest if they are the first word of a key.
        let key = match by {
            By::Site | By::RootCause | By::Sender => Key { key: site.into(), who: 0 },
            By::Subject => Key { key: subject.key, who: join(0, kind) },
            By::SiteSubject | By::SenderSubject => Key { key: subject.key, who: join(site, kind) },
        };
        let row = self.table.row(key, || others(key));
        if row >= self.cells.len() {
            self.cells.resize(row + 1, Cell::default());
            self.is_cut = row >= self.share.most;
        }
        row
    }

    /// Converts the rows to a tally.
    pub(crate) fn into_tally(self, by: By, detail: DetailLevel) -> Tally {
        let mut rows = Vec::new();
        let mut tally = self.each_row(by, detail, |row| rows.push(row));
        rows.sort_by_key(|row| (std::cmp::Reverse(row.measure.count), row.site, row.subject));
        tally.rows = rows;
        tally
    }

    /// Passes every row to `each`, in no order. Returns the tally without its rows.
    pub(crate) fn each_row(
        self,
        by: By,
        detail: DetailLevel,
        mut each: impl FnMut(TallyRow),
    ) -> Tally {
        let mut tally = Tally {
            rows: Vec::new(),
            unknown: Some(self.unknown),
            exact: self.exact,
            rows_exact: self.exact,
            self_exact: self.self_exact,
            shared: self.shared,
            repeated: self.repeated,
        };
        for (key, cell) in self.table.keys().iter().zip(&self.cells) {
            let mut measure = cell.whole().settled();
            // Other calls of the row may be inside the polls of its async calls.
            let is_mixed = by != By::Site && cell.polled() > 0 && measure.timed > cell.polled();
            measure.total_at_most |= is_mixed || self.totals_at_most && measure.timed > 0;
            if measure == Measure::default() {
                continue;
            }
            measure.window_self_ticks = (cell.own as i64).max(0) as u64;
            if detail == DetailLevel::Counts {
                let Measure { count, lost, .. } = measure;
                measure = Measure { count, lost, ..Measure::default() };
            }
            let knows_self = measure.timed != 0 && !cell.without_self;
            measure.self_ticks = knows_self.then_some(measure.window_self_ticks);
            tally.self_exact &= measure.timed == 0 || knows_self;
            let (site, kind) = match by {
                By::Site | By::RootCause | By::Sender => (key.key, 0),
                By::Subject | By::SiteSubject | By::SenderSubject => {
                    (key.who, high(key.who) as u16)
                }
            };
            each(TallyRow {
                site: (site as u32).checked_sub(1).map(SiteId),
                subject: (kind != 0).then_some(Subject::new(KindId(kind), key.key)),
                measure,
            });
        }
        tally
    }

    /// Replaces the rows of sets of root causes by rows of their sites. A call counts in the row of
    /// each.
    pub(super) fn divide_roots(&mut self, roots: &Roots) {
        for row in 0..self.cells.len() {
            let Some(value) = (self.table.keys()[row].key as u32).checked_sub(1) else { continue };
            let sites = roots.sites(value);
            if sites == [Some(value)] {
                continue;
            }
            let cell = std::mem::take(&mut self.cells[row]);
            if let again @ 1.. = sites.len() as u64 - 1 {
                let calls = cell.whole().count;
                let own = (cell.own as i64).max(0) as u64;
                self.shared += calls;
                self.repeated.add(calls.saturating_mul(again), own.saturating_mul(again));
            }
            for site in sites {
                let at = self.row(By::RootCause, site, None);
                self.cells[at].merge(&cell);
                // A call of a single root cause may be inside a call of several.
                self.cells[at].at_most = true;
            }
        }
        self.exact &= !roots.is_full();
    }

    /// Adds the rows of another part.
    pub(super) fn merge(&mut self, other: PartialTally) {
        for (key, cell) in other.table.keys().iter().zip(&other.cells) {
            let row = self.table.row(*key, || others(*key));
            if row >= self.cells.len() {
                self.cells.resize(row + 1, Cell::default());
            }
            self.cells[row].merge(cell);
        }
        self.exact &= other.exact;
        self.unknown = self.unknown.saturating_add(other.unknown);
        self.self_exact &= other.self_exact;
        self.totals_at_most |= other.totals_at_most;
        self.is_cut |= other.is_cut;
    }
}
