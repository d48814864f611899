//! Substitute for the sampler on systems other than Linux: every function returns an error.

use std::ffi::OsStr;
use std::io;
use std::sync::atomic::AtomicBool;

use crate::error::SampleError;
use crate::options::{Options, Target};
use crate::profile::Profile;
use crate::run::Run;

/// Returns an error, because this system has no sampler.
///
/// # Errors
///
/// Always: sampling needs Linux on x86-64 or 64-bit ARM.
pub fn sample(_: &Target, _: &Options, _: &AtomicBool) -> Result<Run, SampleError> {
    Err(SampleError::NotSupported)
}

/// Returns an error, because this system has no sampler.
///
/// # Errors
///
/// Always: sampling needs Linux on x86-64 or 64-bit ARM.
pub fn sample_live(
    _: &Target,
    _: &Options,
    _: &AtomicBool,
    _: impl FnMut(&Profile) + Send,
) -> Result<Run, SampleError> {
    Err(SampleError::NotSupported)
}

/// Returns an error, because this system has no sampler.
pub fn attach(_: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sampler of its own process. No value exists on this system.
#[derive(Debug)]
pub struct Sampler(std::convert::Infallible);

impl Sampler {
    /// Returns an error, because this system has no sampler.
    ///
    /// # Errors
    ///
    /// Always: sampling needs Linux on x86-64 or 64-bit ARM.
    pub fn start() -> Result<Sampler, SampleError> {
        Err(SampleError::NotSupported)
    }

    /// Returns an error, because this system has no sampler.
    ///
    /// # Errors
    ///
    /// Always: sampling needs Linux on x86-64 or 64-bit ARM.
    pub fn with_options(_: Options) -> Result<Sampler, SampleError> {
        Err(SampleError::NotSupported)
    }

    /// Cannot be called, because no sampler exists on this system.
    ///
    /// # Errors
    ///
    /// Never: there is no such sampler.
    pub fn stop(self) -> Result<Profile, SampleError> {
        match self.0 {}
    }
}
