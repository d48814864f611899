//! State of the recording, for the first line of the screen.

use std::collections::VecDeque;

use metaspy_reader::{EndState, Position, Store, Totals};
use metaspy_report::rows::text::title;

use crate::crawler::state::lanes;

/// Time over which the rate is measured.
const RATE_NS: u64 = 1_000_000_000;

/// State of a recording.
#[derive(Clone, Debug)]
pub struct Status {
    /// Name of the profiler or, without a profiler, of the program.
    pub name: String,
    /// End of the recording, or live.
    pub ended: EndState,
    /// Numbers of events emitted, stored, folded and lost.
    pub totals: Totals,
    /// Events per second over the last second; `None` unless the recording is live.
    pub rate: Option<u64>,
    /// Time between the first and the last event in the window.
    pub window_ns: u64,
    /// Time since the recording began.
    pub whole_ns: u64,
    /// Number of parts that cannot be read.
    pub missing: usize,
    /// True if the clocks of the processes differ, so that the order of their events is uncertain.
    pub uncertain_order: bool,
    samples: VecDeque<(u64, u64)>,
}

/// Returns live as long as any process of the recording may add events.
fn ended(store: &Store) -> EndState {
    if store.grows() { EndState::Live } else { store.end_state() }
}

impl Status {
    /// Reads the status of a recording.
    pub fn new(store: &Store) -> Self {
        let mut status = Status {
            name: title(store),
            ended: ended(store),
            totals: store.totals(),
            rate: None,
            window_ns: 0,
            whole_ns: 0,
            missing: 0,
            uncertain_order: store.order_is_uncertain(),
            samples: VecDeque::new(),
        };
        status.read(store, 0);
        status
    }

    /// Reads the state again. `now_ns` counts from the start of the crawler.
    pub fn read(&mut self, store: &Store, now_ns: u64) {
        self.name = title(store);
        self.ended = ended(store);
        self.totals = store.totals();
        self.missing = store.missing().len();
        let header = store.header();
        self.whole_ns = store.time_ns(header.last_tick.max(header.first_tick));
        let newest = lanes::newest();
        let first = store.forward(Position::Start, &newest, 1, 4096).events;
        let last = store.backward(Position::End, &newest, 1, 4096).events;
        self.window_ns = match (first.first(), last.last()) {
            (Some(first), Some(last)) => {
                store.time_ns(last.start).saturating_sub(store.time_ns(first.start))
            }
            _ => 0,
        };
        // With several processes, the rate is measured between two readings with new events.
        let is_same =
            self.samples.back().is_some_and(|&(_, emitted)| emitted == self.totals.emitted);
        if is_same && !store.processes().is_empty() {
            return;
        }
        self.samples.push_back((now_ns, self.totals.emitted));
        while self.samples.len() > 2 && self.samples[1].0 + RATE_NS <= now_ns {
            self.samples.pop_front();
        }
        let &(since, before) = self.samples.front().unwrap_or(&(now_ns, self.totals.emitted));
        let passed = now_ns.saturating_sub(since);
        self.rate = (self.ended == EndState::Live && passed > 0).then(|| {
            let emitted = self.totals.emitted.saturating_sub(before);
            (emitted as u128 * 1_000_000_000 / passed as u128) as u64
        });
    }

    /// Explains why no events were stored although calls were recorded, and how to record events.
    pub fn only_counted(&self) -> Option<Vec<String>> {
        let counted = self.totals.emitted > 0 && self.totals.stored == 0 && self.totals.folded == 0;
        let how = "METASPY_MODE=full, or the mode full in the profiler, records events";
        counted.then(|| vec!["calls were only counted".into(), how.into()])
    }

    /// Returns the number of events that left the window.
    pub fn evicted(&self) -> u64 {
        self.totals.folded
    }
}
