//! A profiler and its mirror, as hooks see them.

use std::any::Any;
use std::sync::atomic::AtomicU64;

use crate::method_profilers::call_stack::Entry;
use crate::method_profilers::dispatch::guarded;
use crate::method_profilers::table::Table;
use crate::method_profilers::{Call, CallEnd, Interest, MethodProfiler, Mirror};
use crate::site::woven::shown::Value;

/// A profiler and its mirror, whoever it is.
pub(super) trait Observer: Send + Sync {
    fn is_interested(&self, site: usize) -> bool;
    fn is_timed(&self) -> bool;
    /// A panic in the profiler is caught.
    fn before(&self, entry: &Entry, around: &[Entry], seen: Sight<'_>) -> Option<Box<dyn Any + Send>>;
    /// Where this thread counts further calls, and whether those about any object, if nothing else is to be done.
    fn settled(&self, entry: &Entry, around: &[Entry], test: u32) -> Option<(&'static AtomicU64, bool)>;
    /// As [`Observer::before`].
    fn after(&self, entry: &Entry, around: &[Entry], test: u32, ended: &CallEnd<'_>);
}

/// What is seen of a call that begins, beside its entry.
#[derive(Clone, Copy)]
pub(super) struct Sight<'s> {
    pub test: u32,
    pub arguments: &'s [Value<'s>],
}

/// A profiler and its mirror.
pub(super) struct Observing<P: MethodProfiler> {
    pub profiler: P,
    pub mirror: Mirror<P>,
    pub tables: Vec<&'static Table>,
}

impl<P: MethodProfiler> Observer for Observing<P> {
    fn is_interested(&self, site: usize) -> bool {
        self.mirror.at_site(site).is_some()
    }

    fn is_timed(&self) -> bool {
        P::TIMED
    }

    fn before(&self, entry: &Entry, around: &[Entry], seen: Sight<'_>) -> Option<Box<dyn Any + Send>> {
        let spy = self.mirror.at_site(entry.site as usize)?;
        let Sight { test, arguments } = seen;
        let call = Call { entry, around, test, arguments, places: self.mirror.places() };
        let before = || {
            let kept = self.profiler.around(spy, &call);
            self.profiler.before(spy, &call);
            kept
        };
        let kept = if P::TRUSTED { before() } else { guarded(before).flatten() };
        kept.map(|kept| Box::new(kept) as Box<dyn Any + Send>)
    }

    fn settled(&self, entry: &Entry, around: &[Entry], test: u32) -> Option<(&'static AtomicU64, bool)> {
        let spy = self.mirror.at_site(entry.site as usize)?;
        let call = Call { entry, around, test, arguments: &[], places: self.mirror.places() };
        match guarded(|| self.profiler.settles(spy, &call))? {
            Interest::Each => None,
            Interest::CountObject(count) => Some((count.word()?, false)),
            Interest::Count(count) => Some((count.word()?, true)),
        }
    }

    fn after(&self, entry: &Entry, around: &[Entry], test: u32, ended: &CallEnd<'_>) {
        if let Some(spy) = self.mirror.at_site(entry.site as usize) {
            let call = Call { entry, around, test, arguments: &[], places: self.mirror.places() };
            let after = || self.profiler.after(spy, &call, ended);
            if P::TRUSTED {
                after();
            } else {
                guarded(after);
            }
        }
    }
}
