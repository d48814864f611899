//! Sampler for a program that samples itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

use metaspy_reader::platform::own_thread;

use crate::error::SampleError;
use crate::linux::session::sample_process;
use crate::linux::timer::threads::OWN_THREAD;
use crate::linux::watch::Watched;
use crate::options::Options;
use crate::profile::Profile;
use crate::run::Run;

/// Sampler of all threads of its own process, except its own thread. Dropping it ends the sampling
/// without a result.
///
/// The kernel takes the samples where it is permitted. Otherwise timers and a signal do, as
/// [`Profile`]'s report states.
///
/// ```
/// use metaspy_sampler::Sampler;
///
/// let sampler = Sampler::start()?;
/// let sum = (0..2_000_000_u64).fold(0, |sum, n| sum ^ n.wrapping_mul(sum | 1));
/// let profile = sampler.stop()?;
/// assert!(sum > 0 && profile.run.pid == std::process::id());
/// # Ok::<(), metaspy_sampler::SampleError>(())
/// ```
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Run, SampleError>>>,
}

impl Sampler {
    /// Starts sampling with the [default options](Options).
    ///
    /// # Errors
    ///
    /// If the system permits neither perf events nor a timer, or if timers sample this process
    /// already.
    pub fn start() -> Result<Sampler, SampleError> {
        Sampler::with_options(Options::default())
    }

    /// Starts sampling with these options. It ends by itself at a [limit](Options::limit).
    ///
    /// # Errors
    ///
    /// The same errors as [`Sampler::start`].
    pub fn with_options(options: Options) -> Result<Sampler, SampleError> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, opened) = channel();
        let run = {
            let stop = Arc::clone(&stop);
            move || {
                sample_process(std::process::id(), &options, &stop, &Watched::default(), || {
                    _ = sender.send(())
                })
            }
        };
        let thread = own_thread::spawn(OWN_THREAD, run).map_err(SampleError::System)?;
        let sampler = Sampler { stop, thread: Some(thread) };
        match opened.recv() {
            Ok(()) => Ok(sampler),
            // The thread has ended, and its result is the error.
            Err(_) => Err(sampler.end().err().unwrap_or(SampleError::Gone)),
        }
    }

    /// Ends the sampling and resolves the names of the sampled addresses.
    ///
    /// # Errors
    ///
    /// If the system stopped the sampling.
    pub fn stop(self) -> Result<Profile, SampleError> {
        self.end().map(Profile::new)
    }

    fn end(mut self) -> Result<Run, SampleError> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(run)) => run,
            _ => Err(SampleError::Gone),
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
