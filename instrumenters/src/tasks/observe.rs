//! Tasks in a profiler.

use metaspy_core::arm::Subjects;

use super::name::TASKS;
use crate::calls::Calls;
use crate::sites::Sites;

/// Observes all tasks, threads and named futures, those that come later too. By name `methods("pipeline::*::task")` does,
/// once there is one.
pub fn tasks() -> Calls {
    Calls::new(Sites::family(*TASKS, "tasks"), Subjects::All).details()
}
