//! Commands that set marks and go to them.

use metaspy_reader::EventId;

use super::prompt::Prompt;
use super::{Crawler, Request, name};
use crate::crawler::marks::title;

impl Crawler {
    /// Sets a mark without a name, or removes the mark.
    pub(super) fn toggle_mark(&mut self) -> Option<Request> {
        let id = self.view.list.selected_id()?;
        self.view.list.follow = false;
        if !self.marks.remove(id) {
            self.marks.set(id, "");
        }
        self.changed_marks()
    }

    /// Opens the prompt for the name of a mark.
    pub(super) fn open_mark_prompt(&mut self) {
        let Some(id) = self.view.list.selected_id() else { return };
        self.view.list.follow = false;
        self.prompt = Some(Prompt::mark(self.marks.name(id).unwrap_or_default()));
    }

    /// Marks the selected event under a name.
    pub(super) fn mark_as(&mut self, name: &str) -> Option<Request> {
        let id = self.view.list.selected_id()?;
        self.view.list.follow = false;
        self.marks.set(id, name);
        self.changed_marks()
    }

    fn changed_marks(&mut self) -> Option<Request> {
        self.rebuild_pane();
        // Only a recording in a file can have a file of marks beside it.
        self.store.path().is_some().then(|| Request::SaveMarks(self.marks.clone()))
    }

    /// Goes to the next mark in the order of ids. The last mark is followed by the first.
    pub(super) fn next_mark(&mut self) {
        match self.marks.next(self.view.list.selected_id()) {
            Some(id) => self.go_to_mark(id),
            None => self.message = Some("no marks: press m to set one".into()),
        }
    }

    /// Goes to a marked event.
    pub(super) fn go_to_mark(&mut self, id: EventId) {
        match self.store.event(id) {
            Some(event) => self.go_to(event),
            None => self.message = Some("the marked event left the window".into()),
        }
    }

    /// Returns each mark with the name of its event, for the palette.
    pub(super) fn named_marks(&self) -> Vec<(EventId, String, String)> {
        let event = |id| {
            self.store
                .event(id)
                .map_or("left the window".into(), |event| name::event(&self.store, &event))
        };
        let named = self
            .marks
            .all()
            .map(|(id, mark)| (id, format!("go to {}", title(id, mark)), event(id)));
        named.collect()
    }
}
