//! Method profilers: hooks before, after and around the calls of methods, with data for each
//! package, type and method.
//!
//! This is SPY's structural correspondence (*Spy: A flexible code profiling framework*, sections 3
//! and 4). A profiler adds up its values in place, at the element that they belong to:
//! [`PackageSpy`], [`TypeSpy`] or [`MethodSpy`]. It sees every method that has a site, observed or
//! woven, run or not.
//!
//! - [`MethodProfiler`] has the hooks.
//!   [`Profiler::method_profiler`](crate::Profiler::method_profiler) installs it, and
//!   [`profiler!`](crate::profiler!) makes it available by its name.
//! - [`Data`] declares the columns of a method: [`Count`], [`Max`], [`Min`], [`Flags`], [`Choice`].
//!   [`Tables`] makes tables with other keys: by site and subject, or by callee and caller.
//! - The columns are tables of the recording. Each thread writes words of its own, without waiting,
//!   so the values are there after `kill -9`, too. Readers merge threads, processes and recordings
//!   by the rule of each column, and show the columns without any code for the profiler:
//!   [`Store::profiles`](crate::Store::profiles), `metaspy report`, the crawler.
//! - How often a method ran is no column: it is counted by the tally.
//!
//! [`TestCoverage`] and [`Calls`] are written with nothing but this.
//!
//! ```
//! use metaspy_core::Profiler;
//! use metaspy_core::method_profilers::{Call, CallEnd, Columns, Count, Data, Max, MethodProfiler, MethodSpy};
//!
//! /// Counts failures, and how deep calls are nested.
//! struct Failures;
//!
//! struct Failed {
//!     failures: Count,
//!     deepest: Max,
//! }
//!
//! impl Data for Failed {
//!     fn new(columns: &mut Columns<'_>) -> Self {
//!         Failed { failures: columns.sum("failures"), deepest: columns.max("deepest") }
//!     }
//! }
//!
//! impl MethodProfiler for Failures {
//!     const NAME: &'static str = "failures";
//!     type Package = ();
//!     type Type = ();
//!     type Method = Failed;
//!     type Around = ();
//!
//!     fn after(&self, spy: &MethodSpy<Self>, call: &Call<'_>, end: &CallEnd<'_>) {
//!         spy.data.failures.add(u64::from(end.outcome() == metaspy_core::Outcome::Failed));
//!         spy.data.deepest.see(call.level() as u64);
//!     }
//! }
//!
//! let profiler = Profiler::new("failures").method_profiler(Failures).install()?;
//! // … the program runs …
//! let profile = profiler.uninstall();
//! for method in profile.mirror::<Failures>().expect("it was installed").methods() {
//!     println!("{:>8}  {}", method.data.failures.get(), method.facts.path());
//! }
//! # Ok::<(), metaspy_core::InstallError>(())
//! ```

mod async_call;
mod block;
mod call;
mod call_stack;
mod calls;
mod contexts;
mod coverage;
mod dispatch;
mod hook_cost;
mod identity_set;
mod known_call;
mod method_profiler;
mod mirror;
mod observer;
mod present;
mod ratio;
mod receivers;
mod refusal;
mod registry;
mod repeats;
mod returns;
mod site_facts;
mod spans;
mod table;
mod test_context;
mod type_names;
mod types;
mod uncounted;

pub(crate) use async_call::AsyncCall;
pub(crate) use block::Block;
pub use call::{Argument, Call, CallEnd};
pub(crate) use call_stack::{Activation, is_busy as runs_profiler};
pub use calls::{Calls, Timed};
#[doc(hidden)]
pub use contexts::ContextTree;
pub use contexts::{Allocations, Contexts};
pub(crate) use contexts::{Birth, born, died};
pub(crate) use contexts::{Node as Context, Tree, alone_at, go_in as go_to_context};
pub use coverage::{Covered, TestCoverage};
pub(crate) use dispatch::{enter, enter_for_end, finish, observers_at_end, returned};
pub use identity_set::IdentitySet;
pub(crate) use known_call::{begin as begin_known, end as end_known};
pub use metaspy_format::facts::{Facts, SelfKind, Visibility};
pub use method_profiler::{Interest, MethodProfiler};
pub use mirror::{MethodSpy, Mirror, PackageSpy, TypeSpy};
pub(crate) use observer::Observer;
pub use ratio::{MethodsRun, Ratio};
pub(crate) use refusal::Refusal;
pub use refusal::TooManyProfilers;
pub(crate) use registry::{Observing, install};
pub use repeats::{Inputs, Repeats};
pub use returns::Returns;
pub use table::{
    CallerTable, Choice, Columns, Count, Data, Flags, KeyedRow, Max, Min, SubjectTable, Tables,
};
pub use test_context::TestId;
pub use types::Types;
pub(crate) use uncounted::uncounted;

pub use crate::format::profile::{Column, Merge};
