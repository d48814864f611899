//! Jobs: work that may take longer than a frame. A job reads the recording on another thread, and
//! its result changes the state.
//!
//! A job is a value, so a test can run it in place. A new job replaces the previous job of the same
//! [`Slot`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use metaspy_reader::Store;

/// Purpose of a job. A new job replaces the previous job for the same purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// More rows for the list of events.
    Rows,
    /// The next match of a search.
    Search,
    /// The contents of the right pane.
    Pane,
    /// The index of effects.
    Index,
    /// The table of a screen.
    Table,
    /// The change of a table's rows over time.
    Trend,
    /// The number of events that pass the filter.
    Count,
    /// A line of the source.
    Source,
    /// A file for another tool.
    Export,
    /// A request to the running process.
    Control,
    /// The recordings of several processes.
    Merge,
    /// The search for findings.
    Findings,
}

/// Change that the result of a job makes to the state `S`.
pub type Change<S> = Box<dyn FnOnce(&mut S) + Send>;
type Read<S> = Box<dyn FnOnce(&Store, &Progress) -> Option<Change<S>> + Send>;

/// Reading of a recording whose result changes the state `S`.
pub struct Job<S> {
    /// Purpose of the job.
    pub slot: Slot,
    progress: Arc<Progress>,
    read: Read<S>,
}

/// Result of a job.
pub struct Reply<S> {
    /// Purpose of the job.
    pub slot: Slot,
    /// Progress of the job, by which the state recognizes it.
    pub(super) progress: Arc<Progress>,
    /// Change of the state; `None` if the job was stopped or failed.
    pub change: Option<Change<S>>,
}

impl<S> Job<S> {
    /// Creates a job that reads a value, and later gives it to the state. `read` returns `None` if
    /// it is stopped or fails.
    pub fn new<T>(
        slot: Slot,
        read: impl FnOnce(&Store, &Progress) -> Option<T> + Send + 'static,
        accept: impl FnOnce(&mut S, T) + Send + 'static,
    ) -> Self
    where
        T: Send + 'static,
    {
        let read = |store: &Store, progress: &Progress| -> Option<Change<S>> {
            let value = read(store, progress)?;
            Some(Box::new(|state: &mut S| accept(state, value)))
        };
        Job { slot, progress: Arc::default(), read: Box::new(read) }
    }

    /// Returns the progress of the job.
    pub(super) fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// Runs the job. The reply has no change if it was stopped.
    pub fn run(self, store: &Store) -> Reply<S> {
        self.progress.set(0, store.totals().stored);
        let Job { slot, progress, read } = self;
        let change = read(store, &progress).filter(|_| !progress.is_stopped());
        Reply { slot, progress, change }
    }

    /// Makes a reply without running the job.
    pub fn answered(&self, change: Option<Change<S>>) -> Reply<S> {
        Reply { slot: self.slot, progress: Arc::clone(&self.progress), change }
    }
}

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
        self.done.fetch_add(tested as u64, Relaxed);
        !self.is_stopped()
    }
}
