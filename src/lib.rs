//! Metaspy profiles a *domain*, not a call stack: which of my nodes is laid out too often, which
//! announcement fires five times too many, and what caused it. Each call of an observed function on
//! an object becomes an *event* with the object, its time, its outcome and its cause. Profilers
//! decide which events are wanted, and read them.
//!
#![cfg_attr(feature = "record", doc = include_str!("enabled/example.md"))]
//!
//! # In libraries
//!
//! ```toml
//! [dependencies]
//! metaspy = { version = "0.1", default-features = false }
//! ```
//!
//! A library marks what can be observed: [`macro@observe`] on functions, [`macro@Identify`] on
//! keys, [`Spied`] and [`Watched`] around values, [`state!`] at transitions. It leaves the feature
//! `record` off, and then all of this is nothing: `#[observe]` returns its item as written,
//! `Spied<T>` is a `T`, nothing of the standard library is needed, and the macros are the only
//! dependency.
//!
//! # In applications
//!
//! ```toml
//! [dependencies]
//! metaspy = "0.1"
//! ```
//!
//! An application switches recording on, for itself and all its libraries, with the feature
//! `record`, which is a default. A `Profiler` composes instrumenters, and its guard uninstalls
//! them.
#![cfg_attr(feature = "record", doc = include_str!("enabled/instrumenters.md"))]
#![cfg_attr(not(feature = "record"), no_std)]
#![forbid(unsafe_code)]

pub mod prelude;

#[cfg(not(feature = "record"))]
mod disabled;
#[cfg(feature = "record")]
mod enabled;

#[cfg(doctest)]
mod documents;

#[cfg(not(feature = "record"))]
pub use disabled::*;
#[cfg(feature = "record")]
pub use enabled::*;
#[cfg_attr(feature = "record", doc = include_str!("enabled/observe.md"))]
pub use metaspy_macros::observe;
pub use metaspy_macros::{Announce, Identify};
