//! Parts of the system that a reader needs: memory, mappings, processes, locks and holes of
//! files, own threads, and a guard against truncated files.

pub mod allocator;
pub(crate) mod holes;
pub mod library;
pub mod lock;
pub mod map;
pub mod own_thread;
pub mod process;
pub mod truncation;
pub mod writer_lock;

/// Returns a random number, from the keys that the standard library makes for the hash tables of
/// each process.
pub fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    use std::time::{SystemTime, UNIX_EPOCH};
    let now_ns =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    let mut hasher = std::hash::RandomState::new().build_hasher();
    hasher.write_u64(now_ns);
    hasher.write_u32(std::process::id());
    hasher.finish()
}
