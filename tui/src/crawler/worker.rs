//! Runs jobs beside the screen: one thread for each slot, made when it is first needed.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use metaspy_core::Store;

use super::jobs::{Answer, Job, Progress, Slot};

/// What the names of the threads begin with.
pub const THREAD: &str = "beside";

/// A job as it is handed over: its number, what to do, on what, and where to tell how far it is.
pub struct QueuedJob {
    /// The number that its answer will carry.
    pub number: u64,
    /// What to do.
    pub job: Job,
    /// How far it is.
    pub progress: Arc<Progress>,
}

/// An answer with the number of its order.
pub struct Reply {
    /// The order's number.
    pub number: u64,
    /// What the order was about.
    pub slot: Slot,
    /// What came of it; `None` if it was stopped.
    pub answer: Option<Answer>,
}

/// The threads beside the screen. They end when this is dropped and their job is done.
pub struct Worker {
    threads: HashMap<Slot, Sender<(Store, QueuedJob)>>,
    replies: Receiver<Reply>,
    reply: Sender<Reply>,
}

impl Worker {
    /// No threads yet.
    pub fn new() -> Self {
        let (reply, replies) = channel();
        Worker { threads: HashMap::new(), replies, reply }
    }

    /// Hands an order over.
    pub fn submit(&mut self, store: &Store, order: QueuedJob) {
        let slot = order.job.slot();
        let thread = self.threads.entry(slot).or_insert_with(|| start(slot, self.reply.clone()));
        // A thread that could not be started has left its channel closed.
        if let Err(failed) = thread.send((store.clone(), order)) {
            let _ = self.reply.send(Reply { number: failed.0.1.number, slot, answer: None });
            self.threads.remove(&slot);
        }
    }

    /// The replies that have come.
    pub fn replies(&self) -> impl Iterator<Item = Reply> + '_ {
        self.replies.try_iter()
    }
}

impl Default for Worker {
    fn default() -> Self {
        Self::new()
    }
}

fn start(slot: Slot, reply: Sender<Reply>) -> Sender<(Store, QueuedJob)> {
    let (queued, inbox) = channel::<(Store, QueuedJob)>();
    let run = move || {
        while let Ok(mut latest) = inbox.recv() {
            // Whoever ordered twice wants the second.
            while let Ok(newer) = inbox.try_recv() {
                latest = newer;
            }
            let (store, order) = latest;
            // A job holds nothing that a panic could leave half done.
            let run = AssertUnwindSafe(|| order.job.run(&store, &order.progress));
            let answer = catch_unwind(run).unwrap_or(None);
            if reply.send(Reply { number: order.number, slot, answer }).is_err() {
                break;
            }
        }
    };
    // Without a thread the channel is closed, and `take` says that nothing will come of the order.
    let _ = std::thread::Builder::new().name(format!("{THREAD} {slot:?}")).spawn(run);
    queued
}
