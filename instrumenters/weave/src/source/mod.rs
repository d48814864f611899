//! Source text: which functions there are, and how hooks get into it.
//!
//! Nothing here knows cargo or the compiler: text goes in, text comes out.

mod complexity;
mod functions;
mod hook;
mod includes;
mod modules;
mod naming;
mod parse;
mod skip;

pub use functions::{Function, Functions, Invisible};
pub use hook::{EXTERN_CRATE, insertion, weave};
pub(crate) use modules::plain;
pub use modules::{CrateSource, SourceFile, read};
pub use parse::{Parsed, Unreadable, parse};
