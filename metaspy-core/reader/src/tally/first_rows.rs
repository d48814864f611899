//! First rows of a tally in a given order, in memory that does not grow with the number of its
//! rows.
//!
//! Events are read several times, each time for a share of the subjects. A row is kept while it is
//! among the first rows.

use std::cmp::Reverse;

use metaspy_format::hash::scatter;
use metaspy_format::high;
use metaspy_format::row::OTHERS;
use metaspy_probe::Subject;

use crate::tally::aggregate::PartialTally;
use crate::tally::shares::Shares;
use crate::tally::{By, Scope, TallyRow};
use crate::{Store, parallel};

/// Maximum number of rows of all subjects at once, on each of several threads.
const WHOLE_MOST: usize = 1 << 17;
/// Numbers of shares of the further attempts, each made if its rows were too many before.
const SHARES: [u64; 2] = [4, 16];
/// Number of shares that are read at the same time.
const AT_ONCE: usize = 2;
/// Maximum number of rows of such a share: 2^18 take about 40 MiB.
const SHARE_MOST: usize = 1 << 18;

/// First rows of a tally.
#[derive(Clone, Debug, Default)]
pub struct FirstRows {
    /// Rows, in the requested order.
    pub rows: Vec<TallyRow>,
    /// Number of all rows of the tally.
    pub row_count: usize,
    /// Shares of the rows, in percent of all calls.
    pub shares: Shares,
    /// True if every selected call is counted, once.
    pub exact: bool,
}

/// Order of rows: the largest rank first, then the most calls, then the name.
pub struct RowOrder<'o> {
    /// Function that ranks a row; `None` comes last.
    pub rank: &'o dyn Fn(&TallyRow) -> Option<u64>,
    /// Function that names a row.
    pub name: &'o dyn Fn(&TallyRow) -> String,
}

/// Subjects whose rows are read at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Number of shares; 0 if this share has all subjects.
    shares: u64,
    number: u64,
    /// Maximum number of rows. A share with more rows is not read to its end.
    pub most: usize,
}

impl Share {
    /// Share of all subjects, without a limit.
    pub const ALL: Share = Share { shares: 0, number: 0, most: usize::MAX };

    /// Returns true if the rows of this subject are read.
    #[inline(always)]
    pub fn contains(self, subject: Subject) -> bool {
        self.shares == 0 || self.has(subject)
    }

    fn has(self, subject: Subject) -> bool {
        let word = subject.key.rotate_left(20) ^ u64::from(subject.kind.0);
        u64::from(high(scatter(word))) % self.shares == self.number
    }

    /// Returns whether subjects outside the share are left out. Such a share is read on one thread,
    /// because each thread has rows of its own.
    pub fn is_part(self) -> bool {
        self.shares != 0
    }
}

/// Row that is kept, with its sort key.
struct Kept {
    rank: Option<u64>,
    name: String,
    row: TallyRow,
}

/// First rows among those added so far.
struct First<'o> {
    most: usize,
    order: &'o RowOrder<'o>,
    /// Kept rows, at most twice as many as are wanted. Rows added since the last sorting have no
    /// order.
    kept: Vec<Kept>,
    /// Rank and calls that a row must reach, once there are enough rows.
    least: Option<(Option<u64>, u64)>,
}

impl First<'_> {
    fn add(&mut self, row: TallyRow) {
        let rank = (self.order.rank)(&row);
        if self.least.is_some_and(|least| (rank, row.measure.count) < least) {
            return;
        }
        self.kept.push(Kept { rank, name: (self.order.name)(&row), row });
        if self.kept.len() >= self.most.saturating_mul(2) {
            self.settle();
        }
    }

    /// Sorts the rows, and drops those beyond the wanted number.
    fn settle(&mut self) {
        self.kept.sort_by(|a, b| {
            let keys = |kept: &Kept| (Reverse(kept.rank), Reverse(kept.row.measure.count));
            let by_place = || (a.row.site, a.row.subject).cmp(&(b.row.site, b.row.subject));
            keys(a).cmp(&keys(b)).then_with(|| a.name.cmp(&b.name)).then_with(by_place)
        });
        self.kept.truncate(self.most);
        if self.kept.len() == self.most {
            self.least = self.kept.last().map(|kept| (kept.rank, kept.row.measure.count));
        }
    }
}

impl Store {
    /// Returns the first rows of a tally by subject, alone or at each site. `each` receives every
    /// row, in no order. `None` if the rows cannot be read in parts, because the recording is live,
    /// some subjects share a row, or there are millions of rows; use [`Store::tally`] then.
    pub fn first_rows(
        &self,
        by: By,
        scope: &Scope,
        most: usize,
        order: &RowOrder<'_>,
        mut each: impl FnMut(&TallyRow),
    ) -> Option<FirstRows> {
        if self.is_live() || !matches!(by, By::Subject | By::SiteSubject) || most == 0 {
            return None;
        }
        let mut first = First { most, order, kept: Vec::new(), least: None };
        let mut found = FirstRows {
            exact: self.missing().is_empty() && self.is_settled(),
            ..FirstRows::default()
        };
        for part in self.parts(by, scope) {
            if part.is_cut {
                return None;
            }
            let mut has_others = false;
            let tally = part.each_row(by, scope.detail, |mut row| {
                has_others |= row.subject.is_some_and(|subject| subject.kind.0 == OTHERS);
                row.measure.at_least |= self.unnamed() > 0;
                self.limit_totals(std::iter::once(&mut row.measure));
                found.row_count += 1;
                found.shares.include(&row.measure);
                each(&row);
                first.add(row);
            });
            if has_others || tally.unknown != Some(0) && self.has_undecided_others(scope) {
                return None;
            }
            found.exact &= tally.exact && tally.unknown == Some(0) && self.unnamed() == 0;
        }
        first.settle();
        found.rows = first.kept.into_iter().map(|kept| kept.row).collect();
        Some(found)
    }

    /// Reads all subjects at once, or else in the fewest shares whose rows have room. A part is cut
    /// if they have none.
    fn parts<'s>(
        &'s self,
        by: By,
        scope: &'s Scope,
    ) -> Box<dyn Iterator<Item = PartialTally> + 's> {
        let whole = self.part_of(by, scope, Share { most: WHOLE_MOST, ..Share::ALL });
        if !whole.is_cut {
            return Box::new(std::iter::once(whole));
        }
        drop(whole);
        let mut shares = SHARES[0];
        let mut firsts = self.parts_from(0, shares, by, scope);
        if firsts.iter().any(|part| part.is_cut) {
            shares = SHARES[1];
            firsts = self.parts_from(0, shares, by, scope);
        }
        let others = (0..shares).step_by(AT_ONCE).skip(1);
        let others = others.flat_map(move |first| self.parts_from(first, shares, by, scope));
        Box::new(firsts.into_iter().chain(others))
    }

    /// Reads some shares at the same time, from this one on.
    fn parts_from(&self, first: u64, shares: u64, by: By, scope: &Scope) -> Vec<PartialTally> {
        let numbers: Vec<u64> = (first..shares).take(AT_ONCE).collect();
        let parts = parallel::each(&numbers, AT_ONCE, Vec::new, |parts, &number| {
            parts.push(self.part_of(by, scope, Share { shares, number, most: SHARE_MOST }));
        });
        parts.into_iter().flatten().collect()
    }
}
