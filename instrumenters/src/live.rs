//! Events of a running profiler, for programs that observe themselves.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use metaspy_core::store::Filter;
use metaspy_core::subscription::Subscription;
use metaspy_core::{Event, Installed};

/// Default number of events that wait for a slow consumer.
const CAPACITY: usize = 4096;

/// Delivery of a profiler's events while the program runs.
///
/// ```
/// use metaspy::prelude::*;
///
/// # #[observe]
/// # fn lay_out() {}
/// let profiler = Profiler::new("layout").observe(methods(site!(lay_out))).install()?;
/// let events = profiler.events();
/// lay_out();
/// assert_eq!(events.catch_up().len(), 1);
/// # Ok::<(), InstallError>(())
/// ```
pub trait LiveEvents {
    /// Returns all events of the profiler, each of them when it has ended.
    fn events(&self) -> Events {
        self.events_of(Filter::all())
    }

    /// Returns the events that match a filter.
    fn events_of(&self, filter: Filter) -> Events {
        self.events_with(filter, CAPACITY)
    }

    /// Returns the events that match a filter, with room for `capacity` events that wait for the
    /// consumer.
    fn events_with(&self, filter: Filter, capacity: usize) -> Events;
}

impl LiveEvents for Installed {
    fn events_with(&self, filter: Filter, capacity: usize) -> Events {
        let queue = Arc::new(Queue::new(capacity.max(1)));
        let ours = queue.clone();
        Events { watching: self.watch(filter, move |_, event| ours.put(*event)), queue }
    }
}

/// Events of a profiler, at most a tenth of a second late. The program never waits for their
/// consumer.
///
/// A consumer that is too slow misses the newest events; [`Events::missed`] counts them. With the
/// feature `tokio` this is a `Stream`. On a thread, [`Events::next_within`] waits. Dropping it ends
/// the delivery.
pub struct Events {
    // This field is dropped first. Afterwards no event is put into the queue.
    watching: Subscription,
    queue: Arc<Queue>,
}

impl Events {
    /// Returns the next event, or `None` if none waits.
    pub fn try_next(&self) -> Option<Event> {
        self.queue.lock().events.pop_front()
    }

    /// Waits for the next event, at most for `time`.
    pub fn next_within(&self, time: Duration) -> Option<Event> {
        let until = Instant::now() + time;
        let mut state = self.queue.lock();
        loop {
            if let Some(event) = state.events.pop_front() {
                return Some(event);
            }
            let left =
                until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            state =
                self.queue.came.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Returns all waiting events that have ended before now.
    pub fn catch_up(&self) -> Vec<Event> {
        self.watching.catch_up();
        self.queue.lock().events.drain(..).collect()
    }

    /// Returns the number of events that were missed because the consumer was too slow.
    pub fn missed(&self) -> u64 {
        self.queue.lock().missed
    }

    /// Polls for the next event, like `Stream::poll_next`, but without the feature `tokio`.
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
        f.debug_struct("Events")
            .field("waiting", &state.events.len())
            .field("missed", &state.missed)
            .finish()
    }
}

#[cfg(feature = "tokio")]
impl tokio_stream::Stream for Events {
    type Item = Event;

    fn poll_next(
        self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> Poll<Option<Event>> {
        self.get_mut().poll_event(context.waker())
    }
}

/// Events that wait for their consumer.
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
