//! What differs between systems, one small module each. Linux on x86-64 is where it is measured; the rest works by a
//! portable fallback behind the same face.

mod before_main;
pub(crate) mod clock;
pub(crate) mod exit;
pub(crate) mod fork;
pub(crate) mod process;

pub(crate) use metaspy_reader::platform::{lock, map, random, truncation};
