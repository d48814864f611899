//! Watcher of a copy, which receives the progress and can stop the copy.

use std::cell::Cell;

use crate::parallel;

/// Watcher of a copy.
pub(super) struct Watch<'w> {
    /// Receives the completed part, from 0 to 1. Each step begins again at 0. False stops the copy.
    goes_on: &'w dyn Fn(f64) -> bool,
    is_stopped: Cell<bool>,
}

impl<'w> Watch<'w> {
    pub fn new(goes_on: &'w dyn Fn(f64) -> bool) -> Self {
        Watch { goes_on, is_stopped: Cell::new(false) }
    }

    /// Reports that `done` of `all` items of a step are completed. Returns false if the copy is
    /// stopped.
    pub fn report(&self, done: usize, all: usize) -> bool {
        if !self.is_stopped.get() {
            self.is_stopped.set(!(self.goes_on)(done as f64 / all.max(1) as f64));
        }
        !self.is_stopped()
    }

    /// Returns true if the copy is stopped, or a part of an interrupted read.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.get() || parallel::is_interrupted()
    }
}
