//! Thread of a tap. It needs no runtime, and the application never waits for it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use metaspy_core::{Recording, Subject, hook};

use super::block_on::{ThreadWaker, poll_once, until_stopped};
use super::emit::Emitter;
use super::sites::LeasedSites;
use super::sources::{Received, Source};
use crate::channels::kind::KindOf;

/// Longest time that an uninstall waits for the thread, because the `Clone` of a message may wait
/// for a lock.
const PATIENCE: Duration = Duration::from_secs(1);

/// Time at uninstall for the last items of a stream.
const LAST_LOOK: Duration = Duration::from_millis(50);

/// Installed tap.
pub(super) struct Listener {
    waker: Arc<ThreadWaker>,
    thread: ThreadId,
    process: u32,
    state: Arc<State>,
    sites: Arc<LeasedSites>,
    bus: Subject,
}

#[derive(Default)]
struct State {
    /// Set if the uninstall no longer waits. Nothing more is recorded then.
    abandoned: AtomicBool,
    /// Number of received announcements that are not recorded yet.
    in_hand: AtomicU64,
    ended: Mutex<bool>,
    has_ended: Condvar,
}

impl Listener {
    /// Starts the thread.
    pub fn start<S, K>(
        source: S,
        emitter: Emitter<S::Message, K>,
        sites: Arc<LeasedSites>,
        bus: Subject,
    ) -> io::Result<Self>
    where
        S: Source,
        K: KindOf<S::Message>,
    {
        let state = Arc::<State>::default();
        let (sender, receiver) = mpsc::sync_channel(1);
        let ending = End(Arc::clone(&state));
        let of_thread = Arc::clone(&sites);
        let thread = thread::Builder::new().name("metaspy-tap".into()).spawn(move || {
            let waker = ThreadWaker::here();
            // The caller, `start`, waits for this message.
            let _ = sender.send(Arc::clone(&waker));
            let subscription = Subscription {
                source,
                emitter,
                sites: of_thread,
                bus,
                waker,
                state: Arc::clone(&ending.0),
            };
            subscription.listen();
            drop(ending);
        })?;
        let waker = receiver
            .recv()
            .map_err(|_| io::Error::other("the thread of a tap ended before it listened"))?;
        Ok(Listener {
            waker,
            thread: thread.thread().id(),
            process: std::process::id(),
            state,
            sites,
            bus,
        })
    }

    /// Records the announcements before now, and ends the thread.
    pub fn finish(&self) {
        if self.process != std::process::id() {
            // A forked child has a copy of everything except the thread.
            return;
        }
        self.waker.stop();
        if thread::current().id() == self.thread {
            // A closure of the tap itself uninstalls the profiler, so the thread cannot be awaited.
            return;
        }
        let ended = self.state.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.state.has_ended.wait_timeout_while(ended, PATIENCE, |ended| !*ended);
        let is_busy = waited.is_ok_and(|(_, waited)| waited.timed_out());
        if is_busy && !self.state.abandoned.swap(true, Ordering::AcqRel) {
            self.count_abandoned();
        }
    }
}

impl Listener {
    /// Counts the announcement in the thread's hands as missed. The number of announcements that it
    /// has not received is unknown.
    fn count_abandoned(&self) {
        hook::missed(self.sites.missed(), self.bus, self.state.in_hand.load(Ordering::Acquire));
        if let Ok(recording) = Recording::current() {
            recording.note(&format!(
                "the tap `{}` was still busy when it was uninstalled: announcements that it had not recorded by then \
                 are missing",
                self.sites.module()
            ));
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.finish();
    }
}

/// Guard whose drop reports the end of the thread, by return or by panic.
struct End(Arc<State>);

impl Drop for End {
    fn drop(&mut self) {
        *self.0.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.has_ended.notify_all();
    }
}

struct Subscription<S: Source, K> {
    source: S,
    emitter: Emitter<S::Message, K>,
    sites: Arc<LeasedSites>,
    bus: Subject,
    waker: Arc<ThreadWaker>,
    state: Arc<State>,
}

impl<S: Source, K: KindOf<S::Message>> Subscription<S, K> {
    fn listen(mut self) {
        while !self.waker.is_stopped() {
            // Code that runs on this thread, such as the `Clone` of a message, is not part of the
            // application's work.
            let heard = hook::at_meta_level(|| until_stopped(&self.waker, self.source.receive()));
            match heard {
                Some(Some(heard)) => {
                    if self.take(heard).is_none() {
                        return;
                    }
                }
                Some(None) => break,
                None if S::SURVIVES_PANICS => self.miss(1),
                None => return self.miss(1),
            }
        }
        self.drain();
    }

    /// Records the announcements before now. Later announcements do not keep the thread.
    fn drain(&mut self) {
        let began = Instant::now();
        let mut left = self.source.waiting();
        while left != Some(0) && (left.is_some() || began.elapsed() < LAST_LOOK) {
            let taken = match hook::at_meta_level(|| poll_once(self.source.receive())) {
                Some(Some(heard)) => self.take(heard),
                Some(None) => return,
                None => {
                    self.miss(1);
                    S::SURVIVES_PANICS.then_some(1)
                }
            };
            let Some(taken) = taken else { return };
            left = left.map(|left| left.saturating_sub(taken));
        }
    }

    /// Records the received result, and returns the number of announcements, or `None` if the bus
    /// has ended.
    fn take(&mut self, heard: Received<S::Message>) -> Option<u64> {
        match heard {
            Received::Message(message) => {
                if !self.is_abandoned() {
                    self.state.in_hand.store(1, Ordering::Release);
                    self.emitter.emit(&message, &self.sites, self.bus, || self.is_abandoned());
                    self.state.in_hand.store(0, Ordering::Release);
                }
                // The drop of a message is the application's code.
                hook::at_meta_level(|| drop(message));
                Some(1)
            }
            Received::Lost(missed) => {
                self.miss(missed);
                Some(missed)
            }
            Received::Ended => None,
        }
    }

    fn miss(&self, missed: u64) {
        if !self.is_abandoned() {
            hook::missed(self.sites.missed(), self.bus, missed);
        }
    }

    fn is_abandoned(&self) -> bool {
        self.state.abandoned.load(Ordering::Acquire)
    }
}
