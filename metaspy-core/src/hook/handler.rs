//! Handlers: the `do:` blocks of the papers, run in place around a call.
//!
//! Before in install order, after in reverse; at meta level; a panic in one is caught, counted and
//! reported. A call that entered under a set of handlers leaves under the same one, whatever is
//! uninstalled meanwhile.
//!
//! Handlers run before and after a call, and never *instead* of it, as MetaSpy's can. A replacement
//! must have the types, borrows and drops of the call at compile time, and a profiler must not
//! change a result. An object that implements the trait in its own way replaces operations.

use std::cell::RefCell;
use std::fmt::Debug;

use crate::arm::{CallView, Handler, Requirements, When};
use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::details::{self, Detail, DetailBytes, DetailKind};
use crate::recorder;
use crate::site::Site;
use crate::subject::Subject;

/// The limit of a call's arguments for handlers: once it is reached, no more are added.
const ARGUMENTS_MAX: usize = 128;

/// A running call with handlers or details.
pub(crate) struct Open {
    id: u64,
    requirements: Requirements,
    site: &'static Site,
    subject: Subject,
    cause: Option<EventId>,
    event: Option<EventId>,
    arguments: Vec<Detail>,
    returned: Option<Box<DetailBytes>>,
}

impl Open {
    /// Records the return value, if that is required.
    pub fn returns(&mut self, value: &dyn Debug) {
        if self.requirements.details {
            self.returned = Some(show(value));
        }
    }

    /// As [`Open::returns`], of a value that was shown.
    pub fn returned(&mut self, shown: Box<DetailBytes>) {
        if self.requirements.details {
            self.returned = Some(shown);
        }
    }

    /// Arguments that became known since it began.
    pub fn argue(&mut self, arguments: &[u8]) {
        if !self.requirements.handlers.is_empty() && self.arguments.len() < ARGUMENTS_MAX {
            self.arguments.extend(details::read(arguments));
        }
    }

    /// True if arguments and return values are recorded.
    pub fn wants_details(&self) -> bool {
        self.requirements.details
    }

    /// Writes the return value, with the time at which the call ends.
    pub fn write_return(&self, now: u64) -> bool {
        let bytes = self.returned.as_ref();
        bytes.is_some_and(|bytes| {
            recorder::mark_at(now, Mark::Detail, self.id, [0; 2], bytes.as_slice()).is_some()
        })
    }
}

/// A return value as text.
pub(crate) fn show(value: &dyn Debug) -> Box<DetailBytes> {
    let mut bytes = Box::<DetailBytes>::default();
    bytes.push(DetailKind::Return, "", value);
    bytes
}

thread_local! {
    static OPEN: RefCell<Vec<Open>> = const { RefCell::new(Vec::new()) };
}

/// Works on the running calls of this thread. `None` if its thread-locals are gone, or if it is at
/// work on them already: the allocator, or a signal handler, may call a hook in the middle.
fn with_open<R>(work: impl FnOnce(&mut Vec<Open>) -> R) -> Option<R> {
    OPEN.try_with(|calls| Some(work(&mut *calls.try_borrow_mut().ok()?))).ok().flatten()
}

pub(super) fn before(handlers: &[Handler], view: &CallView<'_>) {
    handlers
        .iter()
        .filter(|handler| handler.when == When::Before)
        .for_each(|handler| handler.run(view));
}

pub(super) fn remember(id: u64, requirements: Requirements, view: CallView<'_>) {
    let CallView { site, subject, cause, event, arguments, .. } = view;
    let open = Open { id, requirements, site, subject, cause, event, arguments, returned: None };
    // Without it, the call has no return value and no handlers after it.
    let _ = with_open(|calls| calls.push(open));
}

pub(super) fn returns(id: u64, value: &dyn Debug) {
    let of_call = |open: &&mut Open| open.id == id;
    let is_wanted = with_open(|calls| {
        calls.iter_mut().rev().find(of_call).is_some_and(|open| open.wants_details())
    });
    if is_wanted != Some(true) {
        return;
    }
    // Formatted while the list is not borrowed: `Debug` may call observed methods itself.
    let bytes = show(value);
    let _ = with_open(|calls| {
        calls.iter_mut().rev().find(of_call).map(|open| open.returned = Some(bytes))
    });
}

/// Writes the return value, if there is one and it is recorded.
pub(super) fn write_return(id: u64) -> bool {
    let bytes =
        with_open(|calls| calls.iter_mut().rev().find(|open| open.id == id)?.returned.take())
            .flatten();
    let is_event = id < recorder::LOST;
    bytes.is_some_and(|bytes| {
        is_event && recorder::mark(Mark::Detail, id, [0; 2], bytes.as_slice()).is_some()
    })
}

pub(super) fn after(id: u64, outcome: Outcome) {
    if let Some(open) = take(id) {
        finish(open, outcome);
    }
}

/// Takes a call off this thread: an async call may end on another.
pub(super) fn take(id: u64) -> Option<Open> {
    with_open(|calls| Some(calls.remove(calls.iter().rposition(|open| open.id == id)?))).flatten()
}

/// Runs the handlers after a call, last installed first.
pub(super) fn finish(open: Open, outcome: Outcome) {
    let Open { requirements, site, subject, cause, event, arguments, .. } = open;
    let outcome = Some(outcome);
    let view = CallView { site, subject, cause, event, arguments, outcome, receiver: None };
    let after = requirements.handlers.iter().rev().filter(|handler| handler.when == When::After);
    after.for_each(|handler| handler.run(&view));
}
