//! An async call: one event from its first poll to its completion or drop, on whatever threads it is polled.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::task::Poll;

use crate::arm::Config;
use crate::clock;
use crate::event::Outcome;
use crate::format::slot::Mark;
use crate::hook::handler::{self, Open};
use crate::log::{self, Begun, Current};
use crate::site::Site;
use crate::subject::Subject;

/// One async call. It holds numbers only, so no future loses `Send`, `Sync` or `Unpin` by it. Dropped before it is
/// done, the call was cancelled.
pub struct AsyncCall {
    site: &'static Site,
    subject: Subject,
    begun: Begun,
    polls: u64,
    busy: u64,
    started: bool,
    /// What handlers were told of the call, for those that run after it.
    open: Option<Box<Open>>,
}

impl AsyncCall {
    /// A call that has not been polled.
    pub const fn new(site: &'static Site) -> Self {
        AsyncCall { site, subject: Subject::NONE, begun: Begun::NOTHING, polls: 0, busy: 0, started: false, open: None }
    }

    /// One poll of the call: the event is the current one meanwhile, and not in between.
    #[inline]
    pub fn poll<R>(
        &mut self,
        subject: impl FnOnce() -> Subject,
        poll: impl FnOnce() -> Poll<R>,
        outcome: impl FnOnce(&R) -> Outcome,
    ) -> Poll<R> {
        if !self.started {
            self.started = true;
            if self.site.is_armed() {
                self.begin(subject());
            }
        }
        if self.begun.id == 0 {
            return poll();
        }
        self.observed(poll, outcome)
    }

    #[cold]
    fn begin(&mut self, subject: Subject) {
        let call = super::enter(self.site, subject);
        self.subject = subject;
        self.begun = call.into_begun();
        self.open = handler::take(self.begun.id).map(Box::new);
        if self.begun.id < log::LOST && self.begun.id != 0 {
            // Between polls the thread is in whatever it was in before.
            log::swap_current(self.begun.before);
        }
    }

    fn observed<R>(&mut self, poll: impl FnOnce() -> Poll<R>, outcome: impl FnOnce(&R) -> Outcome) -> Poll<R> {
        let has_event = self.begun.id < log::LOST;
        let current = has_event.then(|| Current::enter(self.begun.id));
        let from = clock::now();
        let answer = catch_unwind(AssertUnwindSafe(poll));
        self.busy += clock::now().saturating_sub(from);
        self.polls += 1;
        drop(current);
        match answer {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(value)) => {
                self.end(outcome(&value));
                Poll::Ready(value)
            }
            Err(panic) => {
                self.end(Outcome::Panicked);
                resume_unwind(panic)
            }
        }
    }

    fn end(&mut self, outcome: Outcome) {
        let begun = std::mem::replace(&mut self.begun, Begun::NOTHING);
        if begun.id == 0 {
            return;
        }
        let site = Config(self.site.config.load(Relaxed)).site();
        if begun.id >= log::LOST {
            return log::end(&begun, site, self.subject.key, outcome, false);
        }
        let marked = log::mark(Mark::Polls, begun.id, [self.busy, self.polls], &[]).is_some();
        // The event is not this thread's current one any more: it is entered once more to be left in good order.
        let before = log::swap_current(begun.id);
        log::end(&Begun { before, ..begun }, site, self.subject.key, outcome, marked);
        if let Some(open) = self.open.take() {
            handler::finish(*open, outcome);
        }
    }
}

impl Drop for AsyncCall {
    fn drop(&mut self) {
        if self.begun.id != 0 {
            let panicking = std::thread::panicking();
            self.end(if panicking && self.polls == 0 { Outcome::Panicked } else { Outcome::Cancelled });
        }
    }
}

const _: () = {
    const fn stays_everywhere<T: Send + Sync + Unpin>() {}
    stays_everywhere::<AsyncCall>();
};
