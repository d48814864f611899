//! Progress and cancellation of a call.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use crate::answer::ToolError;

/// The least time between two messages.
const INTERVAL: Duration = Duration::from_millis(250);

/// The view that a call has of its client: it tells how far it is, and hears when it is cancelled.
pub struct Watch {
    is_cancelled: Box<dyn Fn() -> bool + Send + Sync>,
    tell: Box<dyn Fn(String) + Send + Sync>,
    last: Mutex<Instant>,
}

impl Watch {
    /// Creates a watch from the two ends of a call.
    pub fn new(
        is_cancelled: impl Fn() -> bool + Send + Sync + 'static,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Watch {
        Watch { is_cancelled: Box::new(is_cancelled), tell: Box::new(tell), last: Mutex::new(Instant::now()) }
    }

    /// Returns false if nobody waits for the answer any more.
    pub fn goes_on(&self) -> bool {
        !(self.is_cancelled)()
    }

    /// Fails if nobody waits for the answer any more.
    pub fn check(&self) -> Result<(), ToolError> {
        if self.goes_on() { Ok(()) } else { Err(cancelled()) }
    }

    /// Tells how far the work is, from time to time. Returns false if it is to stop.
    pub fn tell(&self, message: impl FnOnce() -> String) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.elapsed() >= INTERVAL {
            *last = Instant::now();
            (self.tell)(message());
        }
        self.goes_on()
    }
}

/// The error of a call that was cancelled.
pub fn cancelled() -> ToolError {
    ToolError::new("the call was cancelled")
}
