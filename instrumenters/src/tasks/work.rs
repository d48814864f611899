//! A closure as one event, on whatever thread it runs.

use metaspy_core::causality::carried;
use metaspy_core::hook::{Call, enter};
use metaspy_core::{Outcome, Site};

use super::name;

/// Work that has the event as its cause that this thread is in now, and is an event itself.
pub(super) fn observed<R>(work: impl FnOnce() -> R, site: &'static Site) -> impl FnOnce() -> R {
    let cause = carried();
    move || {
        let _because = cause.because();
        let call = if site.is_armed() { enter(site, name::next_task()) } else { Call::inert() };
        let value = work();
        call.done(Outcome::Returned);
        value
    }
}
