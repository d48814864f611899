//! Events as they happen, for programs that watch themselves.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use metaspy_core::store::Filter;
use metaspy_core::subscription::Subscription;
use metaspy_core::{Event, Installed};

/// Events that a slow consumer may be behind, unless it says otherwise.
const CAPACITY: usize = 4096;

/// Hands out the events of a profiler while the program runs.
pub trait LiveEvents {
    /// All of its events, each once, after it has ended.
    fn events(&self) -> Events {
        self.events_of(Filter::all())
    }

    /// Those that pass a filter.
    fn events_of(&self, filter: Filter) -> Events {
        self.events_with(filter, CAPACITY)
    }

    /// The same for a consumer that may be so many events behind.
    fn events_with(&self, filter: Filter, capacity: usize) -> Events;
}

impl LiveEvents for Installed {
    fn events_with(&self, filter: Filter, capacity: usize) -> Events {
        let queue = Arc::new(Queue::new(capacity.max(1)));
        let ours = queue.clone();
        Events { watching: self.watch(filter, move |_, event| ours.put(*event)), queue }
    }
}

/// Events as they happen: at most a tenth of a second late, and never in the program's way.
///
/// Whoever takes them too slowly misses the newest ones, and is told how many ([`Events::missed`]). With the feature
/// `tokio` it is a `Stream`; on a thread, [`Events::next_within`] waits. It ends when it is dropped.
pub struct Events {
    // First: nobody puts anything into the queue after it has gone.
    watching: Subscription,
    queue: Arc<Queue>,
}

impl Events {
    /// The next event, if there is one now.
    pub fn try_next(&self) -> Option<Event> {
        self.queue.lock().events.pop_front()
    }

    /// The next event, waited for so long at most.
    pub fn next_within(&self, time: Duration) -> Option<Event> {
        let until = Instant::now() + time;
        let mut state = self.queue.lock();
        loop {
            if let Some(event) = state.events.pop_front() {
                return Some(event);
            }
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            state = self.queue.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Has what ended until now handed out as well, and hands out everything that waits.
    pub fn catch_up(&self) -> Vec<Event> {
        self.watching.catch_up();
        self.queue.lock().events.drain(..).collect()
    }

    /// How many were missed, as nobody took them in time.
    pub fn missed(&self) -> u64 {
        self.queue.lock().missed
    }

    /// The next event, for tasks.
    pub fn poll_event(&mut self, waker: &Waker) -> Poll<Option<Event>> {
        let mut state = self.queue.lock();
        match state.events.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => {
                state.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.queue.lock();
        f.debug_struct("Events").field("waiting", &state.events.len()).field("missed", &state.missed).finish()
    }
}

#[cfg(feature = "tokio")]
impl tokio_stream::Stream for Events {
    type Item = Event;

    fn poll_next(self: std::pin::Pin<&mut Self>, context: &mut std::task::Context<'_>) -> Poll<Option<Event>> {
        self.get_mut().poll_event(context.waker())
    }
}

/// What waits for its consumer.
struct Queue {
    state: Mutex<State>,
    came: Condvar,
    capacity: usize,
}

#[derive(Default)]
struct State {
    events: VecDeque<Event>,
    missed: u64,
    waker: Option<Waker>,
}

impl Queue {
    fn new(capacity: usize) -> Self {
        Queue { state: Mutex::default(), came: Condvar::new(), capacity }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, event: Event) {
        let mut state = self.lock();
        if state.events.len() >= self.capacity {
            state.missed += 1;
            return;
        }
        state.events.push_back(event);
        let waker = state.waker.take();
        drop(state);
        self.came.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
