//! Events without a length: changes, announcements, and announcements that were missed.
//!
//! Messages that a bus dropped are a tally with one event: of *n* missed messages one event carries
//! the gap, and *n* − 1 are counted beside it. A mark alone leaves with its block, and received and
//! missed would no longer add up to sent.

use std::sync::atomic::{Ordering, fence};

use crate::arm::Config;
use crate::causality::because;
use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::call::{count, enter, enter_with, is_selected};
use crate::hook::details::Reify;
use crate::recorder::{self, Level};
use crate::site::Site;
use crate::subject::Subject;

/// Records that `count` of something were missed: announcements that a bus dropped before they were
/// heard.
///
/// One of them is an event, which carries the gap; the others are counted beside it. So a tally of
/// the site is the exact number of missed ones, whatever becomes of the event.
#[cold]
pub fn missed(site: &'static Site, subject: Subject, count: u64) -> Option<EventId> {
    if count == 0 || !site.is_armed() {
        return None;
    }
    // The announcements are the application's, also if an uninstall counts them.
    let _level = Level::raise(0);
    let call = enter(site, subject);
    if call.is_observed() {
        recorder::tally_more(Config::of(site).site(), subject, count - 1);
    }
    let event = call.event();
    if let Some(event) = event {
        // A mark that finds no room is counted as lost; how many were missed is in the tally all
        // the same.
        let _ = recorder::mark(Mark::Gap, event.raw(), [count, 0], &[]);
    }
    call.done(Outcome::Instant);
    event
}

/// Records something that has no length: a change, an announcement. Returns its event.
#[inline]
pub fn instant(site: &'static Site, subject: Subject) -> Option<EventId> {
    if site.is_armed() { instant_with(site, subject, None, |_| ()) } else { None }
}

/// As [`instant`], at a site that is armed: with a named cause, if there is one, and with details,
/// if they are required.
#[inline]
pub fn instant_with<'a>(
    site: &'static Site,
    subject: Subject,
    cause: Option<EventId>,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Option<EventId> {
    fence(Ordering::Acquire);
    if !is_selected(site, subject) {
        return None;
    }
    let config = Config::of(site);
    if config.is_simple() && config.is_full() {
        return recorder::point(config.site(), subject, cause, Some(Outcome::Instant)).event();
    }
    if count(site, subject).is_some() {
        return None;
    }
    let _cause = cause.map(because);
    let call = enter_with(site, subject, reify);
    let event = call.event();
    call.done(Outcome::Instant);
    event
}
