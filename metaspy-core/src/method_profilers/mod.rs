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
mod method_profiler;
mod mirror;
mod observer;
mod present;
mod registry;
mod returns;
mod site_facts;
mod table;
mod test_context;
mod too_many;

pub(crate) use async_call::AsyncCall;
pub use call::{Argument, Call, CallEnd};
pub(crate) use call_stack::Activation;
pub use calls::{Calls, Timed};
pub use coverage::{Covered, TestCoverage};
pub(crate) use dispatch::{enter, finish, returned};
pub use factory::{FACTORIES, ProfilerFactory};
pub use identity_set::IdentitySet;
pub use metaspy_format::facts::{Facts, SelfKind, Visibility};
pub use method_profiler::{Interest, MethodProfiler};
pub use mirror::{MethodSpy, Mirror, PackageSpy, TypeSpy};
pub(crate) use observer::Observer;
pub(crate) use registry::{Instrument, Observing};
pub use returns::Returns;
pub use table::{CallerTable, Choice, Columns, Count, Data, Flags, Max, Min, Row, SubjectTable, Tables};
pub use test_context::TestId;
pub use too_many::TooManyProfilers;

pub use crate::format::profile::{Column, Merge};
