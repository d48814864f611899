//! The parts of instrumented code: sites, guards, subjects and outcomes.
//!
//! It needs no `std` and has no dependencies, so every crate can contain it. `cargo metaspy`
//! compiles these sources by the compiler alone, beside the crates that it weaves; the core depends
//! on them as a package. Programs depend on the facade, `metaspy`.
//!
//! Two switches select a flavour of the package. `metaspy_bare` leaves out `std`, and with it the
//! counters of a thread. `metaspy_called` keeps a hook out of the function that it observes, which
//! compiles faster and runs slower.
//!
//! Observed and woven code share this package, instead of having a runtime each. Both kinds of
//! hooks then have the same outcomes, subjects and profilers.
#![no_std]

/// The core library, whatever the calling crate's `core` is.
#[doc(hidden)]
pub extern crate core as library;
#[cfg(not(metaspy_bare))]
extern crate std;

mod cause;
#[doc(hidden)]
pub mod hash;
mod hook;
#[doc(hidden)]
pub mod known;
mod macros;
mod outcome;
#[cfg(not(metaspy_bare))]
mod qualified;
mod subject;
mod text;
mod value;

pub use cause::*;
pub use hook::*;
pub use outcome::Outcome;
#[cfg(not(metaspy_bare))]
pub use qualified::{qualified, unqualified};
pub use subject::{KindId, Subject};
pub use text::Text;
pub use value::*;

/// The abilities of a value if only its type is of interest: none.
#[doc(hidden)]
pub mod unseen {
    pub use crate::value::type_layout::{Unseen as CanBeHashed, Unseen as CanBeShown};
    #[cfg(not(metaspy_bare))]
    pub use crate::value::type_layout::{Unseen as CanBeKept, Unseen as CanBeListed};
    #[cfg(not(metaspy_bare))]
    pub use crate::value::value_copy::{CannotBeKept, CannotBeListed};
    pub use crate::value::{CannotBeHashed, CannotBeShown};
}

/// The abilities of a value of any type.
#[doc(hidden)]
pub mod any {
    #[cfg(not(metaspy_bare))]
    pub use crate::value::value_copy::{CanBeKept, CanBeListed, CannotBeKept, CannotBeListed};
    pub use crate::value::{CanBeHashed, CanBeShown, CannotBeHashed, CannotBeShown};
}
