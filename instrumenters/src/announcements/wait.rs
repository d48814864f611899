//! Waiting for a future on a thread that nobody else needs: no runtime is asked for, and none is in the way.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Wakes the thread that waits, because of what it waits for or because it is to stop.
#[derive(Debug)]
pub(super) struct Bell {
    thread: Thread,
    rung: AtomicBool,
    stop: AtomicBool,
}

impl Bell {
    /// The bell of this thread.
    pub fn here() -> Arc<Bell> {
        let (rung, stop) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(Bell { thread: thread::current(), rung, stop })
    }

    /// Asks the thread to wait no longer.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ring();
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.thread.unpark();
    }

    /// Sleeps until it is rung. Who else unparks the thread, or takes the token of its own, does no harm.
    fn sleep(&self) {
        while !self.rung.swap(false, Ordering::AcqRel) {
            thread::park();
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// What the future comes to; `None` if the thread was to stop before.
pub(super) fn until_stopped<F: Future>(bell: &Arc<Bell>, future: F) -> Option<F::Output> {
    let waker = Waker::from(Arc::clone(bell));
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        if bell.is_stopped() {
            return None;
        }
        bell.sleep();
    }
}

/// What the future comes to at once.
pub(super) fn at_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_for_ever_stops_when_it_is_told() {
        let (told, bell) = std::sync::mpsc::channel();
        let waiting = thread::spawn(move || {
            let bell = Bell::here();
            told.send(Arc::clone(&bell)).expect("somebody waits for it");
            until_stopped(&bell, std::future::pending::<()>())
        });
        bell.recv().expect("it was sent").stop();
        assert_eq!(waiting.join().expect("it ends"), None);
    }

    #[test]
    fn a_future_that_is_ready_is_taken_even_if_the_thread_is_to_stop() {
        let bell = Bell::here();
        bell.stop();
        assert_eq!(until_stopped(&bell, std::future::ready(1)), Some(1));
        assert_eq!(at_once(std::future::ready(2)), Some(2));
        assert_eq!(at_once(std::future::pending::<()>()), None);
    }
}
