//! How metaspy reads the functions of a program: what they are called, what is known of them, and which of them cannot
//! have a hook.
//!
//! The macros and the weaver read the same source and must agree on each name, so both use this crate.

#![forbid(unsafe_code)]

pub mod complexity;
mod facts;
pub mod name;
mod owner;
pub mod refusal;

pub use facts::{Facts, Receiver, Seen, is_unit};
pub use owner::Owner;
