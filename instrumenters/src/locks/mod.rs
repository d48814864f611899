//! Locks: who waited for which, how long, and who held it meanwhile.
//!
//! Each lock has a name and two sites. `NAME::wait` is from the asking to the having; what was not to be had at once, by
//! `try_lock`, has failed. `NAME::hold` is from there to the release, and has the event as its cause that took the lock;
//! what is done meanwhile is not its effect, as locks are held across each other. The subject is the lock, or its owner
//! if one is named. The methods are those of the originals, and so is what they cost while nobody looks, but for one load
//! each.
//!
//! ```
//! use metaspy_core::Profiler;
//! use metaspy_instrumenters::{locks::Mutex, methods};
//!
//! let cache = Mutex::new("Scene::cache", vec![1]);
//! let profiler = Profiler::new("locks").observe(methods("Scene::cache::*")).install()?;
//! cache.lock().unwrap().push(2);
//! assert_eq!(profiler.uninstall().count_of(&cache), 2);
//! # Ok::<(), metaspy_core::InstallError>(())
//! ```

mod condvar;
mod mutex;
mod poison;
mod rwlock;
#[cfg(feature = "tokio")]
pub mod tokio;
mod watch;

pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
