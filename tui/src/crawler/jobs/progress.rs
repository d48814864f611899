//! Progress of a job.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Progress of a job, shared with its thread.
#[derive(Debug, Default)]
pub struct Progress {
    stopped: AtomicBool,
    done: AtomicU64,
    of: AtomicU64,
}

impl Progress {
    /// Stops the job, because its result is no longer needed.
    pub fn stop(&self) {
        self.stopped.store(true, Relaxed);
    }

    /// Returns the number of events scanned, and of all events; 0 if it is not known.
    pub fn read(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.of.load(Relaxed))
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    /// Sets the number of events scanned, and of all events.
    pub(super) fn set(&self, done: u64, of: u64) {
        self.done.store(done, Relaxed);
        self.of.store(of, Relaxed);
    }

    /// Counts tested events. Returns false if the job was stopped.
    pub(super) fn goes_on(&self, tested: usize) -> bool {
        self.add(tested);
        !self.is_stopped()
    }

    pub(super) fn add(&self, looked_at: usize) {
        self.done.fetch_add(looked_at as u64, Relaxed);
    }
}
