//! The lanes over time: what each thread did last, and how busy it was.

use std::collections::HashMap;

use metaspy_core::store::{Filter, LaneText, Position};
use metaspy_core::{Event, EventId, LaneId, Store};

use crate::crawler::command::Step;

/// Events that are looked at on either side.
const LOOK_AT: usize = 50_000;
/// Pieces of the strip of a lane.
pub const BUCKETS: usize = 60;

/// A lane with the last stretch of its time.
#[derive(Clone, Debug)]
pub struct LaneRow {
    /// The lane.
    pub lane: LaneText,
    /// Its events in the stretch.
    pub events: u64,
    /// The last of them.
    pub last: Option<Event>,
    /// Events in each piece of the stretch, oldest first.
    pub buckets: Vec<u32>,
    /// Ticks that the stretch is long, for all lanes the same.
    pub ticks: u64,
}

/// The lanes around an event, or at the end: the busiest first, then those that did nothing there.
pub fn read(store: &Store, around: Option<EventId>, filter: &Filter) -> Vec<LaneRow> {
    let at = around.map_or(Position::End, Position::Event);
    let mut events = store.backward(at, filter, LOOK_AT, LOOK_AT * 4).events;
    events.extend(around.and_then(|id| store.event(id)));
    if around.is_some() {
        events.extend(store.forward(at, filter, LOOK_AT, LOOK_AT * 4).events);
    }
    let first = events.first().map_or(0, |event| event.start);
    let ticks = events.last().map_or(0, |event| event.start.saturating_sub(first)) + 1;
    let mut rows: HashMap<LaneId, LaneRow> = (store.lanes().into_iter())
        .map(|lane| (lane.id, LaneRow { lane, events: 0, last: None, buckets: vec![0; BUCKETS], ticks }))
        .collect();
    for event in events {
        let Some(row) = rows.get_mut(&event.lane) else { continue };
        let piece = event.start.saturating_sub(first) as u128 * BUCKETS as u128 / ticks as u128;
        row.buckets[(piece as usize).min(BUCKETS - 1)] += 1;
        row.events += 1;
        row.last = Some(event);
    }
    let mut rows: Vec<LaneRow> = rows.into_values().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.events), row.lane.id));
    rows
}

/// The lanes as they are seen.
#[derive(Clone, Debug, Default)]
pub struct LanesView {
    /// The lanes. `None` before the first look.
    pub rows: Option<Vec<LaneRow>>,
    /// The row under the cursor.
    pub cursor: usize,
    /// The first row that is seen.
    pub top: usize,
    /// Rows that are seen at once.
    pub height: usize,
    /// When they were read, in ns since the crawler began.
    pub read_ns: u64,
}

impl LanesView {
    /// The lane under the cursor.
    pub fn current(&self) -> Option<&LaneRow> {
        self.rows.as_ref()?.get(self.cursor)
    }

    /// Moves the cursor.
    pub fn step(&mut self, step: Step) {
        let len = self.rows.as_ref().map_or(0, Vec::len);
        self.select(step.apply(self.cursor, len, self.height));
    }

    /// Puts the cursor on a row.
    pub fn select(&mut self, at: usize) {
        self.cursor = at.min(self.rows.as_ref().map_or(0, Vec::len).saturating_sub(1));
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(self.height.max(1)), self.cursor);
    }

    /// Takes in new rows; the cursor stays on its lane.
    pub fn accept(&mut self, rows: Vec<LaneRow>, now_ns: u64) {
        let lane = self.current().map(|row| row.lane.id);
        let at = rows.iter().position(|row| Some(row.lane.id) == lane).unwrap_or(self.cursor);
        self.rows = Some(rows);
        self.read_ns = now_ns;
        self.select(at);
    }

    /// The next lane whose name has `text` in it.
    pub fn find(&mut self, text: &str) -> bool {
        let text = text.to_lowercase();
        let Some(rows) = &self.rows else { return false };
        let found = (1..=rows.len()).map(|by| (self.cursor + by) % rows.len());
        let found = found.into_iter().find(|&at| rows[at].lane.name.to_lowercase().contains(&text));
        found.inspect(|&at| self.select(at)).is_some()
    }
}
