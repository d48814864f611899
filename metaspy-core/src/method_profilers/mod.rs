//! The mirror of a program: one spy for each package, type and method that was woven, run or not, and profilers that keep
//! data of their own at each.
//!
//! This is SPY's structural correspondence (*Spy: A flexible code profiling framework*, sections 3 and 4): what is measured
//! is added up in place, at the element that it is about, and no trace is walked. A profiler says what happens before,
//! after and around a call; [`TestCoverage`] and [`Calls`] are written with nothing but this.
//!
//! ```
//! use metaspy_core::method_profilers::{Call, Count, MethodSpy, MethodProfiler};
//!
//! /// Counts calls.
//! #[derive(Default)]
//! struct Counting;
//!
//! impl MethodProfiler for Counting {
//!     const NAME: &'static str = "counting";
//!     type Package = ();
//!     type Type = ();
//!     type Method = Count;
//!     type Around = ();
//!
//!     fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
//!         spy.data.add(1);
//!     }
//! }
//!
//! let spying = metaspy_core::method_profilers::install(Counting).expect("there is room for a profiler");
//! // … what is woven runs …
//! for method in spying.uninstall().methods() {
//!     println!("{:>8}  {}", method.data.get(), method.facts.path());
//! }
//! ```

mod async_call;
mod call;
mod call_stack;
mod calls;
mod coverage;
mod dispatch;
mod factory;
mod identity_set;
mod mirror;
mod registry;
mod returns;
mod table;
mod test_context;

pub(crate) use async_call::AsyncCall;
pub use call::{Argument, Call, CallEnd};
pub(crate) use call_stack::Activation;
pub use calls::{Calls, Timed};
pub use coverage::{Covered, TestCoverage};
pub(crate) use dispatch::{enter, finish, returned};
pub use factory::{FACTORIES, ProfilerFactory};
pub use identity_set::IdentitySet;
pub use metaspy_format::facts::{Facts, SelfKind, Visibility};
pub use mirror::{MethodSpy, Mirror, PackageSpy, TypeSpy};
pub use registry::TooManyProfilers;
pub(crate) use registry::{Instrument, Observer, Observing};
pub use returns::Returns;
pub use table::{CallerTable, Choice, Columns, Count, Data, Flags, Max, Min, Row, SubjectTable, Tables};
pub use test_context::TestId;

pub use crate::format::profile::{Column, Merge};

/// The interest of a profiler in further calls of a method.
pub enum Interest<'s> {
    /// Each call.
    Each,
    /// Calls on other objects. Further calls of this thread on the same object, or on none if this one has none, are only
    /// counted: by the tally, and in this column.
    OtherObjects(Option<&'s Count>),
    /// None. Further calls of this thread are only counted: by the tally, and in this column.
    Nothing(Option<&'s Count>),
}

/// A profiler with hooks before, after and around the calls of methods, and with data of its own for each package, type and
/// method.
///
/// Its hooks run in place, on the thread of the call, and nothing that they call is observed. A panic in one is caught and
/// counted.
pub trait MethodProfiler: Send + Sync + Sized + 'static {
    /// The name of the profiler and of its profile.
    const NAME: &'static str;
    /// True if the profiler needs the time of calls: then two clocks are read for each.
    const TIMED: bool = false;

    /// True if no hook panics, so that panics need not be caught.
    #[doc(hidden)]
    const TRUSTED: bool = false;

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

    /// The interest in further calls of a method; called after [`MethodProfiler::before`]. Calls that only need to be counted
    /// are counted at their hook, for a few nanoseconds, until another test begins or ends. Not called while several
    /// profilers observe the method.
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
