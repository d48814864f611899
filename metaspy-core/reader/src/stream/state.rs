//! How a recording that comes through a pipe stands: the receiver writes it, stores read it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use crate::EndState;
use crate::platform::lock::lock;

/// How the stream stands.
pub(crate) struct StreamState {
    ended: AtomicU8,
    settled: AtomicBool,
    said: Mutex<Vec<String>>,
}

impl StreamState {
    /// A stream that goes on.
    pub fn new() -> Self {
        StreamState {
            ended: AtomicU8::new(EndState::Live as u8),
            settled: AtomicBool::new(false),
            said: Mutex::default(),
        }
    }

    /// How the recording ended, as far as it came.
    pub fn end_state(&self) -> EndState {
        let ended = self.ended.load(Ordering::Acquire);
        [EndState::Closed, EndState::Killed, EndState::Snapshot]
            .into_iter()
            .find(|it| *it as u8 == ended)
            .unwrap_or(EndState::Live)
    }

    /// Ends it.
    pub fn end(&self, ended: EndState) {
        self.ended.store(ended as u8, Ordering::Release);
    }

    /// Whether what came is of one moment.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Acquire)
    }

    /// Says whether it is.
    pub fn settle(&self, settled: bool) {
        self.settled.store(settled, Ordering::Release);
    }

    /// What is missing, as sentences.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.said).clone()
    }

    /// Says what is missing.
    pub fn note(&self, text: String) {
        lock(&self.said).push(text);
    }
}
