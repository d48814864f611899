//! Async calls: they leave their thread between polls, and may continue on another one.
//!
//! The *before* hook runs at the first poll, the *after* hook at completion or drop. During a poll
//! the call is on the stack of the polling thread, so it is the caller of the calls that it makes.

use metaspy_probe::{Seen, Value};

use crate::event::Outcome;
use crate::method_profilers::call_stack::{self, Entry, NO_TEST, Thread};
use crate::method_profilers::contexts::{self, Paused};
use crate::method_profilers::dispatch::{begin, finish_innermost};
use crate::method_profilers::test_context::TestId;
use crate::site::Site;

/// An async call.
pub(crate) struct AsyncCall {
    state: State,
    /// Ticks of its polls so far.
    busy: u64,
    /// The test that it belongs to.
    test: u32,
}

enum State {
    /// It is not being polled. Beside its entry is its calling context.
    Paused(Entry, Option<Paused>),
    /// It is being polled, at this height of the stack of its thread.
    Polled(usize),
    /// It has ended.
    Over,
}

// SAFETY: the values that an entry keeps are `Send`, its receiver is a number and a static text,
// and everything else is shared.
unsafe impl Send for AsyncCall {}
// SAFETY: nothing is done with a shared one.
unsafe impl Sync for AsyncCall {}

impl AsyncCall {
    /// Begins a call, if a profiler observes its site.
    pub fn begin(site: &'static Site, seen: &Seen<'_>) -> Option<AsyncCall> {
        call_stack::with(|thread| {
            begin(thread, site, seen.receiver, seen.arguments())?;
            let mut waiting =
                AsyncCall { state: State::Polled(thread.stack.len()), busy: 0, test: thread.test };
            waiting.pause(thread);
            Some(waiting)
        })?
    }

    /// A poll begins.
    pub fn resume(&mut self) {
        let (mut entry, context) = match std::mem::replace(&mut self.state, State::Over) {
            State::Paused(entry, context) => (Some(entry), context),
            other => return self.state = other,
        };
        let test = self.test;
        let height = call_stack::with(|thread| {
            if !entry.as_ref().is_some_and(|entry| thread.has_room(entry.site)) {
                return None;
            }
            let mut entry = entry.take().expect("it is paused");
            let depth = thread.depth_of(entry.site);
            entry.depth = *depth;
            *depth += 1;
            if let Some(shown) = entry.shown.as_mut().filter(|shown| shown.test_before != NO_TEST) {
                shown.test_before = std::mem::replace(&mut thread.test, test);
            }
            entry.context = match entry.present.tree {
                Some((tree, _)) => tree.resume(context),
                None => contexts::go_to(None),
            };
            entry.started = entry.now();
            thread.stack.push(entry);
            Some(thread.stack.len())
        });
        let height = height.flatten();
        self.state = match (height, entry) {
            (Some(height), _) => State::Polled(height),
            // A profiler polls it: on the stack there is nothing of it.
            (None, Some(entry)) => State::Paused(entry, context),
            (None, None) => State::Over,
        };
    }

    /// A poll ends, and the call is not done.
    pub fn suspend(&mut self) {
        call_stack::with(|thread| self.pause(thread));
    }

    fn pause(&mut self, thread: &mut Thread) {
        if !self.is_innermost(thread) {
            return;
        }
        let Some(mut entry) = thread.stack.pop() else { return };
        entry.present.count();
        let context = entry.present.tree.and_then(|(tree, _)| tree.pause());
        contexts::go_to(entry.context.take());
        let depth = thread.depth_of(entry.site);
        *depth = depth.saturating_sub(1);
        if entry.test_before() != NO_TEST {
            thread.test = entry.test_before();
        }
        let ticks = entry.now().saturating_sub(entry.started);
        self.busy += ticks;
        if let Some(around) = thread.stack.last_mut() {
            around.inner += ticks;
        }
        self.state = State::Paused(entry, context);
    }

    /// The call is done, or dropped before.
    pub fn end(&mut self, outcome: Outcome, returned: Option<&Value<'_>>) {
        self.resume();
        call_stack::with(|thread| {
            if self.is_innermost(thread)
                && let Some(entry) = thread.stack.last_mut()
            {
                // As if all of its polls had been one.
                entry.started = entry.started.saturating_sub(self.busy);
                finish_innermost(thread, outcome, returned);
                if let Some(around) = thread.stack.last_mut() {
                    // It has these already.
                    around.inner = around.inner.saturating_sub(self.busy);
                }
                self.state = State::Over;
            }
        });
    }

    /// True if it is the innermost call. Calls above it were left without an end, for example by
    /// `longjmp`; they end now.
    fn is_innermost(&self, thread: &mut Thread) -> bool {
        let State::Polled(height) = self.state else { return false };
        while thread.stack.len() > height {
            finish_innermost(thread, Outcome::Returned, None);
        }
        thread.stack.len() == height
    }
}

impl Drop for AsyncCall {
    fn drop(&mut self) {
        // Calls of an ending thread are not reported.
        if let State::Paused(entry, _) = &self.state
            && entry.test_before() != NO_TEST
        {
            TestId(self.test).ends();
        }
    }
}
