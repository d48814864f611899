//! The end of an observed call.

use crate::arm::Config;
use crate::event::Outcome;
use crate::hook::call::Call;
use crate::hook::handler;
use crate::method_profilers;
use crate::recorder::{self, About};
use crate::site::Site;

impl Call {
    /// The normal way out.
    #[inline(always)]
    pub fn done(mut self, outcome: Outcome) {
        self.finish(outcome);
        std::mem::forget(self);
    }

    /// The normal way out of a call in a frame, which is not used again.
    #[inline(always)]
    pub(in crate::hook) fn finish_last(&mut self, outcome: Outcome) {
        if self.activation.is_some() {
            return self.finish_profiled(outcome);
        }
        if self.begun.id != 0 {
            end_inlined(self, outcome);
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_profiled(&mut self, outcome: Outcome) {
        if let Some(activation) = self.activation.take() {
            method_profilers::finish(activation, outcome);
        }
        self.finish_last(outcome);
    }

    /// Another way out of a call in a frame, which is not used again.
    pub(in crate::hook) fn leave_last(&mut self) {
        if let Some(activation) = self.activation {
            method_profilers::finish(activation, self.unannounced());
        }
        self.leave();
    }

    /// The normal way out of a call that stays where it is; dropping it afterwards does nothing.
    #[inline(always)]
    pub fn finish(&mut self, outcome: Outcome) {
        // A call that was only counted needs nothing more if it ended well.
        let is_done = self.begun.id == recorder::COUNTED
            && matches!(outcome, Outcome::Returned | Outcome::Succeeded);
        if self.begun.id != 0 && !is_done {
            end(self, outcome);
        }
        self.begun.id = 0;
    }

    /// As dropping it.
    #[inline(always)]
    pub fn leave(&mut self) {
        if self.begun.id != 0 {
            end_unannounced(self);
        }
        self.begun.id = 0;
    }

    /// The outcome of a call that ends without stating one.
    fn unannounced(&self) -> Outcome {
        match self.begun.about.outcome() {
            _ if std::thread::panicking() && !self.begun.about.is(About::PANICKING) => {
                Outcome::Panicked
            }
            Outcome::Running => Outcome::Returned,
            announced => announced,
        }
    }
}

impl Drop for Call {
    #[inline(always)]
    fn drop(&mut self) {
        self.leave();
    }
}

/// Ends a call without a stated outcome: by `return`, by `?`, or by a panic that began since.
#[inline(never)]
fn end_unannounced(call: &mut Call) {
    end(call, call.unannounced());
}

#[inline(never)]
fn end(call: &mut Call, outcome: Outcome) {
    end_inlined(call, outcome);
}

#[inline(always)]
fn end_inlined(call: &mut Call, outcome: Outcome) {
    let Some(site) = call.site else { return };
    if call.begun.about.is(About::LOOKED_INTO) {
        return end_looked_into(call, site, outcome);
    }
    // SAFETY: a call that began on a thread ends on it, and a thread's lane is there as long as the
    // thread.
    let lane = unsafe { &*call.lane };
    recorder::end(lane, &call.begun, Config::of(site).site(), call.key, outcome);
}

#[cold]
#[inline(never)]
fn end_looked_into(call: &mut Call, site: &'static Site, outcome: Outcome) {
    let wrote = handler::write_return(call.begun.id);
    recorder::end_marked(&call.begun, Config::of(site).site(), call.key, outcome, wrote);
    handler::after(call.begun.id, outcome);
}
