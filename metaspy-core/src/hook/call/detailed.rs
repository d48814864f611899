//! The begin of a call whose arguments and receiver may be recorded.

use crate::arm::{CallView, Config, with_plan};
use crate::event::EventId;
use crate::hook::call::Call;
use crate::hook::details::{self, Reify};
use crate::hook::handler;
use crate::platform::signal_mask::may_be_in_handler;
use crate::recorder::{self, About};
use crate::site::Site;
use crate::subject::Subject;

/// Begins an event with the arguments and handlers that the plan requires. `reify` runs only if
/// they are required.
#[cold]
pub(super) fn begin_detailed<'a>(
    site: &'static Site,
    subject: Subject,
    config: Config,
    reify: impl FnOnce(&mut Reify<'a>),
) -> Call {
    if recorder::lane_level() > 0 {
        // A call from a handler or a `Debug` is not looked into in turn: the recursion would never
        // end.
        return begin_plainly(site, subject, config);
    }
    let Some(requirements) = with_plan(site, |plan| plan.requirements(subject)) else {
        return begin_plainly(site, subject, config);
    };
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
        arguments: if requirements.handlers.is_empty() {
            Vec::new()
        } else {
            details::read(reified.bytes.as_slice())
        },
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
