//! Navigation from an event to its cause, its effects and its subject.

use metaspy_probe::Subject;
use metaspy_reader::{Event, EventId, Filter, Position};
use metaspy_report::findings::Findings;

use super::pane::graph::Target;
use super::pane::{Content, causes};
use super::table::Rows;
use super::{Crawler, Request, filter_edit, functions, name};
use crate::crawler::command::{Screen, Tab};
use crate::crawler::jobs::Slot;

/// Maximum number of events that are scanned for the nearest event of a subject. This takes less
/// than a frame.
const BUDGET: usize = 200_000;

impl Crawler {
    /// Goes to an event, and stores the view for the way back.
    pub fn go_to(&mut self, event: Event) {
        self.history.leave(&self.view);
        self.view.screen = Screen::Events;
        if !self.view.filter.matches(&self.store, &event) {
            self.message = Some(format!(
                "filter `{}` removed; Backspace restores it",
                self.view.filter.text()
            ));
            self.view.filter = Filter::all();
            self.view.count = None;
            // Without the filter, the event has other neighbours.
            self.view.list.rows.clear();
        }
        self.view.list.load_around(&self.store, &self.view.filter, event);
    }

    /// Follows the row under the cursor of the screen of functions, unless it is the row of a
    /// subject.
    pub(super) fn follow_function(&mut self) -> bool {
        match self.view.functions.current().map(|row| &row.target) {
            Some(&functions::Target::Event(id)) => self.go_to_id(id),
            Some(functions::Target::Function(_)) => return self.view.functions.follow(&self.store),
            Some(functions::Target::Line(..)) => self.message = Some("e opens the source".into()),
            Some(functions::Target::Nothing) | None => {}
            Some(functions::Target::Subject(_)) => return false,
        }
        true
    }

    fn go_to_id(&mut self, id: EventId) {
        match self.store.event(id) {
            Some(event) => self.go_to(event),
            None => {
                self.message = Some(format!("event {id} left the window: only its count is known"))
            }
        }
    }

    /// Opens the events of a finding, by its number in the result of a search. The way back leads
    /// to the list. Returns false if no finding that is listed has this number.
    pub fn open_finding(&mut self, findings: Findings, number: usize) -> bool {
        self.view.findings.accept(findings);
        let is_known = self.view.findings.select_number(number);
        if is_known {
            self.view.screen = Screen::Findings;
            self.show_finding();
            self.update_dependents();
        }
        is_known
    }

    /// Shows the events of the finding under the cursor, and selects the first event that its
    /// evidence names.
    pub(super) fn show_finding(&mut self) {
        let Some(finding) = self.view.findings.current() else {
            self.message = Some("this row is no finding".into());
            return;
        };
        let first = finding.evidence.events.first().and_then(|&id| self.store.event(id));
        match (finding.evidence.filter.parse::<Filter>(), first) {
            (Ok(filter), _) if !filter.is_all() => {
                self.history.leave(&self.view);
                self.view.screen = Screen::Events;
                self.set_filter(filter);
                if let Some(event) =
                    first.filter(|event| self.view.filter.matches(&self.store, event))
                {
                    self.view.list.load_around(&self.store, &self.view.filter, event);
                }
            }
            (_, Some(event)) => self.go_to(event),
            (_, None) => self.message = Some("the recording has no events of this finding".into()),
        }
    }

    pub(super) fn go_to_cause(&mut self) {
        let Some(event) = self.view.list.selected else { return };
        match event.cause {
            Some(cause) => match self.store.remote_cause(&event) {
                Some(remote) => self.message = Some(causes::other_process(remote)),
                None => self.go_to_id(cause),
            },
            None => self.message = Some("a root: it has no recorded cause".into()),
        }
    }

    /// Opens the tree of effects; if it is open, goes to the event of its row.
    pub(super) fn go_to_effects(&mut self) {
        if self.view.pane.has_focus() && self.view.pane.tab == Tab::Effects {
            self.enter_pane_row();
            return;
        }
        if self.view.list.selected.is_none() {
            return;
        }
        self.focus_pane();
        self.open_tab(Tab::Effects);
    }

    /// Shows all events of the selected event's subject.
    pub(super) fn go_to_subject(&mut self) {
        match self.view.list.selected.map(|event| event.subject) {
            Some(Some(subject)) => self
                .add_filter_term(&Filter::all(), &filter_edit::subject_term(&self.store, subject)),
            Some(None) => self.message = Some("this event has no subject".into()),
            None => {}
        }
    }

    /// Goes to the event or the subject in the row under the pane's cursor.
    pub(super) fn enter_pane_row(&mut self) {
        if self.view.pane.tab == Tab::Graph {
            match self.view.pane.graph.nodes.get(self.view.pane.graph.at).map(|node| node.target) {
                Some(Target::Event(event)) => self.go_to_id(event.id),
                Some(Target::Subject(subject)) => self.go_to_events_of(subject),
                _ => {}
            }
            return;
        }
        match self.view.pane.current().map(|row| row.content.clone()) {
            Some(Content::Event(event)) => self.go_to_id(event.id),
            Some(Content::Subject(subject)) => self.go_to_events_of(subject),
            Some(Content::Facet(facet)) => {
                self.add_filter_term(&self.view.filter.clone(), &facet.term)
            }
            _ => {}
        }
    }

    /// Shows the durations of the events of the row under the cursor, or of all listed events.
    pub(super) fn open_times(&mut self) {
        if let Some(rows) = self.view.rows() {
            if rows.row_count() == 0 {
                return;
            }
            let Some(term) = rows.filter_term(&self.store) else {
                self.message = Some("no filter selects exactly these events".into());
                return;
            };
            self.add_filter_term(&self.view.filter.clone(), &term);
        }
        self.view.screen = Screen::Events;
        self.focus_pane();
        self.open_tab(Tab::Times);
    }

    /// Opens the tab about the subject of the selected event, or of the row under the cursor.
    pub(super) fn open_object(&mut self) {
        if self.view.screen == Screen::Subjects
            && let Some(subject) = self.view.subjects.current().and_then(|row| row.subject())
        {
            self.go_to_events_of(subject);
        }
        if self.view.screen == Screen::Events {
            self.focus_pane();
            self.open_tab(Tab::Object);
        }
    }

    /// Stores the subject, so that later subjects are shown beside it. A second call on the same
    /// subject ends the comparison.
    pub(super) fn compare(&mut self) {
        let pane = &mut self.view.pane;
        let Some(object) = pane.object.clone().filter(|_| pane.tab == Tab::Object) else {
            self.message = Some("open the tab Object first: o".into());
            return;
        };
        let is_same = pane.base.as_ref().is_some_and(|base| base.subject == object.subject);
        let name = name::subject(&self.store, object.subject);
        (pane.base, self.message) = if is_same {
            (None, Some("the comparison has ended".into()))
        } else {
            (Some(object), Some(format!("{name} is kept: go to another subject to compare it")))
        };
        self.rebuild_pane();
    }

    /// Opens the path between the selected event and the newest other mark.
    pub(super) fn open_path(&mut self) {
        let Some(id) = self.view.list.selected_id() else { return };
        let Some((from, _)) = self.marks.all().rev().find(|&(from, _)| from != id) else {
            self.message = Some(
                "a path leads from a mark to the selected event: press m on another event first"
                    .into(),
            );
            return;
        };
        self.focus_pane();
        self.view.pane.path_from = Some(from);
        self.view.pane.reasons = None;
        self.open_tab(Tab::Causes);
    }

    /// Selects the first event at or after this tick.
    pub(super) fn show_time(&mut self, tick: u64) {
        let store = &self.store;
        let filter = &self.view.filter;
        let found = store.forward(Position::At { tick }, filter, 1, BUDGET).events.first().copied();
        let found = found.or_else(|| {
            store.backward(Position::At { tick }, filter, 1, BUDGET).events.first().copied()
        });
        if let Some(event) = found {
            self.view.list.load_around(store, filter, event);
        }
    }

    /// Leaves out the events of the row under the pane's cursor.
    pub(super) fn exclude(&mut self) {
        let Some(Content::Facet(facet)) = self.view.pane.current().map(|row| row.content.clone())
        else {
            self.message = Some("open the tab Facets and select a row to leave out".into());
            return;
        };
        if let Ok(filter) = filter_edit::without(&self.view.filter, &facet.term) {
            self.history.leave(&self.view);
            self.set_filter(filter);
        }
    }

    /// Goes to the nearest event of a subject before the selected event, or to the first event
    /// after it.
    fn go_to_events_of(&mut self, subject: Subject) {
        let filter = Filter::subject(subject);
        let at = self.view.list.selected_id().map_or(Position::End, Position::Event);
        let before = self.store.backward(at, &filter, 1, BUDGET).events;
        let found = before
            .first()
            .copied()
            .or_else(|| self.store.forward(at, &filter, 1, BUDGET).events.first().copied());
        match found {
            Some(event) => self.go_to(event),
            None => {
                self.message =
                    Some("no event of this subject nearby; press f and filter by `subject:`".into())
            }
        }
    }

    /// Shows the events that pass `filter` and the term. The selection stays if it passes.
    pub(super) fn add_filter_term(&mut self, filter: &Filter, term: &str) {
        match filter_edit::with_term(filter, term) {
            Err(_) => self.message = Some("no filter selects exactly these events".into()),
            Ok(filter) if self.view.screen == Screen::Events && filter == self.view.filter => {
                self.message = Some(format!("already filtered by `{term}`; Backspace goes back"));
            }
            Ok(filter) => {
                self.history.leave(&self.view);
                self.view.screen = Screen::Events;
                self.set_filter(filter);
            }
        }
    }

    /// Changes the filter, and reads the open screen again.
    pub(super) fn set_filter(&mut self, filter: Filter) {
        self.view.filter = filter;
        (self.view.count, self.view.pane.facets, self.view.pane.times) = (None, None, None);
        let store = &self.store;
        let filter = &self.view.filter;
        let list = &mut self.view.list;
        match list
            .selected
            .filter(|event| store.event(event.id).is_some() && filter.matches(store, event))
        {
            Some(event) => {
                list.rows.clear();
                list.load_around(store, filter, event);
            }
            None if list.follow => list.load_end(store, filter),
            None => list.load_start(store, filter),
        }
        self.queue_count();
        if self.view.pane.tab.is_about_the_list() {
            self.queue_pane();
        }
        self.stop(Slot::Rows);
        self.view.all_rows().into_iter().for_each(Rows::discard);
        self.queue_screen();
    }

    /// Opens the source of the selected event, or of the site under the cursor.
    pub(super) fn open_source(&mut self) -> Option<Request> {
        if self.view.screen == Screen::Functions
            && let Some(functions::Target::Line(file, line)) =
                self.view.functions.current().map(|row| row.target.clone())
        {
            return Some(Request::Edit { file, line });
        }
        let site = match self.view.rows() {
            Some(rows) => rows.site(),
            None => self.view.list.selected.map(|event| event.site),
        };
        let site = site.and_then(|site| self.store.site(site));
        match site {
            Some(site) if !site.file.is_empty() => {
                Some(Request::Edit { file: site.file.clone(), line: site.lines.0 })
            }
            _ => {
                self.message = Some("no source is known for this row".into());
                None
            }
        }
    }
}
