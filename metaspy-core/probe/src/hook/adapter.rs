//! The services of a core for instrumented code: the functions behind a hook that does more than
//! count.
//!
//! The core that adopts a site leaves the address of its [`Adapter`] there. It is one table of
//! functions for all hooks, instead of a runtime for each kind of hook. A call then meets the
//! recorder and the method profilers in one place, so a method profiler works on every site.
//!
//! Types that both sides touch have a C layout. Functions that may unwind have the Rust ABI,
//! because one compiler builds both sides, and `extern "C-unwind"` would keep programs with a core
//! from `panic = "abort"`. The functions that end a call have it as well: they end by calling the
//! next function.

use crate::{
    ContextWord, Counters, EntryCells, Frame, Object, Outcome, Receiver, Site, Thunks, Value,
};

/// The services of a core for instrumented code.
#[repr(C)]
pub struct Adapter {
    /// Begins a call; [`NOT_OBSERVED`](crate::NOT_OBSERVED) if nothing observes it after all. The
    /// arguments are borrowed during this function only.
    pub enter: extern "C" fn(site: &'static Site, frame: *mut Frame, seen: &Seen<'_>) -> *mut u8,
    /// Records how a call ends, before it does. Never called of a [`Lean`](crate::Lean) one.
    pub exit: fn(begun: *mut u8, outcome: Outcome),
    /// Records the return value of a call, before it ends. Returns the pointer that `enter` would
    /// return now that the outcome is known.
    pub returned: fn(begun: *mut u8, value: &Value<'_>) -> *mut u8,
    /// Ends a call that `enter` began, with this outcome.
    pub finish: fn(begun: *mut u8, outcome: Outcome),
    /// Ends a call that `enter` began: with the outcome that `exit` recorded, or *panicked*, or
    /// *returned*.
    pub leave: fn(begun: *mut u8),
    /// Hashes a value of the program, with the program's own code; `None` if that panics, or is
    /// observed itself.
    pub key: fn(value: *const u8, hash: Hash) -> Option<u64>,
    /// Counts a call of which only the beginning is known.
    pub began: extern "C" fn(site: &'static Site),
    /// The same at a site whose calls are only counted. These cells may count the next one.
    pub entered: extern "C" fn(site: &'static Site, cells: &EntryCells),
    /// The same of a call on an object, which method profilers may see.
    pub covered: extern "C" fn(site: &'static Site, cells: &EntryCells, object: &Object),
    /// The same at a site whose calls are counted in their contexts. Returns the context to go back
    /// to when the call has ended; null = its thread stays where it is.
    pub enter_context:
        extern "C" fn(site: &'static Site, cells: &EntryCells, word: &ContextWord) -> *mut (),
    /// Begins an async call; null if it is not observed.
    pub start: extern "C" fn(site: &'static Site, seen: &Seen<'_>) -> *mut u8,
    /// Polls a call that `start` began, by calling `poll` with `data` once.
    pub poll: fn(begun: *mut u8, poll: PollOnce, data: *mut u8),
    /// Records the return value of an async call, before its last poll ends.
    pub returned_async: extern "C" fn(begun: *mut u8, value: &Value<'_>),
    /// Ends a call that `start` began: it is done, or its future is dropped before.
    pub stop: extern "C" fn(begun: *mut u8),
    /// The same two halves for hooks that keep their registers.
    pub thunks: Thunks,
    /// The current event of this thread with its recording, as a number; 0 if it is in none.
    pub carried: extern "C" fn() -> u64,
    /// Names a carried event as the cause of this thread's next events. False if it is in another
    /// recording.
    pub because: extern "C" fn(cause: u64, before: &mut CauseBefore) -> bool,
    /// Ends the cause that `because` began.
    pub no_longer: extern "C" fn(before: &CauseBefore),
}

/// The event that was current before a cause was named, and its log.
#[derive(Debug)]
#[repr(C)]
#[expect(missing_docs)]
pub struct CauseBefore {
    pub event: u64,
    pub named: u64,
    pub log: *const (),
}

/// Hashes a value at an address.
pub type Hash = fn(at: *const u8) -> u64;

/// Polls a future once. True if it is done; then it has recorded the value that it returned, if
/// that is required.
pub type PollOnce = fn(data: *mut u8) -> bool;

/// The parts of a call that a hook shows when the call begins.
#[repr(C)]
pub struct Seen<'v> {
    /// The object that it is about.
    pub receiver: Receiver,
    /// The counters of this thread.
    pub counters: *const Counters,
    /// Distinguishes the types of receivers at this hook: several may be at one address.
    pub kind: u64,
    arguments: *const Value<'v>,
    length: usize,
}

impl<'v> Seen<'v> {
    /// A call about `receiver`, with these arguments.
    #[inline(always)]
    pub fn new(receiver: Receiver, arguments: &'v [Value<'v>]) -> Self {
        let counters = Counters::of_thread();
        Seen { receiver, counters, kind: 0, arguments: arguments.as_ptr(), length: arguments.len() }
    }

    /// A call about a receiver whose type is distinguished by this kind.
    #[inline(always)]
    pub(crate) fn about(receiver: Receiver, kind: u64) -> Self {
        Seen { kind, ..Seen::new(receiver, &[]) }
    }

    /// A call about an object.
    #[doc(hidden)]
    pub fn of_object(object: Object) -> Self {
        Seen::about(object.receiver(), object.kind())
    }

    /// The arguments.
    pub fn arguments(&self) -> &[Value<'v>] {
        // SAFETY: they are a slice, taken apart in `new`, that lives as long as this.
        unsafe { core::slice::from_raw_parts(self.arguments, self.length) }
    }
}
