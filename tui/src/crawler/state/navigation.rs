//! Walks: from an event to its cause, its effects, its subject, and back.

use metaspy_core::store::{Filter, Position};
use metaspy_core::{Event, EventId, Subject};

use super::pane::{Content, Tab, causes};
use super::table::Rows;
use super::{Crawler, Request, filter_edit};
use crate::crawler::command::Screen;
use crate::crawler::layout::Focus;

/// Events that are looked at for the nearest one of a subject: within a frame.
const BUDGET: usize = 200_000;

impl Crawler {
    /// Goes to an event, wherever it stands, and remembers where from.
    pub fn go_to(&mut self, event: Event) {
        self.history.leave(&self.view);
        self.view.screen = Screen::Events;
        if !self.view.filter.matches(&self.store, &event) {
            self.message = Some(format!("filter `{}` put aside; Backspace brings it back", self.view.filter.text()));
            self.view.filter = Filter::all();
            self.view.count = None;
            // What stands around it is another list now.
            self.view.list.rows.clear();
        }
        self.view.list.load_around(&self.store, &self.view.filter, event);
    }

    fn go_to_id(&mut self, id: EventId) {
        match self.store.event(id) {
            Some(event) => self.go_to(event),
            None => self.message = Some(format!("event {id} left the window: only its count is known")),
        }
    }

    pub(super) fn go_to_cause(&mut self) {
        let Some(event) = self.view.list.selected else { return };
        match event.cause {
            Some(cause) => match self.store.remote_cause(&event) {
                Some(remote) => self.message = Some(causes::elsewhere(remote)),
                None => self.go_to_id(cause),
            },
            None => self.message = Some("a root: no recorded event caused it".into()),
        }
    }

    /// Into the tree of effects; there, on to the event of the row.
    pub(super) fn go_to_effects(&mut self) {
        if self.view.pane.has_focus() && self.view.pane.tab == Tab::Effects {
            self.enter_pane_row();
            return;
        }
        if self.view.list.selected.is_none() {
            return;
        }
        self.view.pane.focus = Focus::Pane;
        self.open_tab(Tab::Effects);
    }

    /// All events of the selected event's subject.
    pub(super) fn go_to_subject(&mut self) {
        match self.view.list.selected.map(|event| event.subject) {
            Some(Some(subject)) => {
                self.add_filter_term(&Filter::all(), &filter_edit::subject_term(&self.store, subject))
            }
            Some(None) => self.message = Some("this event is about no subject".into()),
            None => {}
        }
    }

    /// Does what the row under the pane's cursor stands for.
    pub(super) fn enter_pane_row(&mut self) {
        match self.view.pane.current().map(|row| row.content.clone()) {
            Some(Content::Event(event)) => self.go_to_id(event.id),
            Some(Content::Subject(subject)) => self.go_to_events_of(subject),
            _ => {}
        }
    }

    /// The nearest event of a subject before the selected one, else the first after it; in the tab of the same subject.
    fn go_to_events_of(&mut self, subject: Subject) {
        let filter = Filter::subject(subject);
        let at = self.view.list.selected_id().map_or(Position::End, Position::Event);
        let before = self.store.backward(at, &filter, 1, BUDGET).events;
        let found =
            before.first().copied().or_else(|| self.store.forward(at, &filter, 1, BUDGET).events.first().copied());
        match found {
            Some(event) => self.go_to(event),
            None => self.message = Some("no event of it nearby; `f` with `subject:` looks through all".into()),
        }
    }

    /// Shows the events that pass `filter` and the term, the selection staying if it passes.
    pub(super) fn add_filter_term(&mut self, filter: &Filter, term: &str) {
        match filter_edit::with_term(filter, term) {
            Err(_) => self.message = Some("these events cannot be asked for by a filter".into()),
            Ok(filter) if self.view.screen == Screen::Events && filter == self.view.filter => {
                self.message = Some(format!("these are all events of `{term}` already; Backspace goes back"));
            }
            Ok(filter) => {
                self.history.leave(&self.view);
                self.view.screen = Screen::Events;
                self.set_filter(filter);
            }
        }
    }

    /// Changes the filter, and looks again at whatever is open.
    pub(super) fn set_filter(&mut self, filter: Filter) {
        self.view.filter = filter;
        self.view.count = None;
        let (store, filter, list) = (&self.store, &self.view.filter, &mut self.view.list);
        match list.selected.filter(|event| store.event(event.id).is_some() && filter.matches(store, event)) {
            Some(event) => {
                list.rows.clear();
                list.load_around(store, filter, event);
            }
            None if list.follow => list.load_end(store, filter),
            None => list.load_start(store, filter),
        }
        self.queue_count();
        self.stop_rows();
        self.view.all_rows().into_iter().for_each(Rows::discard);
        self.queue_screen();
    }

    /// Opens the source of the selected event, or of the site under the cursor.
    pub(super) fn open_source(&mut self) -> Option<Request> {
        let site = match self.view.rows() {
            Some(rows) => rows.site(),
            None => self.view.list.selected.map(|event| event.site),
        };
        let site = site.and_then(|site| self.store.site(site));
        match site {
            Some(site) if !site.file.is_empty() => Some(Request::Edit { file: site.file.clone(), line: site.lines.0 }),
            _ => {
                self.message = Some("no source is known for this".into());
                None
            }
        }
    }
}
