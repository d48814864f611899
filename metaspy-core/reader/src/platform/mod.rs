//! What a reader needs of the system: mappings, processes, and a guard against truncated files.

pub mod lock;
pub mod map;
pub mod process;
pub mod truncation;

/// A number that nothing else has, by the keys that the system gives each process for its hash tables.
pub fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    use std::time::{SystemTime, UNIX_EPOCH};
    let now_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u64(now_ns);
    hasher.write_u32(std::process::id());
    hasher.finish()
}
