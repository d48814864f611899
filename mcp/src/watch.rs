//! Progress and cancellation of a call.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use metaspy_reader::interruptible;

use crate::answer::ToolError;

/// The least time between two messages.
const INTERVAL: Duration = Duration::from_millis(250);

/// The view that a call has of its client: it tells how far it is, and hears when it is cancelled.
#[derive(Clone)]
pub struct Watch {
    is_cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    tell: Arc<dyn Fn(String) + Send + Sync>,
    last: Arc<Mutex<Instant>>,
}

impl Watch {
    /// Creates a watch from the two ends of a call.
    pub fn new(
        is_cancelled: impl Fn() -> bool + Send + Sync + 'static,
        tell: impl Fn(String) + Send + Sync + 'static,
    ) -> Watch {
        Watch {
            is_cancelled: Arc::new(is_cancelled),
            tell: Arc::new(tell),
            last: Arc::new(Mutex::new(Instant::now())),
        }
    }

    /// Returns false if nobody waits for the answer any more.
    pub fn goes_on(&self) -> bool {
        !(self.is_cancelled)()
    }

    /// Does the work of the call. Its reads of recordings end early, with an error, when nobody
    /// waits for the answer any more.
    pub fn interruptible<T>(
        &self,
        work: impl FnOnce() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let watch = self.clone();
        interruptible(Arc::new(move || watch.goes_on()), work).unwrap_or_else(|| Err(cancelled()))
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
