//! Threads that run jobs. Each slot has a thread, which starts when it is first needed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};

use metaspy_reader::Store;

use super::jobs::{Job, Reply, Slot};

/// Prefix of the names of the threads.
pub const THREAD: &str = "beside";

/// Threads of all slots. They end when the worker is dropped and their jobs are done.
pub struct Worker<S> {
    threads: HashMap<Slot, Sender<(Store, Job<S>)>>,
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
    pub fn submit(&mut self, store: &Store, job: Job<S>) {
        let slot = job.slot;
        let thread = self.threads.entry(slot).or_insert_with(|| start(slot, self.reply.clone()));
        // If the thread could not be started, its channel is closed.
        if let Err(failed) = thread.send((store.clone(), job)) {
            let _ = self.reply.send(failed.0.1.answered(None));
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

fn start<S: 'static>(slot: Slot, reply: Sender<Reply<S>>) -> Sender<(Store, Job<S>)> {
    let (queued, inbox) = channel::<(Store, Job<S>)>();
    let run = move || {
        while let Ok(mut latest) = inbox.recv() {
            // Only the latest job counts.
            while let Ok(newer) = inbox.try_recv() {
                latest = newer;
            }
            let (store, job) = latest;
            let failed = job.answered(None);
            // A job changes no shared data that a panic could leave half done.
            let result = catch_unwind(AssertUnwindSafe(|| job.run(&store))).unwrap_or(failed);
            if reply.send(result).is_err() {
                break;
            }
        }
    };
    // Without a thread the channel is closed, and `submit` replies without a result.
    let _ = std::thread::Builder::new().name(format!("{THREAD} {slot:?}")).spawn(run);
    queued
}
