//! Shares: the part of all calls, and of their time, that a row has.

use crate::measure::Measure;

/// Whole that rows are parts of.
///
/// The whole of all times is the sum of the self times, which contain each moment of a thread once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shares {
    calls: u64,
    self_ticks: u64,
    /// True if self time is not known for every timed call.
    is_partial: bool,
}

impl Shares {
    /// Adds up the whole of these rows. No call may be in two of them.
    pub fn of<'m>(rows: impl IntoIterator<Item = &'m Measure>) -> Shares {
        let mut whole = Shares::default();
        rows.into_iter().for_each(|row| whole.include(row));
        whole
    }

    /// Another row.
    pub(crate) fn include(&mut self, row: &Measure) {
        self.add(row.count, row.window_self_ticks);
        self.is_partial |= row.timed > 0 && row.self_ticks.is_none();
    }

    /// Adds calls and self time.
    pub(crate) fn add(&mut self, calls: u64, self_ticks: u64) {
        self.calls = self.calls.saturating_add(calls);
        self.self_ticks = self.self_ticks.saturating_add(self_ticks);
    }

    /// Subtracts a part that was counted again.
    pub(crate) fn without(self, again: &Shares) -> Shares {
        let Shares { calls, self_ticks, .. } = again;
        Shares {
            calls: self.calls.saturating_sub(*calls),
            self_ticks: self.self_ticks.saturating_sub(*self_ticks),
            ..self
        }
    }

    /// Returns the share of the calls, in percent.
    pub fn calls(&self, row: &Measure) -> Option<f64> {
        percent(row.count, self.calls)
    }

    /// Returns the share of the self time, in percent. If calls have left the window, it covers
    /// only the calls in the window.
    pub fn self_time(&self, row: &Measure) -> Option<f64> {
        percent(row.window_self_ticks, self.self_ticks).filter(|_| row.timed > 0)
    }

    /// Returns the share of the time, including callees, in percent. Rows that call each other add
    /// up to more than 100. `None` if calls have left the window, because the whole is unknown
    /// then, and if some time of the row may count twice.
    pub fn total(&self, row: &Measure) -> Option<f64> {
        let is_known = row.timed > 0 && !self.is_partial && !row.total_at_most;
        percent(row.total_ticks, self.self_ticks).filter(|_| is_known)
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_calls_and_self_time_add_up_and_totals_nest() {
        let row = |count, total_ticks, own| Measure {
            count,
            timed: count,
            total_ticks,
            self_ticks: Some(own),
            window_self_ticks: own,
            ..Measure::default()
        };
        let outer = row(1, 100, 25);
        let inner = row(3, 75, 75);
        let shares = Shares::of([&outer, &inner]);
        assert_eq!([shares.calls(&outer), shares.calls(&inner)], [Some(25.0), Some(75.0)]);
        assert_eq!([shares.self_time(&outer), shares.self_time(&inner)], [Some(25.0), Some(75.0)]);
        assert_eq!([shares.total(&outer), shares.total(&inner)], [Some(100.0), Some(75.0)]);
        // Calls of the inner row have left the window.
        let left = Measure { self_ticks: None, ..inner };
        let shares = Shares::of([&outer, &left]);
        assert_eq!((shares.self_time(&left), shares.total(&outer)), (Some(75.0), None));
        assert_eq!(Shares::default().calls(&Measure::default()), None);
    }
}
