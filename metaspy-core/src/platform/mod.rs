//! What differs between systems, one small module each. Measurements are made on Linux on x86-64; other systems use a
//! portable fallback behind the same interface.

mod before_main;
pub(crate) mod clock;
pub(crate) mod exit;
pub(crate) mod fork;
pub(crate) mod fork_gate;
pub(crate) mod own_pages;
pub(crate) mod page_vec;
#[cfg(unix)]
pub(crate) mod peer;
pub(crate) mod process;
pub(crate) mod processor;
pub(crate) mod program;
pub(crate) mod readers;
pub(crate) mod saving;
pub(crate) mod signal_mask;
mod switch;
pub(crate) mod thread_end;
pub(crate) mod thread_word;
pub mod tick;
mod warn;

pub(crate) use metaspy_reader::platform::{library, map, random, truncation};
pub(crate) use switch::switch;
pub(crate) use warn::warn;

/// Locks. A fork waits for those of [`lock::lock`]; those of [`lock::lock_for_long`] may be held while code of the program
/// runs or a recording is read, and belong to what a forked child does not use.
pub(crate) mod lock {
    pub(crate) use super::fork_gate::{Locked, lock};
    pub(crate) use metaspy_reader::platform::lock::lock as lock_for_long;
}
