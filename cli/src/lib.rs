#![forbid(unsafe_code)]
//! The two commands of metaspy.
//!
//! - [`metaspy`]: opens, reports and verifies recordings.
//! - [`cargo_metaspy`]: builds and runs programs with hooks in selected functions.
//! - [`options`], [`outputs`] and [`exit`]: the options that both of them have, the files that they
//!   write, and how they end.

#[cfg(feature = "weave")]
pub mod cargo_metaspy;
pub mod exit;
pub(crate) mod hook_cost;
pub mod metaspy;
pub mod options;
pub mod outputs;

/// Held by a test while it records: a process has one recording at a time.
#[cfg(test)]
pub(crate) static ONE_RECORDING: std::sync::Mutex<()> = std::sync::Mutex::new(());
