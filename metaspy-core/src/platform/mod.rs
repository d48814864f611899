//! What differs between systems, one small module each. Measurements are made on Linux on x86-64; other systems use a
//! portable fallback behind the same interface.

mod before_main;
pub(crate) mod clock;
pub(crate) mod exit;
pub(crate) mod fork;
pub(crate) mod own_pages;
pub(crate) mod process;
pub(crate) mod thread_end;
pub mod tick;
mod warn;

pub(crate) use metaspy_reader::platform::{library, lock, map, random, truncation};
pub(crate) use warn::warn;
