//! Change of rows over time: the number of their events that began in each part of the window.
//!
//! Only the visible rows are read, on another thread, because each reading scans the window.

use std::collections::HashMap;

use metaspy_reader::{By, Filter, Position, Store};

use super::super::lanes::{self, Span};
use super::super::table::Rows;
use super::{TallyKey, TallyView};
use crate::crawler::jobs::Progress;

/// Number of parts of the window.
pub const BARS: usize = 16;
/// Number of events that are tested between two checks for a stop.
const STRIDE: usize = 1 << 18;

/// Events of rows by part of the window.
#[derive(Clone, Debug, Default)]
pub struct Trends {
    rows: HashMap<TallyKey, [u64; BARS]>,
    /// Length of a part, in nanoseconds; 0 before the first reading.
    pub bar_ns: u64,
    /// True if events left the window. No bar includes their calls.
    pub(crate) of_window: bool,
    /// True if the rows were counted again since the last reading.
    pub is_old: bool,
}

impl Trends {
    /// Returns the number of a row's events in each part, the oldest first; `None` until it is
    /// read.
    pub fn of(&self, row: TallyKey) -> Option<&[u64]> {
        self.rows.get(&row).map(<[u64; BARS]>::as_slice)
    }
}

/// Reads the events of these rows in the window; `None` if the job is stopped.
pub fn read(
    store: &Store,
    by: By,
    rows: &[TallyKey],
    filter: &Filter,
    progress: &Progress,
) -> Option<Trends> {
    let window = lanes::window(store);
    let mut sorted = rows.to_vec();
    sorted.sort_unstable();
    let mut counts = vec![[0; BARS]; sorted.len()];
    let mut next = Some(Position::Start);
    while let Some(from) = next {
        let page = store.forward(from, filter, STRIDE, STRIDE);
        for event in &page.events {
            let row = if by == By::Site { (Some(event.site), None) } else { (None, event.subject) };
            if let Ok(at) = sorted.binary_search(&row) {
                count(window, event.start, &mut counts[at]);
            }
        }
        if !progress.goes_on(page.looked_at) {
            return None;
        }
        next = page.more;
    }
    let bar_ns = store.span_ns(window.tick(1, BARS) - window.from);
    let totals = store.totals();
    let of_window = totals.folded + totals.lost > 0;
    Some(Trends {
        rows: sorted.into_iter().zip(counts).collect(),
        bar_ns,
        of_window,
        is_old: false,
    })
}

/// Counts an event in its part of the window. A live recording grows while it is read, and later
/// events count in no part.
fn count(window: Span, start: u64, bars: &mut [u64; BARS]) {
    if window.contains(start) {
        bars[window.column(start, BARS)] += 1;
    }
}

impl TallyView {
    /// Returns the visible rows whose trends must be read; `None` if they are up to date.
    pub(crate) fn rows_without_trend(&self) -> Option<Vec<TallyKey>> {
        let view = self.cursor.visible(self.row_count());
        let rows: Vec<TallyKey> = self.listed()[view].iter().map(|row| row.key()).collect();
        let is_read =
            !self.trends.is_old && rows.iter().all(|row| self.trends.rows.contains_key(row));
        (!is_read && !self.lists_unobserved).then_some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_arrive_while_a_live_recording_is_read_are_not_in_the_last_bar() {
        let mut bars = [0; BARS];
        (0..4_800).for_each(|start| count(Span { from: 0, to: 1_600 }, start, &mut bars));
        assert_eq!(bars, [100; BARS]);
    }
}
