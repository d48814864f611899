//! The views that a walk came through: back to each of them as it was, and forward again.

use super::Crawler;
use super::productions::Source;
use super::view::View;

/// Views that are kept.
const KEPT: usize = 200;

/// The views behind and before the one that is open.
#[derive(Clone, Default)]
pub struct History {
    past: Vec<View>,
    future: Vec<View>,
}

impl History {
    /// A walk leaves `view`.
    pub fn leave(&mut self, view: &View) {
        self.future.clear();
        self.past.push(view.clone());
        if self.past.len() > KEPT {
            self.past.remove(0);
        }
    }

    /// The view before `view`, which becomes the one to come forward to.
    pub fn back(&mut self, view: &View) -> Option<View> {
        let past = self.past.pop()?;
        self.future.push(view.clone());
        Some(past)
    }

    /// Undoes a step back.
    pub fn forward(&mut self, view: &View) -> Option<View> {
        let future = self.future.pop()?;
        self.past.push(view.clone());
        Some(future)
    }

    /// How many steps back there are.
    pub fn depth(&self) -> usize {
        self.past.len()
    }
}

impl Crawler {
    pub(super) fn go_back(&mut self) {
        match self.history.back(&self.view) {
            Some(view) => self.restore(view),
            None => self.message = Some("this is where you began".into()),
        }
    }

    pub(super) fn go_forward(&mut self) {
        match self.history.forward(&self.view) {
            Some(view) => self.restore(view),
            None => self.message = Some("there is nothing further on".into()),
        }
    }

    fn restore(&mut self, view: View) {
        self.view = view;
        self.stop_rows();
        self.view.resize(self.size.0, self.size.1);
        self.view.productions.source = Source::default();
        self.queue_pane();
        self.queue_screen();
    }
}
