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

mod adapter;
mod async_call;
mod cause;
mod context;
mod context_word;
mod counters;
mod entry;
mod entry_cells;
mod guard;
#[doc(hidden)]
pub mod hash;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod keeping;
#[doc(hidden)]
pub mod known;
mod lean;
mod macros;
mod outcome;
#[cfg(not(metaspy_bare))]
mod qualified;
mod site;
mod subject;
mod text;
mod thunk;
mod type_layout;
mod value;
mod value_copy;

pub use adapter::{Adapter, CauseBefore, Hash, PollOnce, Seen};
pub use async_call::{AsyncCall, Polled};
pub use cause::*;
pub use context::InContext;
pub use context_word::{ContextHead, ContextTable, ContextWord};
pub use counters::{ANY, Cell, Counters, NO_CELL, with_kind};
pub use entry_cells::{
    EntryCell, EntryCells, KNOWN_OBJECTS, KnownObject, known_place, object_word,
};
pub use guard::{Entered, Frame, Guard, NOT_OBSERVED};
pub use lean::{ANNOUNCED, COUNTED, Lean};
pub use outcome::Outcome;
#[cfg(not(metaspy_bare))]
pub use qualified::{qualified, unqualified};
pub use site::{Site, SiteDef, SiteId, SiteKind};
pub use subject::{KindId, Subject};
pub use text::Text;
pub use thunk::{Slowly, Thunks, enter};
pub use type_layout::*;
pub use value::*;
pub use value_copy::*;

/// The abilities of a value if only its type is of interest: none.
#[doc(hidden)]
pub mod unseen {
    pub use crate::type_layout::{Unseen as CanBeHashed, Unseen as CanBeShown};
    #[cfg(not(metaspy_bare))]
    pub use crate::type_layout::{Unseen as CanBeKept, Unseen as CanBeListed};
    pub use crate::value::{CannotBeHashed, CannotBeShown};
    #[cfg(not(metaspy_bare))]
    pub use crate::value_copy::{CannotBeKept, CannotBeListed};
}

/// The abilities of a value of any type.
#[doc(hidden)]
pub mod any {
    pub use crate::value::{CanBeHashed, CanBeShown, CannotBeHashed, CannotBeShown};
    #[cfg(not(metaspy_bare))]
    pub use crate::value_copy::{CanBeKept, CanBeListed, CannotBeKept, CannotBeListed};
}
