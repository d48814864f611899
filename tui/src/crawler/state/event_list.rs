//! The list of events: a stretch of rows around what is seen, and never the whole recording.

use metaspy_core::store::{Filter, Page, Position};
use metaspy_core::{Event, EventId, Store};

use crate::crawler::command::Step;

/// Slots that one key may look at before the search goes on beside the screen: well below a frame.
const BUDGET: usize = 100_000;
/// Rows that are kept at most.
const KEPT: usize = 600;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The event, as it was when it was last looked at.
    pub event: Event,
    /// The window went past it: what is shown was true, and cannot be looked up again.
    pub gone: bool,
}

/// What lies behind an end of the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Edge {
    /// Nothing, as far as anybody has looked.
    End,
    /// More rows, perhaps, from here on.
    More(Position),
    /// A search for them goes on beside the screen.
    Searching(Position),
}

/// Which end of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The older one, at the top.
    Before,
    /// The newer one, at the bottom.
    After,
}

/// A stretch of the events that the filter lets through, in order of time.
#[derive(Clone, Debug)]
pub struct EventList {
    /// The rows, oldest first.
    pub rows: Vec<Row>,
    /// The first row that is seen.
    pub top: usize,
    /// The event that the right pane is about. It may stand request of the rows.
    pub selected: Option<Event>,
    /// What lies above the rows.
    pub before: Edge,
    /// What lies below them.
    pub after: Edge,
    /// Whether the newest rows run through, the selection staying on its event.
    pub follow: bool,
    /// Rows that are seen at once.
    pub height: usize,
}

impl EventList {
    /// An empty list, nothing looked at yet.
    pub fn new(height: usize) -> Self {
        let edge = Edge::End;
        EventList { rows: Vec::new(), top: 0, selected: None, before: edge, after: edge, follow: false, height }
    }

    /// The rows that are seen.
    pub fn visible(&self) -> &[Row] {
        let top = self.top.min(self.rows.len());
        &self.rows[top..(top + self.height).min(self.rows.len())]
    }

    /// The place of the selected event among the rows, if it stands there.
    pub fn cursor(&self) -> Option<usize> {
        let id = self.selected?.id;
        self.rows.iter().position(|row| row.event.id == id)
    }

    /// The selected event, if none of the rows that are seen is about it.
    pub fn offscreen_selection(&self) -> Option<Event> {
        self.selected.filter(|event| self.visible().iter().all(|row| row.event.id != event.id))
    }

    /// Whether the newest row is seen.
    pub fn shows_end(&self) -> bool {
        self.after == Edge::End && self.top + self.height >= self.rows.len()
    }

    /// Shows the first events.
    pub fn load_start(&mut self, store: &Store, filter: &Filter) {
        self.reset(Edge::End, Edge::More(Position::Start));
        self.fill(store, filter);
        self.selected = self.rows.first().map(|row| row.event);
    }

    /// Shows the last events.
    pub fn load_end(&mut self, store: &Store, filter: &Filter) {
        self.reset(Edge::More(Position::End), Edge::End);
        self.fill(store, filter);
        self.top = self.rows.len().saturating_sub(self.height);
        self.selected = self.rows.last().map(|row| row.event);
    }

    /// Shows an event and what stands around it. If it is seen already, nothing moves but the selection.
    pub fn load_around(&mut self, store: &Store, filter: &Filter, event: Event) {
        self.follow = false;
        self.selected = Some(event);
        if self.visible().iter().any(|row| row.event.id == event.id) {
            return;
        }
        let at = Position::Event(event.id);
        self.reset(Edge::More(at), Edge::More(at));
        self.selected = Some(event);
        self.rows.push(Row { event, gone: false });
        // A third of the screen above it: what led to it matters, what followed is read on.
        self.extend(store, filter, Side::Before, self.height);
        let place = self.rows.len() - 1;
        self.top = place.saturating_sub(self.height / 3);
        self.fill(store, filter);
    }

    /// Moves the selection; loads what comes into sight.
    pub fn step(&mut self, store: &Store, filter: &Filter, step: Step) {
        self.follow = false;
        match step {
            Step::First => return self.load_start(store, filter),
            Step::Last => return self.load_end(store, filter),
            _ => {}
        }
        let cursor = match self.cursor() {
            Some(cursor) => cursor,
            // The selection ran out of sight while the list followed: begin where the eye is.
            None => (self.top + self.height.saturating_sub(1)).min(self.rows.len().saturating_sub(1)),
        };
        let page = self.height.max(2) - 1;
        let cursor = match step {
            Step::Up | Step::PageUp => {
                let want = if step == Step::Up { 1 } else { page };
                let missing = want.saturating_sub(cursor);
                let added =
                    if missing > 0 { self.extend(store, filter, Side::Before, self.height.max(missing)) } else { 0 };
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

    /// Selects the row at this line of the screen.
    pub fn select_line(&mut self, line: usize) {
        // The first line is taken by what is selected and out of sight.
        if line == 0 && self.offscreen_selection().is_some() {
            return;
        }
        if let Some(row) = self.visible().get(line) {
            self.selected = Some(row.event);
            self.follow = false;
        }
    }

    /// Looks again at a live recording: what is seen may have ended or gone, and more may have come.
    pub fn refresh(&mut self, store: &Store, filter: &Filter) {
        if self.height == 0 {
            // Nobody sees anything: what was seen is kept for when somebody does.
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
                Some(event) => *row = Row { event, gone: false },
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

    /// The newest rows, the selection staying on its event.
    fn load_newest(&mut self, store: &Store, filter: &Filter) {
        let page = store.backward(Position::End, filter, self.height, BUDGET);
        if page.events.len() >= self.height || page.more.is_none() {
            let selected = self.selected;
            self.reset(Edge::End, Edge::End);
            self.take(Side::Before, &page, self.height);
            self.selected = selected;
        } else if self.after == Edge::End {
            // Few events pass the filter: to look for a whole screen of them each time would never end.
            self.after = Edge::More(self.end(store));
            self.extend(store, filter, Side::After, self.height);
        }
        self.top = self.rows.len().saturating_sub(self.height);
        self.selected = self.selected.or(self.rows.last().map(|row| row.event));
        self.trim();
    }

    /// Takes in what a search beside the screen has found.
    pub fn accept(&mut self, side: Side, page: &Page) {
        let found = page.events.len();
        self.take(side, page, found);
        if self.selected.is_none() && found > 0 {
            self.selected = self.rows.last().map(|row| row.event);
            self.top = self.rows.len().saturating_sub(self.height);
        }
    }

    /// Ends searches that failed.
    pub fn cancel_searches(&mut self) {
        for edge in [&mut self.before, &mut self.after] {
            if let Edge::Searching(_) = edge {
                *edge = Edge::End;
            }
        }
    }

    /// A search that has to go on beside the screen: which end, and from where.
    pub fn pending_search(&self) -> Option<(Side, Position)> {
        match (self.after, self.before) {
            (Edge::Searching(at), _) => Some((Side::After, at)),
            (_, Edge::Searching(at)) => Some((Side::Before, at)),
            _ => None,
        }
    }

    /// Fills the screen: below what is there, then above it.
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

    /// Loads up to `want` rows at one end; how many came.
    fn extend(&mut self, store: &Store, filter: &Filter, side: Side, want: usize) -> usize {
        let edge = if side == Side::Before { self.before } else { self.after };
        let Edge::More(from) = edge else { return 0 };
        let page = match side {
            Side::Before => store.backward(from, filter, want, BUDGET),
            Side::After => store.forward(from, filter, want, BUDGET),
        };
        self.take(side, &page, want)
    }

    fn take(&mut self, side: Side, page: &Page, want: usize) -> usize {
        let edge = match page.more {
            None => Edge::End,
            Some(at) if page.events.len() >= want => Edge::More(at),
            Some(at) => Edge::Searching(at),
        };
        let rows = page.events.iter().map(|&event| Row { event, gone: false });
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

    /// Where new events will follow.
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

    /// Forgets rows far from what is seen.
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

    /// The id of the selected event.
    pub fn selected_id(&self) -> Option<EventId> {
        self.selected.map(|event| event.id)
    }
}
