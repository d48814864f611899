//! The lanes over time: what each thread did last, and how busy it was.

use std::collections::HashMap;

use metaspy_core::store::{Filter, Position, RecordedLane};
use metaspy_core::{Event, EventId, LaneId, SiteId, Store};

use super::cursor::Cursor;
use super::filter_edit;
use super::table::Rows;
use crate::crawler::jobs::Job;

/// Events that are read before and after the selected one.
const LOOK_AT: usize = 50_000;
/// Buckets of time of a lane.
pub const BUCKETS: usize = 60;

/// A lane and a span of its time.
#[derive(Clone, Debug)]
pub struct LaneRow {
    /// The lane.
    pub lane: RecordedLane,
    /// Its events in this span.
    pub events: u64,
    /// The last one among them.
    pub last: Option<Event>,
    /// Events in each bucket, oldest first.
    pub buckets: Vec<u32>,
    /// True for each bucket in which calls of the lane found no room as events.
    pub lost: Vec<bool>,
    /// Ticks of the span, the same for all lanes.
    pub ticks: u64,
}

impl LaneRow {
    fn new(lane: RecordedLane, ticks: u64) -> Self {
        LaneRow { lane, events: 0, last: None, buckets: vec![0; BUCKETS], lost: vec![false; BUCKETS], ticks }
    }
}

/// The lanes around an event, or at the end. The busiest lane comes first, idle ones last.
pub fn read(store: &Store, around: Option<EventId>, filter: &Filter) -> Vec<LaneRow> {
    let at = around.map_or(Position::End, Position::Event);
    let mut events = store.backward(at, filter, LOOK_AT, LOOK_AT * 4).events;
    events.extend(around.and_then(|id| store.event(id)));
    if around.is_some() {
        events.extend(store.forward(at, filter, LOOK_AT, LOOK_AT * 4).events);
    }
    let first = events.first().map_or(0, |event| event.start);
    let ticks = events.last().map_or(0, |event| event.start.saturating_sub(first)) + 1;
    let mut rows: HashMap<LaneId, LaneRow> =
        (store.lanes().into_iter()).map(|lane| (lane.id, LaneRow::new(lane, ticks))).collect();
    let bucket = |tick: u64| {
        let piece = tick.saturating_sub(first) as u128 * BUCKETS as u128 / ticks as u128;
        (piece as usize).min(BUCKETS - 1)
    };
    let losses = if store.totals().lost > 0 { store.losses().times } else { Vec::new() };
    for loss in losses.into_iter().filter(|loss| loss.to >= first && loss.from <= first.saturating_add(ticks)) {
        if let Some(row) = rows.get_mut(&loss.lane) {
            row.lost[bucket(loss.from)..=bucket(loss.to)].fill(true);
        }
    }
    for event in events {
        let Some(row) = rows.get_mut(&event.lane) else { continue };
        row.buckets[bucket(event.start)] += 1;
        row.events += 1;
        row.last = Some(event);
    }
    let mut rows: Vec<LaneRow> = rows.into_values().collect();
    rows.sort_by_key(|row| (std::cmp::Reverse(row.events), row.lane.id));
    rows
}

/// The screen of lanes.
#[derive(Clone, Debug, Default)]
pub struct LanesView {
    /// The lanes. `None` before the first reading.
    pub rows: Option<Vec<LaneRow>>,
    /// The cursor.
    pub cursor: Cursor,
    /// Time of the last reading, in ns since the crawler began.
    pub read_ns: u64,
    /// The event around which the lanes are read; `None` for the end.
    pub around: Option<EventId>,
}

impl LanesView {
    /// The lane under the cursor.
    pub fn current(&self) -> Option<&LaneRow> {
        self.rows.as_ref()?.get(self.cursor.row)
    }

    /// Shows what a job has read. The cursor stays on its lane.
    pub fn accept(&mut self, rows: Vec<LaneRow>, now_ns: u64) {
        let lane = self.current().map(|row| row.lane.id);
        let at = rows.iter().position(|row| Some(row.lane.id) == lane).unwrap_or(self.cursor.row);
        self.cursor.select(at, rows.len());
        self.rows = Some(rows);
        self.read_ns = now_ns;
    }
}

impl Rows for LanesView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.rows.as_ref().map_or(0, Vec::len)
    }

    fn read_ns(&self) -> u64 {
        self.read_ns
    }

    fn discard(&mut self) {
        self.rows = None;
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.rows.as_ref().map_or(String::new(), |rows| rows[row].lane.name.clone())
    }

    fn site(&self) -> Option<SiteId> {
        self.current()?.last.map(|event| event.site)
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        self.current().map(|row| filter_edit::lane_term(store, &row.lane))
    }

    fn job(&self, filter: Filter) -> Job {
        Job::Lanes { around: self.around, filter }
    }
}
