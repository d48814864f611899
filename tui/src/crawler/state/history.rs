//! History of views: back to each earlier view as it was, and forward again.

use super::Crawler;
use super::name;
use super::productions::Source;
use super::view::View;
use crate::crawler::command::Screen;
use crate::crawler::jobs::Slot;

/// Maximum number of views in the history.
const KEPT: usize = 200;

/// Views before and after the open view.
#[derive(Clone, Default)]
pub struct History {
    past: Vec<View>,
    future: Vec<View>,
}

impl History {
    /// Stores `view`, because another view is about to open.
    pub fn leave(&mut self, view: &View) {
        self.future.clear();
        self.past.push(view.clone());
        if self.past.len() > KEPT {
            self.past.remove(0);
        }
    }

    /// Returns the view before `view`. `forward` returns to `view`.
    pub fn back(&mut self, view: &View) -> Option<View> {
        let past = self.past.pop()?;
        self.future.push(view.clone());
        Some(past)
    }

    /// Undoes `back`.
    pub fn forward(&mut self, view: &View) -> Option<View> {
        let future = self.future.pop()?;
        self.past.push(view.clone());
        Some(future)
    }

    /// Returns the number of steps back.
    pub fn depth(&self) -> usize {
        self.past.len()
    }
}

/// Maximum width of a breadcrumb, in columns.
const CRUMB: usize = 20;

impl Crawler {
    /// Names the earlier views, the nearest first: by the selected event, or by the screen.
    pub(crate) fn breadcrumbs(&self) -> Vec<String> {
        let crumb = |view: &View| match (view.screen, view.list.selected) {
            (Screen::Events, Some(event)) => name::fit_event(&self.store, &event, CRUMB),
            (screen, _) => screen.name().to_owned(),
        };
        let mut crumbs: Vec<String> = self.history.past.iter().rev().map(crumb).collect();
        crumbs.dedup();
        crumbs
    }

    pub(super) fn go_back(&mut self) {
        match self.history.back(&self.view) {
            Some(view) => self.restore(view),
            None => self.message = Some("no earlier view".into()),
        }
    }

    pub(super) fn go_forward(&mut self) {
        match self.history.forward(&self.view) {
            Some(view) => self.restore(view),
            None => self.message = Some("no later view".into()),
        }
    }

    fn restore(&mut self, view: View) {
        self.view = view;
        self.stop(Slot::Rows);
        self.view.resize(self.size.0, self.size.1);
        self.view.productions.source = Source::default();
        self.queue_pane();
        self.queue_screen();
    }
}
