#![forbid(unsafe_code)]
//! Weaving: hooks in crates that are not edited. `cargo metaspy` is the command for it.
//!
//! The command writes a [`plan`] and starts cargo. Cargo starts the command again in place of the
//! compiler, once for each crate ([`wrapper`]). Both read source text in the same way ([`source`]).
//! [`runtime`] builds the libraries that woven programs are linked with.

pub mod plan;
pub mod runtime;
pub mod source;
pub mod wrapper;
