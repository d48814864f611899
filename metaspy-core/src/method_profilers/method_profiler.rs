//! The trait of method profilers.

use crate::format::facts::Facts;
use crate::method_profilers::call::{Call, CallEnd};
use crate::method_profilers::contexts::ContextTree;
use crate::method_profilers::mirror::MethodSpy;
use crate::method_profilers::table::{CallerTable, Count, Data, Tables};

/// The interest of a profiler in further calls of a method.
pub enum Interest<'s> {
    /// Each call.
    Each,
    /// Calls on other objects. Further calls of this thread on the same object, or on none if this
    /// one has none, are only counted: by the tally, and in this column.
    OtherObjects(Option<&'s Count>),
    /// None. Further calls of this thread are only counted: by the tally, and in this column.
    Nothing(Option<&'s Count>),
}

/// A profiler with hooks before, after and around the calls of methods, and with data of its own
/// for each package, type and method.
///
/// Its hooks run in place, on the thread of the call, and nothing that they call is observed. A
/// panic in one is caught and counted. If the program calls observed methods in signal handlers,
/// its hooks run there, too: then they must neither take memory nor wait for a lock. Values in
/// columns and rows of tables do neither, so [`Calls`](crate::method_profilers::Calls) can be used.
pub trait MethodProfiler: Send + Sync + Sized + 'static {
    /// The name of the profiler and of its profile.
    const NAME: &'static str;
    /// True if the profiler needs the time of calls: then two clocks are read for each.
    const TIMED: bool = false;

    /// True if no hook panics, so that panics need not be caught.
    #[doc(hidden)]
    const TRUSTED: bool = false;

    /// True if only the ends of calls matter, and each of them: then no hook runs before a call.
    #[doc(hidden)]
    const ONLY_ENDS: bool = false;

    /// True if all that it records of a call is its context.
    #[doc(hidden)]
    const ONLY_CONTEXTS: bool = false;

    /// True if all that it records of a call is known when the call begins, at hooks that see no
    /// more.
    #[doc(hidden)]
    const ONLY_BEGINNINGS: bool = false;

    /// The table of callers, if the times of a call, there and at its method, are all that a call
    /// changes.
    #[doc(hidden)]
    fn times(&self) -> Option<&CallerTable> {
        None
    }

    /// The tree that calls are counted in by their contexts.
    #[doc(hidden)]
    fn context_tree(&self) -> ContextTree {
        ContextTree::default()
    }

    /// The data of a package: a crate, or a module.
    type Package: Default + Send + Sync;
    /// The data of a type, a trait, or the functions of a module.
    type Type: Default + Send + Sync;
    /// The data of a method, with columns that are written into the recording.
    type Method: Data;
    /// The data of a call while it runs.
    type Around: Send + 'static;

    /// Makes tables beside that of the methods; called once, before the first call.
    fn install(&mut self, tables: &mut Tables<'_>) {
        let _ = tables;
    }

    /// True if the profiler observes a method; called once for each.
    fn selects(&self, facts: &Facts) -> bool {
        let _ = facts;
        true
    }

    /// Before a call.
    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        let _ = (spy, call);
    }

    /// The interest in further calls of a method; called after [`MethodProfiler::before`]. Calls
    /// that only need to be counted are counted at their hook, for a few nanoseconds, until another
    /// test begins or ends. Not called while several profilers observe the method.
    fn interest<'s>(&self, spy: &'s MethodSpy<Self>, call: &Call<'_>) -> Interest<'s> {
        let _ = (spy, call);
        Interest::Each
    }

    /// After a call, however it ended.
    fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, ended: &CallEnd<'_>) {
        let _ = (spy, call, ended);
    }

    /// Around a call: the result is kept while the call runs, and dropped when it has ended, after
    /// [`MethodProfiler::after`]. It cannot replace the call.
    fn around(&self, spy: &MethodSpy<Self>, call: &Call<'_>) -> Option<Self::Around> {
        let _ = (spy, call);
        None
    }
}
