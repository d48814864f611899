//! Source text: which functions there are, and how hooks get into it.
//!
//! Nothing here depends on cargo or the compiler: text goes in, text comes out.

mod attributes;
mod closures;
mod condition;
mod files;
mod functions;
mod hook;
mod hook_kind;
mod macro_generated;
mod modules;
mod open_types;
mod parse;
mod resolve;
mod scope;
mod signature;
mod spawn;
mod type_items;

pub use condition::Build;
pub use files::{CrateSource, SourceFile, plain, read};
pub use functions::{Function, Functions, TypeWords};
pub(crate) use hook::EXTERN_CRATE;
pub use hook::{Edit, Hook, Values, insertions, weave};
pub use hook_kind::HookKind;
pub use macro_generated::MacroGenerated;
pub use metaspy_syntax::{Facts, SelfKind, Visibility};
pub use parse::{Parsed, Unreadable, parse};
pub use signature::{FunctionSignature, Limit, Properties};
pub use spawn::Spawn;
