//! Executor for a future on the tap's own thread, without a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

/// Waker of the tap's thread, for a ready future and for the end of the tap.
#[derive(Debug)]
pub(super) struct ThreadWaker {
    thread: Thread,
    rung: AtomicBool,
    stop: AtomicBool,
}

impl ThreadWaker {
    /// Creates the waker of this thread.
    pub fn here() -> Arc<ThreadWaker> {
        let rung = AtomicBool::new(false);
        let stop = AtomicBool::new(false);
        Arc::new(ThreadWaker { thread: thread::current(), rung, stop })
    }

    /// Stops the thread's wait.
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

    /// Sleeps until the waker rings. Other users of `park` and `unpark` do no harm.
    fn sleep(&self) {
        while !self.rung.swap(false, Ordering::AcqRel) {
            thread::park();
        }
    }
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.ring();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.ring();
    }
}

/// Waits for the future. Returns `None` if the thread has to stop before.
pub(super) fn until_stopped<F: Future>(thread: &Arc<ThreadWaker>, future: F) -> Option<F::Output> {
    let waker = Waker::from(Arc::clone(thread));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        if thread.is_stopped() {
            return None;
        }
        thread.sleep();
    }
}

/// Polls the future once. Returns `None` if it is not ready.
pub(super) fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_for_ever_can_be_stopped() {
        let (sender, waker) = std::sync::mpsc::channel();
        let waiting = thread::spawn(move || {
            let waker = ThreadWaker::here();
            sender.send(Arc::clone(&waker)).expect("the test waits for it");
            until_stopped(&waker, std::future::pending::<()>())
        });
        waker.recv().expect("it was sent").stop();
        assert_eq!(waiting.join().expect("it ends"), None);
    }

    #[test]
    fn a_future_that_is_ready_is_taken_even_if_the_thread_is_to_stop() {
        let waker = ThreadWaker::here();
        waker.stop();
        assert_eq!(until_stopped(&waker, std::future::ready(1)), Some(1));
        assert_eq!(poll_once(std::future::ready(2)), Some(2));
        assert_eq!(poll_once(std::future::pending::<()>()), None);
    }
}
