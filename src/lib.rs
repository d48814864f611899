//! Metaspy profiles a *domain*, not a call stack: which of my nodes is laid out too often, which announcement fires
//! five times too many, and what caused it.
//!
#![cfg_attr(feature = "record", doc = include_str!("enabled/example.md"))]
//!
//! # Off is nothing
//!
//! Libraries depend on metaspy with `default-features = false`. Then [`macro@observe`] leaves its item as it was
//! written, [`Spied`] is its value, nothing of the standard library is needed, and there is no dependency but the
//! macros. The application switches everything on with the feature `record`.

#![cfg_attr(not(feature = "record"), no_std)]
#![forbid(unsafe_code)]

#[cfg(not(feature = "record"))]
mod disabled;
#[cfg(feature = "record")]
mod enabled;
pub mod prelude;

#[cfg(not(feature = "record"))]
pub use disabled::*;
#[cfg(feature = "record")]
pub use enabled::*;
#[cfg_attr(feature = "record", doc = include_str!("enabled/observe.md"))]
pub use metaspy_macros::observe;
pub use metaspy_macros::{Announce, Identify};
