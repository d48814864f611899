//! Number of all calls, and the parts that store or count them.

use serde::Serialize;

use crate::Store;
use metaspy_format::row::COUNT;
use metaspy_format::superblock as sb;

/// Number of all calls that reached an armed hook. `emitted` is the sum of the other numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Number of all calls.
    pub emitted: u64,
    /// Number of events in the window.
    pub stored: u64,
    /// Number of events that left the window and were added to the tallies.
    pub folded: u64,
    /// Number of calls at sites that only count.
    pub counted: u64,
    /// Number of calls that found no room as events. They are counted by site and subject.
    pub lost: u64,
    /// Number of calls that were counted without site and subject.
    pub unnamed: u64,
    /// True if no event moved from the window into the tallies during the reading.
    pub exact: bool,
}

/// Maximum number of attempts to read a live recording that changes during the reading.
const TRIES: usize = 4;

impl Store {
    /// Returns the number of all calls, and its parts. Reads summaries and tables, and only those
    /// blocks whose chunk is being filled.
    pub fn totals(&self) -> Totals {
        let ring = self.ring();
        let mut totals = Totals::default();
        for _ in 0..TRIES {
            let before = ring.fold_state();
            totals = self.totals_once();
            totals.exact &= ring.fold_state() == before && self.missing().is_empty();
            totals.exact &= self.is_settled();
            if totals.exact || !self.missing().is_empty() || !self.is_settled() {
                break;
            }
        }
        totals
    }

    /// Returns the number of calls that were counted without site and subject.
    pub(crate) fn unnamed(&self) -> u64 {
        let words = self.words();
        words.get(sb::REENTRANT).saturating_add(words.get(sb::UNNAMED))
    }

    fn totals_once(&self) -> Totals {
        let ring = self.ring();
        let folds = ring.folds();
        let is_touched = |chunk: u64| folds.touch(&ring.places_of(chunk), self.layout().blocks);
        let mut stored = 0_u64;
        for chunk in 0..ring.chunk_count() {
            stored += match ring.summary(chunk) {
                Some(summary) if folds.are_at_rest() || !is_touched(chunk) => summary.events.into(),
                _ => ring.count(chunk, &folds).events,
            };
        }
        let mut counted = 0_u64;
        let mut lost = 0_u64;
        let exact = ring.page_rows(&folds, |row| {
            let into = if row.who().lost { &mut lost } else { &mut counted };
            *into = into.saturating_add(row.0[COUNT]);
        });
        let folded = folds.folded;
        let unnamed = self.unnamed();
        let parts = [stored, folded, counted, lost, unnamed];
        let emitted = parts.into_iter().fold(0, u64::saturating_add);
        Totals { emitted, stored, folded, counted, lost, unnamed, exact }
    }
}
