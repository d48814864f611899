//! Handlers: the `do:` blocks of the papers, run in place around a call.
//!
//! Before in install order, after in reverse; at meta level; a panic in one is caught, counted and reported. A call
//! that entered under a set of handlers leaves under the same one, whatever is uninstalled meanwhile.

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
        bytes.is_some_and(|bytes| recorder::mark_at(now, Mark::Detail, self.id, [0; 2], bytes.as_slice()).is_some())
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

pub(super) fn before(handlers: &[Handler], view: &CallView<'_>) {
    handlers.iter().filter(|handler| handler.when == When::Before).for_each(|handler| handler.run(view));
}

pub(super) fn remember(id: u64, requirements: Requirements, view: CallView<'_>) {
    let CallView { site, subject, cause, event, arguments, .. } = view;
    let open = Open { id, requirements, site, subject, cause, event, arguments, returned: None };
    // A thread whose thread-locals are gone has no handlers after its calls.
    let _ = OPEN.try_with(|calls| calls.borrow_mut().push(open));
}

pub(super) fn returns(id: u64, value: &dyn Debug) {
    let is_wanted = OPEN.try_with(|calls| {
        calls.borrow().iter().rev().find(|open| open.id == id).is_some_and(|open| open.requirements.details)
    });
    if is_wanted != Ok(true) {
        return;
    }
    // Formatted while the list is not borrowed: `Debug` may call observed methods itself.
    let bytes = show(value);
    let _ = OPEN.try_with(|calls| {
        if let Some(open) = calls.borrow_mut().iter_mut().rev().find(|open| open.id == id) {
            open.returned = Some(bytes);
        }
    });
}

/// Writes the return value, if there is one and it is recorded.
pub(super) fn write_return(id: u64) -> bool {
    let bytes = OPEN.try_with(|calls| {
        let mut calls = calls.borrow_mut();
        let open = calls.iter_mut().rev().find(|open| open.id == id)?;
        open.returned.take()
    });
    match bytes {
        Ok(Some(bytes)) if id < recorder::LOST => recorder::mark(Mark::Detail, id, [0; 2], bytes.as_slice()).is_some(),
        _ => false,
    }
}

pub(super) fn after(id: u64, outcome: Outcome) {
    if let Some(open) = take(id) {
        finish(open, outcome);
    }
}

/// Takes a call off this thread: an async call may end on another.
pub(super) fn take(id: u64) -> Option<Open> {
    let taken = OPEN.try_with(|calls| {
        let mut calls = calls.borrow_mut();
        let at = calls.iter().rposition(|open| open.id == id)?;
        Some(calls.remove(at))
    });
    taken.ok().flatten()
}

/// Runs the handlers after a call, last installed first.
pub(super) fn finish(open: Open, outcome: Outcome) {
    let Open { requirements, site, subject, cause, event, arguments, .. } = open;
    let outcome = Some(outcome);
    let view = CallView { site, subject, cause, event, arguments, outcome, receiver: None };
    let after = requirements.handlers.iter().rev().filter(|handler| handler.when == When::After);
    after.for_each(|handler| handler.run(&view));
}
