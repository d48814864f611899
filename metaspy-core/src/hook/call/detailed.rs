//! The begin of a call whose arguments and receiver may be recorded.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{Ordering, fence};

use metaspy_probe::{Entered, Frame, Seen};

use super::{begin, count, enter_in, is_selected, put};
use crate::arm::{CallView, Config, with_plan};
use crate::event::EventId;
use crate::hook::call::Call;
use crate::hook::details::{self, Reify};
use crate::hook::handler;
use crate::hook::light_call;
use crate::method_profilers;
use crate::platform::signal_mask::may_be_in_handler;
use crate::recorder::{self, About};
use crate::site::Site;
use crate::subject::Subject;
use crate::subject::receiver;

/// As [`enter_with_in`], or counted.
#[inline(always)]
pub fn count_or_enter_with_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    match site.tally_row() {
        // Calls at such a site show nothing.
        Some(_) => count_or_enter_in(frame, site, subject),
        None => enter_with_in(frame, site, subject, reify),
    }
}

#[cold]
#[inline(never)]
fn count_or_enter_in<'f>(frame: &'f mut Frame, site: &'static Site, subject: Subject) -> Entered<'f> {
    count(site, subject).unwrap_or_else(|| enter_in(frame, site, subject))
}

/// As [`enter_with`], the call made in its frame.
#[inline(always)]
pub fn enter_with_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    let config = Config(site.config.load(Relaxed));
    if config.looks_inside() {
        return look_in(frame, site, subject, config, reify);
    }
    enter_in(frame, site, subject)
}

#[cold]
#[inline(never)]
fn look_in<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    if config.is_profiled() {
        return begin_profiled(frame, site, subject, reify);
    }
    put(frame, enter_with(site, subject, reify))
}

/// Begins a call at a site that method profilers are interested in.
#[cold]
#[inline(never)]
pub(super) fn begin_profiled<'f, 'a>(
    frame: &'f mut Frame,
    site: &'static Site,
    subject: Subject,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Entered<'f> {
    let mut seen = Seen::new(receiver::of(subject), &[]);
    seen.kind = subject.kind.0.into();
    let frame = match light_call::enter(frame, site, &seen) {
        Ok(entered) => return entered,
        Err(frame) => frame,
    };
    let activation = method_profilers::enter(site, &seen);
    let mut call = enter_with(site, subject, reify);
    call.activation = activation;
    put(frame, call)
}

/// Begins a call whose arguments and receiver may be recorded: `reify` runs only if they are required.
#[inline(always)]
pub fn enter_with<'a>(site: &'static Site, subject: Subject, reify: impl FnOnce(&mut Reify<'a>)) -> Call {
    fence(Ordering::Acquire);
    if !is_selected(site, subject) {
        return Call::inert();
    }
    let config = Config(site.config.load(Relaxed));
    if config.looks_inside() && with_plan(site, |plan| plan.looks_inside(subject)).unwrap_or(false) {
        return begin_detailed(site, subject, config, reify);
    }
    begin(site, subject)
}

#[cold]
pub(super) fn begin_detailed<'a>(
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Call {
    if recorder::lane_level() > 0 {
        // What a handler or a `Debug` calls is not looked into in turn: that would never end.
        return begin_plainly(site, subject, config);
    }
    let Some(requirements) = with_plan(site, |plan| plan.requirements(subject)) else { return begin(site, subject) };
    if requirements.handlers.is_empty() && may_be_in_handler() {
        // The text of a value takes memory, and a signal may have interrupted the allocator.
        return begin_plainly(site, subject, config);
    }
    let mut reified = Reify::default();
    recorder::at_meta_level(|| reify(&mut reified));
    let details: &[u8] = if requirements.details { reified.bytes.as_slice() } else { &[] };
    let begun = recorder::begin_detailed(config.site(), subject, details);
    let mut call = Call::new(site, subject, begun);
    call.begun.about.0 |= About::LOOKED_INTO;
    let view = CallView {
        site,
        subject,
        cause: EventId::from_raw(begun.before),
        event: call.event(),
        // Only handlers read them here.
        arguments: if requirements.handlers.is_empty() { Vec::new() } else { details::read(reified.bytes.as_slice()) },
        outcome: None,
        receiver: reified.receiver,
    };
    handler::before(&requirements.handlers, &view);
    handler::remember(begun.id, requirements, view);
    call
}

/// Begins a call into which nobody looks.
fn begin_plainly(site: &'static Site, subject: Subject, config: Config) -> Call {
    Call::new(site, subject, recorder::begin(config.site(), subject, true))
}
