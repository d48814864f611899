//! Source text: which functions there are, and how hooks get into it.
//!
//! Nothing here knows cargo or the compiler: text goes in, text comes out.

mod body;
mod closures;
mod files;
mod functions;
mod hook;
mod includes;
mod invisible;
mod level;
mod looks;
mod modules;
mod parse;
mod resolve;
mod scope;
mod shape;

pub use files::{CrateSource, SourceFile, plain, read};
pub use functions::{Function, Functions};
pub use hook::{EXTERN_CRATE, Hook, insertions, weave};
pub use invisible::Invisible;
pub use level::Level;
pub use looks::Looks;
pub use metaspy_syntax::{Facts, SelfKind, Visibility};
pub use parse::{Parsed, Unreadable, parse};
pub use shape::{Limit, Shape};
