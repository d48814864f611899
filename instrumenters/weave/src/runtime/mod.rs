//! What woven programs are linked with: the little that woven code calls, and a core for programs that have none.

mod core;
mod hooks;
mod profilers;

pub use core::core;
pub use hooks::{Hooks, hooks, source as hooks_source};
