#![doc = include_str!("../README.md")]
//!
//! The modules follow the way of a run. [`options`] select the target, the clock and the rate;
//! `linux` starts or joins the target, reads the kernel's records, and unwinds stacks into
//! [`samples`]; [`symbols`] and [`code_map`] give addresses their names; [`profile`] counts;
//! [`text`], [`json`] and [`export`] write.

pub mod environment;
pub mod error;
pub mod options;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "elsewhere.rs"]
mod linux;

mod events;
pub mod instructions;
pub mod record;

pub mod run;
pub mod samples;
pub mod statistics;

pub mod code_map;
pub mod symbols;
mod vdso;

mod code_file;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod own_memory;

pub mod profile;

pub mod export;
pub mod json;
pub mod text;

#[cfg(test)]
mod testing;

/// Environment variable with the path of the ring, which a sampler sets for the programs that it
/// starts.
pub(crate) const RING_VARIABLE: &str = "METASPY_SAMPLE_RING";

pub use error::SampleError;
pub use linux::{Sampler, sample, sample_live};
pub use options::{Options, Stacks, Target};
pub use profile::Profile;
pub use run::Run;
