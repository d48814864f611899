//! The libraries that woven programs are linked with: the few functions that woven code calls, and
//! a core for programs that have none.

mod cache;
mod core;
mod hooks;
mod profilers;
mod toolchain;

pub use cache::directory as cache_directory;
pub(crate) use core::BUILDS_CORE;
pub use core::{ALONE, Settings, core, core_stamp};
pub use hooks::{Hooks, hooks, source as hooks_source};
pub use toolchain::{build_dir, host};
