//! A run that is watched: another thread names and shows the samples of the last seconds, so that the rings are read on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::error::SampleError;
use crate::linux::session::sample_watched;
use crate::options::{Options, Target};
use crate::profile::Profile;
use crate::run::Run;

/// The time whose samples are shown.
pub const WINDOW: Duration = Duration::from_secs(10);
/// The time between two shows at least.
const PAUSE: Duration = Duration::from_secs(1);
/// Naming and showing samples takes at most one part in so many of a processor.
const SHARE: u32 = 10;

/// The place where recent samples are left for the thread that shows them.
#[derive(Default)]
pub struct Watched {
    is_awaited: Arc<AtomicBool>,
    sender: Option<Sender<Run>>,
}

impl Watched {
    /// Leaves the recent samples, if they are awaited.
    pub fn leave(&self, recent: impl FnOnce() -> Run) {
        if let Some(sender) = self.sender.as_ref().filter(|_| self.is_awaited.swap(false, Ordering::AcqRel)) {
            // Without a receiver, showing has panicked, and its panic follows.
            let _ = sender.send(recent());
        }
    }
}

/// Samples a target as [`sample`](crate::sample) does. About once a second, `show` gets the samples of the last ten seconds;
/// less often, if that takes long.
///
/// # Errors
///
/// As [`sample`](crate::sample).
pub fn sample_live(
    target: &Target,
    options: &Options,
    stop: &AtomicBool,
    mut show: impl FnMut(&Profile) + Send,
) -> Result<Run, SampleError> {
    let (sender, runs) = channel();
    let watched = Watched { is_awaited: Arc::default(), sender: Some(sender) };
    let is_awaited = Arc::clone(&watched.is_awaited);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut pause = PAUSE;
            // Nothing arrives during a pause; the sender is gone when the run is over.
            while let Err(RecvTimeoutError::Timeout) = runs.recv_timeout(pause) {
                is_awaited.store(true, Ordering::Release);
                let Ok(run) = runs.recv() else { return };
                let began = Instant::now();
                show(&Profile::new(run));
                pause = PAUSE.max(began.elapsed() * SHARE);
            }
        });
        // Dropped before the scope waits for the thread.
        let watched = watched;
        sample_watched(target, options, stop, &watched)
    })
}
