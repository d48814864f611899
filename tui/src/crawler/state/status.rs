//! Where we are, and what to distrust.

use std::collections::VecDeque;

use metaspy_core::Store;
use metaspy_core::store::{Ended, Filter, Position, Totals};

use crate::text::clean;

/// How far the rate looks back.
const RATE_NS: u64 = 1_000_000_000;

/// What the line on top tells.
#[derive(Clone, Debug)]
pub struct Status {
    /// The program's name.
    pub name: String,
    /// How the recording stands.
    pub ended: Ended,
    /// What was emitted and where it went.
    pub totals: Totals,
    /// Events per second over the last second, of a live recording.
    pub rate: Option<u64>,
    /// How much time the events in the window span.
    pub window_ns: u64,
    /// How long the recording has been running.
    pub whole_ns: u64,
    /// What cannot be read of it.
    pub missing: usize,
    /// Whether it is of processes whose clocks differ, so that the order of their events is not sure.
    pub uncertain_order: bool,
    samples: VecDeque<(u64, u64)>,
}

/// What is looked at: the profilers that were installed, else the program.
fn name(store: &Store) -> String {
    let views = store.views();
    let name = match views {
        // Each process may have views of its own.
        _ if !store.processes().is_empty() => store.program().name.clone(),
        [] => store.program().name.clone(),
        [only] => only.view.name.clone(),
        [first, rest @ ..] if rest.iter().all(|it| it.view.name == first.view.name) => first.view.name.clone(),
        [.., last] => format!("{} and others", last.view.name),
    };
    clean(&name).into_owned()
}

impl Status {
    /// The status of a recording.
    pub fn new(store: &Store) -> Self {
        let mut status = Status {
            name: name(store),
            ended: store.ended(),
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

    /// Looks again; `now_ns` counts from when the crawler began.
    pub fn read(&mut self, store: &Store, now_ns: u64) {
        self.name = name(store);
        self.ended = store.ended();
        self.totals = store.totals();
        self.missing = store.missing().len();
        let header = store.header();
        self.whole_ns = store.time_ns(header.last_tick.max(header.first_tick));
        let all = Filter::all();
        let first = store.forward(Position::Start, &all, 1, 4096).events;
        let last = store.backward(Position::End, &all, 1, 4096).events;
        self.window_ns = match (first.first(), last.last()) {
            (Some(first), Some(last)) => store.time_ns(last.start).saturating_sub(store.time_ns(first.start)),
            _ => 0,
        };
        self.samples.push_back((now_ns, self.totals.emitted));
        while self.samples.len() > 2 && self.samples[1].0 + RATE_NS <= now_ns {
            self.samples.pop_front();
        }
        let &(since, before) = self.samples.front().unwrap_or(&(now_ns, self.totals.emitted));
        let passed = now_ns.saturating_sub(since);
        self.rate = (self.ended == Ended::Live && passed > 0).then(|| {
            let emitted = self.totals.emitted.saturating_sub(before);
            (emitted as u128 * 1_000_000_000 / passed as u128) as u64
        });
    }

    /// Events that happened and are no longer in the window.
    pub fn beyond_window(&self) -> u64 {
        self.totals.folded
    }
}
