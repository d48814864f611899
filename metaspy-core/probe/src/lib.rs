//! What instrumented code holds: sites, guards, subjects and outcomes.
//!
//! It needs no `std` and has no dependencies, so every crate can contain it. `cargo metaspy` compiles these sources by the
//! compiler alone, beside the crates that it weaves; the core depends on them as a package. Programs depend on the facade,
//! `metaspy`.
//!
//! Two switches select a flavour of the package. `metaspy_bare` leaves out `std`, and with it the counters of a thread.
//! `metaspy_called` keeps a hook out of the function that it observes, which compiles faster and runs slower.
#![no_std]

/// The core library, whatever the calling crate's `core` is.
#[doc(hidden)]
pub extern crate core as library;
#[cfg(not(metaspy_bare))]
extern crate std;

mod async_call;
mod guard;
#[doc(hidden)]
pub mod hash;
mod macros;
mod outcome;
mod site;
mod subject;
mod value;
mod value_copy;

pub use async_call::*;
pub use guard::*;
pub use outcome::Outcome;
pub use site::{SiteId, SiteKind};
pub use subject::{KindId, Subject};
pub use value::*;
pub use value_copy::*;
