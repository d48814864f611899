//! What differs between systems, one small module each. Linux on x86-64 is where it is measured; the rest works by a
//! portable fallback behind the same face.

mod before_main;
pub(crate) mod clock;
pub(crate) mod exit;
pub(crate) mod fork;
pub(crate) mod lock;
pub(crate) mod map;
pub(crate) mod process;
pub(crate) mod truncation;

/// A number that nobody else has, by the keys that the system gives each process for its hash tables.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u64(clock::real_ns());
    hasher.write_u32(std::process::id());
    hasher.finish()
}
