//! Hooks, and the sites that they belong to.
//!
//! A function has one hook: a [`Guard`], whose [`Thunks`] keep the registers of the function, or
//! where less is asked for, an entry or a context alone. Its [`Site`] holds the [`Adapter`] of the
//! core and the [`Counters`] of the threads. Each of them names the others, so they are one module.

mod adapter;
mod async_call;
mod context;
mod context_word;
mod counters;
mod entry;
mod entry_cells;
mod guard;
#[cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    target_env = "gnu",
    not(any(miri, metaspy_plain, metaspy_bare))
))]
mod keeping;
mod lean;
mod site;
mod thunk;

pub use adapter::{Adapter, CauseBefore, Hash, PollOnce, Seen};
pub use async_call::{AsyncCall, Polled};
pub use context::InContext;
pub use context_word::{ContextHead, ContextTable, ContextWord};
pub use counters::{ANY, Cell, Counters, NO_CELL, with_kind};
pub use entry_cells::{
    EntryCell, EntryCells, KNOWN_OBJECTS, KnownObject, known_place, object_word,
};
pub use guard::{Entered, Frame, Guard, NOT_OBSERVED};
pub use lean::{ANNOUNCED, COUNTED, Lean};
pub use site::{Site, SiteDef, SiteId, SiteKind};
pub use thunk::{Slowly, Thunks, enter};
