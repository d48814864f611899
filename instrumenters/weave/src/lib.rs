#![forbid(unsafe_code)]
//! `cargo metaspy`: hooks woven into crates that nobody edits.
//!
//! The command plans what is woven and starts cargo (`front`); cargo starts it again in place of the compiler, once for
//! each crate (`wrapper`). Both read source text in the same way (`source`).

pub mod front;
pub mod plan;
pub mod runtime;
pub mod source;
pub mod wrapper;
