//! Threads that run jobs. Each slot has a thread, which starts when it is first needed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use metaspy_reader::Store;

use super::jobs::{Change, Job, Progress, Slot};

/// Prefix of the names of the threads.
pub const THREAD: &str = "beside";

/// Job in the queue, with its number and its progress.
pub struct QueuedJob<S> {
    /// Number that the reply repeats.
    pub number: u64,
    /// Work to do.
    pub job: Job<S>,
    /// Progress of the job, shared with the crawler.
    pub progress: Arc<Progress>,
}

/// Result of a queued job.
pub struct Reply<S> {
    /// Number of the job.
    pub number: u64,
    /// Purpose of the job.
    pub slot: Slot,
    /// Change of the state; `None` if the job was stopped or failed.
    pub change: Option<Change<S>>,
}

/// Threads of all slots. They end when the worker is dropped and their jobs are done.
pub struct Worker<S> {
    threads: HashMap<Slot, Sender<(Store, QueuedJob<S>)>>,
    replies: Receiver<Reply<S>>,
    reply: Sender<Reply<S>>,
}

impl<S: 'static> Worker<S> {
    /// Creates a worker without threads.
    pub fn new() -> Self {
        let (reply, replies) = channel();
        Worker { threads: HashMap::new(), replies, reply }
    }

    /// Sends a job to the thread of its slot.
    pub fn submit(&mut self, store: &Store, queued: QueuedJob<S>) {
        let slot = queued.job.slot;
        let thread = self.threads.entry(slot).or_insert_with(|| start(slot, self.reply.clone()));
        // If the thread could not be started, its channel is closed.
        if let Err(failed) = thread.send((store.clone(), queued)) {
            let _ = self.reply.send(Reply { number: failed.0.1.number, slot, change: None });
            self.threads.remove(&slot);
        }
    }

    /// Iterates over the replies since the last call.
    pub fn replies(&self) -> impl Iterator<Item = Reply<S>> + '_ {
        self.replies.try_iter()
    }
}

impl<S: 'static> Default for Worker<S> {
    fn default() -> Self {
        Self::new()
    }
}

fn start<S: 'static>(slot: Slot, reply: Sender<Reply<S>>) -> Sender<(Store, QueuedJob<S>)> {
    let (queued, inbox) = channel::<(Store, QueuedJob<S>)>();
    let run = move || {
        while let Ok(mut latest) = inbox.recv() {
            // Only the latest job counts.
            while let Ok(newer) = inbox.try_recv() {
                latest = newer;
            }
            let (store, queued) = latest;
            // A job changes no shared data that a panic could leave half done.
            let run = AssertUnwindSafe(|| queued.job.run(&store, &queued.progress));
            let change = catch_unwind(run).unwrap_or(None);
            if reply.send(Reply { number: queued.number, slot, change }).is_err() {
                break;
            }
        }
    };
    // Without a thread the channel is closed, and `submit` replies without a result.
    let _ = std::thread::Builder::new().name(format!("{THREAD} {slot:?}")).spawn(run);
    queued
}
