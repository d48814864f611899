//! List of events: it holds rows around the visible part, and never the whole recording.
//!
//! Follow mode selects the newest event, and ends when the user moves. If the selection stayed
//! while the rows move, list and pane would show different moments.

use metaspy_probe::Subject;
use metaspy_reader::{Event, EventId, Filter, Page, Position, Store};

use crate::crawler::command::Step;
use crate::crawler::jobs::Progress;

/// Number of slots that a key may scan before a job continues the search. Two such scans, one at
/// each end, take less than a frame even on a busy machine.
const BUDGET: usize = 30_000;
/// Number of slots that a job scans between two checks for a stop.
const STRIDE: usize = 1 << 18;
/// Number of events of the same subject that are listed before and after the selected event.
const AROUND: usize = 60;
/// Maximum number of rows that are kept.
const KEPT: usize = 600;

/// Row of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventRow {
    /// Event at the last reading.
    pub event: Event,
    /// True if the event left the window. Its last state is shown, and cannot be read again.
    pub gone: bool,
}

/// State of the recording beyond an end of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edge {
    /// There were no more rows at the last reading.
    End,
    /// There may be more rows from this position on.
    More(Position),
    /// A job searches for more rows.
    Searching(Position),
}

/// End of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Older end, at the top.
    Before,
    /// Newer end, at the bottom.
    After,
}

/// Part of the events that pass the filter, in order of time.
#[derive(Clone, Debug)]
pub struct EventList {
    /// Rows, oldest first.
    pub rows: Vec<EventRow>,
    /// Index of the first visible row.
    pub top: usize,
    /// Event in the right pane. It may be outside the rows.
    pub selected: Option<Event>,
    /// State before the first row.
    pub before: Edge,
    /// State after the last row.
    pub after: Edge,
    /// True in follow mode, which shows the newest rows and selects the last of them.
    pub follow: bool,
    /// Number of visible rows.
    pub height: usize,
}

impl EventList {
    /// Creates an empty list.
    pub fn new(height: usize) -> Self {
        let edge = Edge::End;
        EventList {
            rows: Vec::new(),
            top: 0,
            selected: None,
            before: edge,
            after: edge,
            follow: false,
            height,
        }
    }

    /// Returns the visible rows.
    pub fn visible(&self) -> &[EventRow] {
        let top = self.top.min(self.rows.len());
        &self.rows[top..(top + self.height).min(self.rows.len())]
    }

    /// Returns the index of the selected event, if it is among the rows.
    pub fn cursor(&self) -> Option<usize> {
        let id = self.selected?.id;
        self.rows.iter().position(|row| row.event.id == id)
    }

    /// Returns the selected event, if it is not visible.
    pub(crate) fn offscreen_selection(&self) -> Option<Event> {
        self.selected.filter(|event| self.visible().iter().all(|row| row.event.id != event.id))
    }

    /// Returns true if the newest row is visible.
    pub(crate) fn shows_end(&self) -> bool {
        self.after == Edge::End && self.top + self.height >= self.rows.len()
    }

    /// Shows the first events.
    pub(crate) fn load_start(&mut self, store: &Store, filter: &Filter) {
        self.reset(Edge::End, Edge::More(Position::Start));
        self.fill(store, filter);
        self.selected = self.rows.first().map(|row| row.event);
    }

    /// Shows the last events.
    pub(crate) fn load_end(&mut self, store: &Store, filter: &Filter) {
        self.reset(Edge::More(Position::End), Edge::End);
        self.fill(store, filter);
        self.top = self.rows.len().saturating_sub(self.height);
        self.selected = self.rows.last().map(|row| row.event);
    }

    /// Shows an event and the events around it. If it is visible, only the selection moves.
    pub(crate) fn load_around(&mut self, store: &Store, filter: &Filter, event: Event) {
        self.follow = false;
        self.selected = Some(event);
        if self.visible().iter().any(|row| row.event.id == event.id) {
            return;
        }
        let at = Position::Event(event.id);
        self.reset(Edge::More(at), Edge::More(at));
        self.selected = Some(event);
        self.rows.push(EventRow { event, gone: false });
        // A third of the screen shows earlier events.
        self.extend(store, filter, Side::Before, self.height);
        let place = self.rows.len() - 1;
        self.top = place.saturating_sub(self.height / 3);
        self.fill(store, filter);
    }

    /// Moves the selection, and loads the rows that become visible. At the end of a live recording,
    /// follow mode begins.
    pub fn step(&mut self, store: &Store, filter: &Filter, step: Step) {
        self.follow = step == Step::Last && store.grows();
        match step {
            Step::First => return self.load_start(store, filter),
            Step::Last => return self.load_end(store, filter),
            _ => {}
        }
        let cursor = match self.cursor() {
            Some(cursor) => cursor,
            // The selection is far from the visible rows, so the movement starts at the last
            // visible row.
            None => {
                (self.top + self.height.saturating_sub(1)).min(self.rows.len().saturating_sub(1))
            }
        };
        let page = self.height.max(2) - 1;
        let cursor = match step {
            Step::Up | Step::PageUp => {
                let want = if step == Step::Up { 1 } else { page };
                let missing = want.saturating_sub(cursor);
                let added = if missing > 0 {
                    self.extend(store, filter, Side::Before, self.height.max(missing))
                } else {
                    0
                };
                (cursor + added).saturating_sub(want)
            }
            _ => {
                let want = if step == Step::Down { 1 } else { page };
                if cursor + want >= self.rows.len() {
                    self.extend(store, filter, Side::After, self.height.max(want));
                }
                (cursor + want).min(self.rows.len().saturating_sub(1))
            }
        };
        self.top = self.top.clamp((cursor + 1).saturating_sub(self.height.max(1)), cursor);
        self.selected = self.rows.get(cursor).map(|row| row.event);
        self.fill(store, filter);
    }

    /// Scrolls by this many rows. The selection stays on its event.
    pub fn scroll(&mut self, store: &Store, filter: &Filter, by: isize) {
        self.follow = false;
        let want = by.unsigned_abs();
        if by < 0 {
            if want > self.top {
                self.extend(store, filter, Side::Before, self.height.max(want));
            }
            self.top = self.top.saturating_sub(want);
        } else {
            if self.top + self.height + want > self.rows.len() {
                self.extend(store, filter, Side::After, self.height.max(want));
            }
            self.top = (self.top + want).min(self.rows.len().saturating_sub(self.height));
        }
        self.trim();
    }

    /// Selects the row at this line of the screen.
    pub(crate) fn select_line(&mut self, line: usize) {
        // The first line shows the selected event that scrolled away.
        if line == 0 && self.offscreen_selection().is_some() {
            return;
        }
        if let Some(row) = self.visible().get(line) {
            self.selected = Some(row.event);
            self.follow = false;
        }
    }

    /// Reads a live recording again: visible events may have ended or left the window, and further
    /// events may have arrived.
    pub fn refresh(&mut self, store: &Store, filter: &Filter) {
        if self.height == 0 {
            // Nothing is visible; the rows are kept until the screen is larger.
            return;
        }
        if self.follow {
            self.load_newest(store, filter);
        } else if self.after == Edge::End && self.shows_end() {
            self.after = Edge::More(self.end(store));
            self.fill(store, filter);
        }
        let seen = self.top.min(self.rows.len())..(self.top + self.height).min(self.rows.len());
        for row in &mut self.rows[seen] {
            match store.event(row.event.id) {
                Some(event) => *row = EventRow { event, gone: false },
                None => row.gone = true,
            }
        }
        if let Some(selected) = &mut self.selected
            && let Some(event) = store.event(selected.id)
        {
            *selected = event;
        }
        if self.selected.is_none() {
            self.selected = self.rows.first().map(|row| row.event);
        }
    }

    /// Shows the newest rows, and selects the last row.
    fn load_newest(&mut self, store: &Store, filter: &Filter) {
        let page = store.backward(Position::End, filter, self.height, BUDGET);
        if page.events.len() >= self.height || page.more.is_none() {
            let selected = self.selected;
            self.reset(Edge::End, Edge::End);
            self.add_page(Side::Before, &page, self.height);
            // All events may have left the window, or may not pass a new filter.
            self.selected = selected;
        } else if self.after == Edge::End {
            // Few events pass the filter: a search for a full screen of them would take too long
            // each time.
            self.after = Edge::More(self.end(store));
            self.extend(store, filter, Side::After, self.height);
        }
        self.top = self.rows.len().saturating_sub(self.height);
        self.selected = self.rows.last().map(|row| row.event).or(self.selected);
        self.trim();
    }

    /// Adds the rows that a job has found.
    pub fn accept(&mut self, side: Side, page: &Page) {
        let found = page.events.len();
        self.add_page(side, page, found);
        if self.selected.is_none() && found > 0 {
            self.selected = self.rows.last().map(|row| row.event);
            self.top = self.rows.len().saturating_sub(self.height);
        }
    }

    /// Ends searches that failed.
    pub(crate) fn cancel_searches(&mut self) {
        for edge in [&mut self.before, &mut self.after] {
            if let Edge::Searching(_) = edge {
                *edge = Edge::End;
            }
        }
    }

    /// Returns the search that a job has to continue: its end of the list, and its position.
    pub(crate) fn pending_search(&self) -> Option<(Side, Position)> {
        match (self.after, self.before) {
            (Edge::Searching(at), _) => Some((Side::After, at)),
            (_, Edge::Searching(at)) => Some((Side::Before, at)),
            _ => None,
        }
    }

    /// Fills the screen: first below the rows, then above them.
    pub fn fill(&mut self, store: &Store, filter: &Filter) {
        let below = (self.top + self.height).saturating_sub(self.rows.len());
        if below > 0 {
            self.extend(store, filter, Side::After, below);
        }
        let missing = self.height.saturating_sub(self.rows.len());
        if missing > 0 {
            self.extend(store, filter, Side::Before, missing);
            self.top = 0;
        }
        self.top = self.top.min(self.rows.len().saturating_sub(self.height));
        self.trim();
    }

    /// Loads up to `want` rows at an end, and returns their number.
    fn extend(&mut self, store: &Store, filter: &Filter, side: Side, want: usize) -> usize {
        let edge = if side == Side::Before { self.before } else { self.after };
        let Edge::More(from) = edge else { return 0 };
        let page = match side {
            Side::Before => store.backward(from, filter, want, BUDGET),
            Side::After => store.forward(from, filter, want, BUDGET),
        };
        self.add_page(side, &page, want)
    }

    fn add_page(&mut self, side: Side, page: &Page, want: usize) -> usize {
        let edge = match page.more {
            None => Edge::End,
            Some(at) if page.events.len() >= want => Edge::More(at),
            Some(at) => Edge::Searching(at),
        };
        let rows = page.events.iter().map(|&event| EventRow { event, gone: false });
        match side {
            Side::Before => {
                self.rows.splice(0..0, rows);
                self.before = edge;
                self.top += page.events.len();
            }
            Side::After => {
                self.rows.extend(rows);
                self.after = edge;
            }
        }
        page.events.len()
    }

    /// Returns the position of new events.
    fn end(&self, store: &Store) -> Position {
        match self.rows.last() {
            Some(row) if store.event(row.event.id).is_some() => Position::Event(row.event.id),
            Some(row) => Position::At { tick: row.event.start + 1 },
            None => Position::Start,
        }
    }

    fn reset(&mut self, before: Edge, after: Edge) {
        *self = EventList { before, after, follow: self.follow, ..EventList::new(self.height) };
    }

    /// Discards rows that are far from the visible rows.
    pub fn trim(&mut self) {
        if self.rows.len() <= KEPT {
            return;
        }
        let from = self.top.saturating_sub(KEPT / 3);
        let to = (self.top + self.height + KEPT / 3).min(self.rows.len());
        if to < self.rows.len() {
            self.after = Edge::More(Position::Event(self.rows[to - 1].event.id));
            self.rows.truncate(to);
        }
        if from > 0 {
            self.before = Edge::More(Position::Event(self.rows[from].event.id));
            self.rows.drain(..from);
            self.top -= from;
        }
    }

    /// Returns the id of the selected event.
    pub(crate) fn selected_id(&self) -> Option<EventId> {
        self.selected.map(|event| event.id)
    }
}

/// Finds up to `want` events before or after a position. A search that is stopped returns those
/// found so far.
pub fn scan(
    store: &Store,
    side: Side,
    from: Position,
    filter: &Filter,
    want: usize,
    progress: &Progress,
) -> Page {
    let mut found = Page { events: Vec::new(), more: Some(from), looked_at: 0 };
    while let Some(at) = found.more
        && found.events.len() < want
        && !progress.is_stopped()
    {
        let missing = want - found.events.len();
        let mut page = match side {
            Side::Before => store.backward(at, filter, missing, STRIDE),
            Side::After => store.forward(at, filter, missing, STRIDE),
        };
        progress.goes_on(page.looked_at);
        found.looked_at += page.looked_at;
        found.more = page.more;
        if side == Side::Before {
            std::mem::swap(&mut page.events, &mut found.events);
        }
        found.events.append(&mut page.events);
    }
    found
}

/// Reads the events of a subject around one of its events, oldest first.
pub(crate) fn same_subject(
    store: &Store,
    id: EventId,
    subject: Subject,
    progress: &Progress,
) -> Vec<Event> {
    let filter = Filter::subject(subject);
    let mut events =
        scan(store, Side::Before, Position::Event(id), &filter, AROUND, progress).events;
    events.extend(store.event(id));
    events.extend(scan(store, Side::After, Position::Event(id), &filter, AROUND, progress).events);
    events
}
