//! Syntax of observed functions: their names, their facts, and the reasons why some cannot have a
//! hook.
//!
//! The macros and the weaver read the same source and must agree on each name, so both use this
//! crate.

#![forbid(unsafe_code)]

#[cfg(feature = "facts")]
pub mod caching;
#[cfg(feature = "facts")]
pub mod complexity;
#[cfg(feature = "facts")]
pub mod depth;
#[cfg(feature = "facts")]
pub mod facts;
#[cfg(feature = "facts")]
pub mod fingerprint;
pub mod name;
#[cfg(feature = "facts")]
mod owner;
pub mod refusal;
#[cfg(feature = "facts")]
pub mod source;
pub mod spawning;
pub mod std_traits;
#[cfg(feature = "facts")]
mod type_arguments;
#[cfg(feature = "facts")]
pub mod waiting;

#[cfg(feature = "facts")]
pub use facts::{Facts, Returns, SelfKind, Visibility, pointers_to_self};
#[cfg(feature = "facts")]
pub use owner::Owner;
