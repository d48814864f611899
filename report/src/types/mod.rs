//! The types that arrive at methods: of receivers, arguments and returned values.
//!
//! The profiler `types` writes them as a table of the recording. Here they get names: the type
//! behind a trait object from the symbols and the debug information of the program (`tables`), the
//! variants of enums from the facts of the weaver.

mod arrived;
mod bounds;
mod declared;
mod definitions;
mod findings;
mod json;
mod keep;
mod ran;
mod short;
mod tables;
#[cfg(test)]
mod tests;
mod text;

pub use arrived::{Arrived, CallSite, MethodTypes, Types, ValueTypes};
pub use declared::Declared;
pub use findings::{Shape, Target, Unseen, Wide};
pub use json::json;
pub use keep::keep;
pub use short::short_name;
pub use text::{NOT_RECORDED, text};
