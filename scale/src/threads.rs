//! Threads with stacks that are large enough for the engine.

use std::panic::resume_unwind;
use std::thread;

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};

/// Bytes of each stack: the engine descends once for each operator of a query. Memory is taken as
/// it is used.
pub const STACK: usize = 64 << 20;

/// Threads for tasks.
pub fn runtime() -> Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    builder.enable_all().thread_stack_size(STACK).build().context("cannot start threads")
}

/// Runs something on a thread of its own.
pub fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let thread =
        thread::Builder::new().stack_size(STACK).spawn(work).context("cannot start a thread")?;
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
