//! Tasks: work that runs later, or on another thread, with the cause that it has here.
//!
//! A call stack ends where a task, a thread or a callback begins. These wrappers continue it: the
//! cause of a task's work is the event that spawned it. A named task, or a task that [`spawn`]
//! names after its function, is an event itself, from its first poll to its end, with the number of
//! polls and its busy time.
//!
//! ```
//! use metaspy::prelude::*;
//! use metaspy::tasks::{carry, thread};
//!
//! let profiler = Profiler::new("tasks").observe(tasks()).install()?;
//! let elsewhere = thread::spawn(|| {
//!     let further = std::thread::spawn(carry(|| current()));
//!     (current(), further.join().unwrap())
//! });
//! let (here, there) = elsewhere.join().unwrap();
//! assert!(here.is_some() && here == there);
//! # Ok::<(), metaspy::InstallError>(())
//! ```
//!
//! (Ressia, Bergel, Nierstrasz, Renggli: *Modeling Domain-Specific Profilers*, section 6, leave
//! causality across processes open.)

mod carry;
mod future;
#[cfg(feature = "tokio")]
mod join_set;
#[cfg(feature = "tokio")]
mod spawn;
mod task_sites;
pub mod thread;

pub use carry::{Carried, carry};
pub use future::{FutureExt, SpiedFuture};
#[cfg(feature = "tokio")]
pub use join_set::JoinSet;
#[cfg(feature = "tokio")]
pub use spawn::{spawn, spawn_blocking, spawn_local};

use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

/// Observes all tasks, threads and named futures, including later ones. To select tasks by name,
/// use `methods("pipeline::*::task")` when the first such task exists.
pub fn tasks() -> CallInstrumenter {
    CallInstrumenter::new(Sites::family(*task_sites::TASKS, "tasks"), Subjects::All).details()
}
