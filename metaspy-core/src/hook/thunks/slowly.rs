//! The rare halves of the thunks of events: ordinary functions, which the assembly calls.

use metaspy_probe::{Cell, Frame, Lean, Site};

use crate::event::Outcome;
use crate::hook::{adapter, call};
use crate::recorder::end_lean_slowly;
use crate::subject::{KindId, Subject};

/// The rare half of `enter`, in the place of [`Slowly`](metaspy_probe::Slowly).
macro_rules! begin {
    ($(#[$doc:meta])* $name:ident: $begin:expr) => {
        $(#[$doc])*
        pub(super) extern "C" fn $name(
            frame: *mut Frame,
            site: &'static Site,
            _receiver: *const u8,
            key: u64,
            kind: u64,
            _cell: Option<&Cell>,
        ) -> *mut u8 {
            // SAFETY: the frame is the caller's, who holds it until the call ends.
            let frame = unsafe { &mut *frame };
            $begin(frame, site, Subject::new(KindId(kind as u16), key)).into_raw()
        }
    };
}
begin! {
    /// An event for which no slot is left, or whose epoch is a new one, or whose clock is slower.
    begin_timed: |frame, site, subject| call::begin_slowly(frame, site, subject, true)
}
begin! {
    /// As [`begin_timed`], of an event that is not timed.
    begin_untimed: |frame, site, subject| call::begin_slowly(frame, site, subject, false)
}
begin! {
    /// A call of a woven function that was an event when its site was read.
    begin_event: call::enter_in
}
begin! {
    /// A sampled call that is timed.
    begin_next_timed: call::begin_next_timed
}

/// A call that is no lean event, or one that does not end in the common way; `now` is the time if
/// it was read.
pub(super) extern "C" fn finish_slowly(begun: *mut u8, outcome: u64, now: u64) {
    let outcome = Outcome::from_bits(outcome as u8);
    match Lean::from_raw(begun) {
        Some(lean) => end_lean_slowly(lean, outcome, now),
        None => adapter::finish_other(begun, outcome),
    }
}
