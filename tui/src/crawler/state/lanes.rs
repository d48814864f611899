//! Lanes over time: the events of each thread, how busy it was, and where calls were lost. The time
//! can be zoomed from the whole window down to nanoseconds.

use std::collections::HashMap;

use metaspy_probe::SiteId;
use metaspy_reader::{Event, EventId, Filter, LaneId, Position, RecordedLane, Store};

use super::cursor::Cursor;
use super::filter_edit;
use super::table::Rows;
use crate::crawler::command::Zoom;
use crate::crawler::jobs::Progress;

/// Number of events that are read before and after the selected event.
const LOOK_AT: usize = 50_000;
/// Number of events that are tested between two checks for a stop.
const STRIDE: usize = 1 << 18;

/// Span of time, in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First tick.
    pub from: u64,
    /// Tick after the last tick.
    pub to: u64,
}

impl Span {
    fn ticks(self) -> u64 {
        self.to.saturating_sub(self.from).max(1)
    }

    /// Returns true if the span contains a tick.
    pub fn contains(self, tick: u64) -> bool {
        (self.from..self.to).contains(&tick)
    }

    /// Returns the column of a tick.
    pub fn column(self, tick: u64, columns: usize) -> usize {
        let at =
            u128::from(tick.saturating_sub(self.from)) * columns as u128 / u128::from(self.ticks());
        (at as usize).min(columns.saturating_sub(1))
    }

    /// Returns the first tick of a column.
    pub fn tick(self, column: usize, columns: usize) -> u64 {
        self.from + (u128::from(self.ticks()) * column as u128 / columns.max(1) as u128) as u64
    }

    /// Returns a part of `whole` with this length, with `tick` in its middle as far as possible.
    fn around(tick: u64, ticks: u64, whole: Span) -> Span {
        let ticks = ticks.clamp(1, whole.ticks());
        let from = tick.saturating_sub(ticks / 2).clamp(whole.from, whole.to - ticks);
        Span { from, to: from + ticks }
    }
}

/// Lane in a span of time.
#[derive(Clone, Debug)]
pub struct LaneRow {
    /// Lane as recorded.
    pub lane: RecordedLane,
    /// Number of events of the lane in this span.
    pub events: u64,
    /// Last event of the lane in this span.
    pub last: Option<Event>,
    /// Number of events that began in each column.
    pub columns: Vec<u32>,
    /// True for each column in which an event ran.
    pub busy: Vec<bool>,
    /// True for each column in which calls of the lane found no room as events.
    pub lost: Vec<bool>,
}

/// Lanes in a span of time.
#[derive(Clone, Debug)]
pub struct Lanes {
    /// Rows of the lanes, the busiest first, idle lanes last.
    pub rows: Vec<LaneRow>,
    /// Span that the columns divide.
    pub span: Span,
    /// Span of the whole window.
    pub whole: Span,
}

/// Part of the time to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Time around an event, or the end of the recording.
    Around(Option<EventId>),
    /// Exactly this span.
    Of(Span),
}

/// Reads the lanes; `None` if the job is stopped.
pub fn read(
    store: &Store,
    part: Part,
    columns: usize,
    filter: &Filter,
    progress: &Progress,
) -> Option<Lanes> {
    let whole = window(store);
    let (span, events) = match part {
        Part::Around(around) => events_around(store, around, filter),
        Part::Of(span) => (span, Vec::new()),
    };
    let mut drawing = Drawing::new(store, span, columns);
    events.into_iter().for_each(|event| drawing.add(event));
    if let Part::Of(span) = part {
        // Events that began earlier may still run in this span.
        let from = Position::At { tick: span.from };
        let earlier = store.backward(from, filter, LOOK_AT, LOOK_AT * 4).events;
        earlier.into_iter().for_each(|event| drawing.add(event));
        let mut next = Some(from);
        while let Some(at) = next {
            let page = store.forward(at, filter, STRIDE, STRIDE);
            let is_over = page.events.last().is_some_and(|event| event.start >= span.to);
            page.events.iter().for_each(|&event| drawing.add(event));
            if !progress.goes_on(page.looked_at) {
                return None;
            }
            next = page.more.filter(|_| !is_over);
        }
    }
    Some(Lanes { rows: drawing.rows(), span, whole })
}

/// Returns a filter of the newest events, without those that were kept when they left the window.
/// The kept ones are few and chosen, so they say nothing about how often something happens, or how
/// long it usually takes.
pub fn newest() -> Filter {
    "kept:no".parse().expect("it is a filter")
}

/// Returns the span of the newest events.
pub fn window(store: &Store) -> Span {
    let newest = newest();
    let first = store.forward(Position::Start, &newest, 1, STRIDE).events;
    let last = store.backward(Position::End, &newest, 1, STRIDE).events;
    match (first.first(), last.first()) {
        (Some(first), Some(last)) => {
            Span { from: first.start, to: last.start.max(first.start) + last.span.unwrap_or(0) + 1 }
        }
        _ => Span { from: 0, to: 1 },
    }
}

/// Returns the events before and after an event, and their span.
fn events_around(store: &Store, around: Option<EventId>, filter: &Filter) -> (Span, Vec<Event>) {
    let at = around.map_or(Position::End, Position::Event);
    let mut events = store.backward(at, filter, LOOK_AT, LOOK_AT * 4).events;
    events.extend(around.and_then(|id| store.event(id)));
    if around.is_some() {
        events.extend(store.forward(at, filter, LOOK_AT, LOOK_AT * 4).events);
    }
    let from = events.first().map_or(0, |event| event.start);
    let to = events.last().map_or(from, |event| event.start.max(from)) + 1;
    (Span { from, to }, events)
}

/// Lanes while their events are being added.
struct Drawing {
    rows: HashMap<LaneId, LaneRow>,
    /// For each lane and column, the number of events that begin to run there, minus those that end
    /// before it.
    running: HashMap<LaneId, Vec<i32>>,
    span: Span,
    columns: usize,
}

impl Drawing {
    fn new(store: &Store, span: Span, columns: usize) -> Self {
        let columns = columns.max(1);
        let row = |lane: RecordedLane| LaneRow {
            lane,
            events: 0,
            last: None,
            columns: vec![0; columns],
            busy: vec![false; columns],
            lost: vec![false; columns],
        };
        let mut rows: HashMap<LaneId, LaneRow> =
            store.lanes().into_iter().map(|lane| (lane.id, row(lane))).collect();
        let losses = if store.totals().lost > 0 { store.losses().times } else { Vec::new() };
        for loss in losses.into_iter().filter(|loss| loss.to >= span.from && loss.from < span.to) {
            if let Some(row) = rows.get_mut(&loss.lane) {
                row.lost[span.column(loss.from, columns)..=span.column(loss.to, columns)]
                    .fill(true);
            }
        }
        let running = rows.keys().map(|&lane| (lane, vec![0; columns + 1])).collect();
        Drawing { rows, running, span, columns }
    }

    fn add(&mut self, event: Event) {
        let (Some(row), Some(running)) =
            (self.rows.get_mut(&event.lane), self.running.get_mut(&event.lane))
        else {
            return;
        };
        let end = if event.is_running() {
            u64::MAX
        } else {
            event.start.saturating_add(event.span.unwrap_or(0))
        };
        if event.start >= self.span.to || end < self.span.from {
            return;
        }
        running[self.span.column(event.start, self.columns)] += 1;
        running[self.span.column(end, self.columns) + 1] -= 1;
        if event.start >= self.span.from {
            row.columns[self.span.column(event.start, self.columns)] += 1;
            row.events += 1;
            row.last = Some(event);
        }
    }

    fn rows(mut self) -> Vec<LaneRow> {
        for (lane, running) in self.running {
            let mut depth = 0;
            if let Some(row) = self.rows.get_mut(&lane) {
                for (busy, change) in row.busy.iter_mut().zip(running) {
                    depth += change;
                    *busy = depth > 0;
                }
            }
        }
        let mut rows: Vec<LaneRow> = self.rows.into_values().collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.events), row.lane.id));
        rows
    }
}

/// Screen of lanes.
#[derive(Clone, Debug, Default)]
pub struct LanesView {
    /// Lanes; `None` before the first reading.
    pub lanes: Option<Lanes>,
    /// Cursor over the lanes.
    pub cursor: Cursor,
    /// Column of the cursor in time; `None` until it is moved.
    pub column: Option<usize>,
    /// Number of columns of the time.
    pub columns: usize,
    /// Event around which the lanes are read; `None` for the end.
    pub around: Option<EventId>,
    /// Span that the user has zoomed to.
    pub zoomed: Option<Span>,
}

impl LanesView {
    /// Returns the lane under the cursor.
    pub fn current(&self) -> Option<&LaneRow> {
        self.lanes.as_ref()?.rows.get(self.cursor.row)
    }

    /// Returns the tick under the cursor; `None` until it is moved.
    pub fn tick(&self) -> Option<u64> {
        Some(self.span()?.tick(self.column?, self.columns))
    }

    /// Returns the part of the time that the screen needs.
    pub fn part(&self) -> Part {
        self.zoomed.map_or(Part::Around(self.around), Part::Of)
    }

    /// Returns the span of the last zoom, even before its lanes are read.
    fn span(&self) -> Option<Span> {
        self.zoomed.or(self.lanes.as_ref().map(|lanes| lanes.span))
    }

    /// Shows the result of a reading. The cursor stays on its lane.
    pub fn accept(&mut self, lanes: Lanes) {
        let lane = self.current().map(|row| row.lane.id);
        let at =
            lanes.rows.iter().position(|row| Some(row.lane.id) == lane).unwrap_or(self.cursor.row);
        self.cursor.select(at, lanes.rows.len());
        self.lanes = Some(lanes);
    }

    /// Zooms around the cursor, or moves it. Until it is moved, `+` and `-` zoom around the
    /// selected event if it is visible, and around the middle otherwise. Returns true if another
    /// span must be read.
    pub fn zoom(&mut self, zoom: Zoom, selected: Option<&Event>) -> bool {
        let (Some(lanes), Some(span)) = (&self.lanes, self.span()) else { return false };
        let whole = lanes.whole;
        let columns = self.columns.max(1);
        let whole = Span { from: whole.from.min(span.from), to: whole.to.max(span.to) };
        let selected =
            selected.map(|event| event.start).filter(|tick| (span.from..span.to).contains(tick));
        let selected = selected.filter(|_| matches!(zoom, Zoom::In | Zoom::Out));
        let column = self.column.unwrap_or(columns / 2);
        let middle = span.tick(column, columns) + span.ticks() / columns as u64 / 2;
        let tick = selected.filter(|_| self.column.is_none()).unwrap_or(middle);
        let next = match zoom {
            Zoom::Earlier | Zoom::Later => {
                let next =
                    if zoom == Zoom::Earlier { column.checked_sub(1) } else { Some(column + 1) };
                match next.filter(|&next| next < columns) {
                    Some(next) => {
                        self.column = Some(next);
                        return false;
                    }
                    // At an edge, the next quarter comes into view.
                    None => {
                        let quarter = (span.ticks() / 4).max(1);
                        let middle = span.from + span.ticks() / 2;
                        let middle = match zoom {
                            Zoom::Earlier => middle.saturating_sub(quarter),
                            _ => middle.saturating_add(quarter),
                        };
                        Span::around(middle, span.ticks(), whole)
                    }
                }
            }
            // A cell is at least one tick.
            Zoom::In => Span::around(tick, (span.ticks() / 2).max(columns as u64), whole),
            Zoom::Out => Span::around(tick, span.ticks().saturating_mul(2), whole),
            Zoom::Whole => whole,
        };
        // The cursor stays at its time. At the selected event it stays unset, so each further zoom
        // is around that event too.
        if self.column.is_some() || selected.is_none() {
            self.column = Some(next.column(tick, columns));
        }
        self.zoomed = Some(next);
        next != span
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
        self.lanes.as_ref().map_or(0, |lanes| lanes.rows.len())
    }

    fn discard(&mut self) {
        self.lanes = None;
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.lanes.as_ref().map_or(String::new(), |lanes| lanes.rows[row].lane.name.clone())
    }

    fn site(&self) -> Option<SiteId> {
        self.current()?.last.map(|event| event.site)
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        self.current().map(|row| filter_edit::lane_term(store, &row.lane))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zooming_in_and_out_keeps_the_time_under_the_cursor() {
        let span = Span { from: 1_000, to: 101_000 };
        let lanes = Lanes { rows: Vec::new(), span, whole: span };
        let mut view =
            LanesView { lanes: Some(lanes), columns: 50, column: Some(10), ..LanesView::default() };
        let tick = view.tick().expect("a cursor");
        for zoom in [Zoom::In, Zoom::In, Zoom::In, Zoom::Out] {
            // The lanes of the span have not been read yet.
            assert!(view.zoom(zoom, None));
            let span = view.zoomed.expect("a span");
            let cell = span.ticks() / 50;
            assert!(view.tick().expect("a cursor").abs_diff(tick) <= cell + 2_000, "{span:?}");
        }
        // The zoom ends at one tick for each cell.
        for _ in 0..30 {
            view.zoom(Zoom::In, None);
        }
        assert_eq!(view.zoomed.map(Span::ticks), Some(50));
        assert!(view.zoom(Zoom::Whole, None));
        assert_eq!(view.zoomed, Some(span));
    }

    #[test]
    fn the_cursor_moves_over_the_edge_into_the_next_quarter() {
        let whole = Span { from: 0, to: 1_000 };
        let lanes = Lanes { rows: Vec::new(), span: Span { from: 400, to: 500 }, whole };
        let mut view =
            LanesView { lanes: Some(lanes), columns: 10, column: Some(9), ..LanesView::default() };
        assert!(view.zoom(Zoom::Later, None));
        assert_eq!(view.zoomed, Some(Span { from: 425, to: 525 }));
        view.column = Some(5);
        assert!(!view.zoom(Zoom::Earlier, None));
        assert_eq!(view.column, Some(4));
    }
}
