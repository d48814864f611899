//! Locks, with the events of waiting for them and holding them.
//!
//! Each lock has a name and two sites. `NAME::wait` lasts from the request to the lock; a
//! `try_lock` that finds the lock
//! taken has failed. `NAME::hold` lasts from there to the release. Its cause is the event that took
//! the lock. The work of a thread that holds a lock is not an effect of the hold, because holds
//! overlap. The subject is the lock, or its owner if a name for it is given. The methods are those
//! of the originals, and an unarmed lock costs an additional load.
//!
//! ```
//! use metaspy::locks::Mutex;
//! use metaspy::prelude::*;
//!
//! let cache = Mutex::new("Scene::cache", vec![1]);
//! let profiler = Profiler::new("locks").observe(methods("Scene::cache::*")).install()?;
//! cache.lock().unwrap().push(2);
//! assert_eq!(profiler.uninstall().count_of(&cache), 2);
//! # Ok::<(), metaspy::InstallError>(())
//! ```

mod condvar;
mod observed_lock;
mod std;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use self::std::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use condvar::Condvar;
