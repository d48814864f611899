//! Live view of a run. A second thread resolves and shows recent samples, so that the first thread
//! keeps reading the rings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::error::SampleError;
use crate::linux::session::sample_watched;
use crate::options::{Options, Target};
use crate::profile::Profile;
use crate::run::Run;

/// Age up to which samples are shown.
pub const WINDOW: Duration = Duration::from_secs(10);
/// Minimum time between two updates of the view.
const PAUSE: Duration = Duration::from_secs(1);
/// Naming and showing samples uses at most a tenth of a processor.
const SHARE: u32 = 10;

/// Channel to the thread that shows recent samples.
#[derive(Default)]
pub struct Watched {
    is_awaited: Arc<AtomicBool>,
    sender: Option<Sender<Run>>,
}

impl Watched {
    /// Sends the recent samples, if the other thread awaits them.
    pub fn leave(&self, recent: impl FnOnce() -> Run) {
        if let Some(sender) =
            self.sender.as_ref().filter(|_| self.is_awaited.swap(false, Ordering::AcqRel))
        {
            // A missing receiver means that showing has panicked, and its panic follows.
            let _ = sender.send(recent());
        }
    }
}

/// Samples a target as [`sample`](crate::sample) does, and passes the recent samples to `show`.
///
/// About once a second, `show` gets the samples of the last ten seconds; less often, if it takes
/// long.
///
/// # Errors
///
/// The same errors as [`sample`](crate::sample).
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
            // A timeout is an ordinary pause. The sender is dropped when the run is over.
            while let Err(RecvTimeoutError::Timeout) = runs.recv_timeout(pause) {
                is_awaited.store(true, Ordering::Release);
                let Ok(run) = runs.recv() else { return };
                let began = Instant::now();
                show(&Profile::new(run));
                pause = PAUSE.max(began.elapsed() * SHARE);
            }
        });
        // The sender must be dropped before the scope waits for the thread.
        let watched = watched;
        sample_watched(target, options, stop, &watched)
    })
}
