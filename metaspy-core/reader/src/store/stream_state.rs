//! State of a recording that arrives through a pipe. The receiver writes it, stores read it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::EndState;
use crate::platform::lock::lock;

/// State of a stream.
pub(crate) struct StreamState {
    ended: AtomicU8,
    settled: AtomicBool,
    notes: Mutex<Vec<String>>,
}

impl StreamState {
    /// Creates the state of a stream that continues.
    pub fn new() -> Self {
        StreamState {
            ended: AtomicU8::new(EndState::Live as u8),
            settled: AtomicBool::new(false),
            notes: Mutex::default(),
        }
    }

    /// Returns the end state of the recording, as far as it has arrived.
    pub fn end_state(&self) -> EndState {
        let ended = self.ended.load(Ordering::Acquire);
        [EndState::Closed, EndState::Killed, EndState::Unknown, EndState::Snapshot]
            .into_iter()
            .find(|it| *it as u8 == ended)
            .unwrap_or(EndState::Live)
    }

    /// Ends the stream.
    pub fn end(&self, ended: EndState) {
        self.ended.store(ended as u8, Ordering::Release);
    }

    /// Returns true if all received words come from the same moment.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    /// Sets the result of [`StreamState::is_settled`].
    pub fn settle(&self, settled: bool) {
        self.settled.store(settled, Ordering::Release);
    }

    /// Returns sentences about missing parts.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Adds a sentence about a missing part.
    pub fn note(&self, text: String) {
        lock(&self.notes).push(text);
    }
}
