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

/// Maximum number of rows of all subjects at once, on each of several threads. A row of events
/// takes some 150 bytes, and one from a table or of async calls 140 more.
const WHOLE_MOST: usize = 1 << 17;
/// Maximum number of rows of a share, if all of them are small; otherwise half as many.
const SHARE_MOST: usize = 1 << 18;
/// Number of shares that are read at the same time.
const PARALLEL_SHARES: usize = 2;
/// Number of smaller shares in the place of one that has too many rows.
const DIVIDED: u64 = 4;
/// Maximum number of shares.
const SHARES_MOST: u64 = 64;

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

    /// Returns smaller shares that together have its subjects, with at most so many rows each.
    /// `None` if there would be too many.
    fn divided(self, most: usize) -> Option<impl Iterator<Item = Share>> {
        let before = self.shares.max(1);
        let shares = before * DIVIDED;
        if shares > SHARES_MOST {
            return None;
        }
        Some((0..DIVIDED).map(move |part| Share {
            shares,
            number: self.number + part * before,
            most,
        }))
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
    /// some subjects share a row, or there are more than eight million rows; use [`Store::tally`]
    /// then. More rows than 2^17 are read in shares, and each share reads all events.
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
        let mut waiting = vec![Share { most: WHOLE_MOST, ..Share::ALL }];
        while !waiting.is_empty() {
            let shares = waiting.split_off(waiting.len().saturating_sub(PARALLEL_SHARES));
            for (share, part) in self.parts_of(&shares, by, scope) {
                if part.is_cut {
                    waiting.extend(share.divided(self.share_most())?);
                    continue;
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
        }
        first.settle();
        found.rows = first.kept.into_iter().map(|kept| kept.row).collect();
        Some(found)
    }

    /// Reads some shares at the same time.
    fn parts_of(&self, shares: &[Share], by: By, scope: &Scope) -> Vec<(Share, PartialTally)> {
        let parts = parallel::each(shares, shares.len(), Vec::new, |parts, &share| {
            parts.push((share, self.part_of(by, scope, share)));
        });
        parts.into_iter().flatten().collect()
    }

    /// Maximum number of rows of a share.
    fn share_most(&self) -> usize {
        let totals = self.totals();
        let is_small = totals.folded + totals.counted == 0 && !self.asyncs().contains(&true);
        if is_small { SHARE_MOST } else { SHARE_MOST / 2 }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_probe::KindId;

    use super::*;

    #[test]
    fn a_share_is_divided_into_shares_that_have_each_of_its_subjects_once() {
        let quarters = Share { most: 1, ..Share::ALL }.divided(7).expect("they are few");
        for quarter in quarters {
            assert_eq!(quarter.most, 7);
            let smaller: Vec<Share> = quarter.divided(7).expect("they are few").collect();
            for key in 0..1_000 {
                let subject = Subject::new(KindId(1), key * 77_777);
                let having = smaller.iter().filter(|share| share.contains(subject)).count();
                assert_eq!(having, usize::from(quarter.contains(subject)), "{subject:?}");
            }
        }
        let many = Share { shares: SHARES_MOST, number: 0, most: 1 };
        assert!(many.divided(1).is_none());
    }
}
