//! Other systems have no sampler yet.

use std::sync::atomic::AtomicBool;

use crate::error::SampleError;
use crate::options::{Options, Target};
use crate::run::Run;

/// Samples nothing.
///
/// # Errors
///
/// Always: sampling needs Linux on x86-64 or 64-bit ARM.
pub fn sample(_: &Target, _: &Options, _: &AtomicBool) -> Result<Run, SampleError> {
    Err(SampleError::NotSupported)
}
