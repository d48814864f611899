//! `crossbeam-channel`, with both ends observed.
//!
//! ```
//! use metaspy::channels::{Bus, Envelope};
//! use metaspy::prelude::*;
//!
//! let (jobs, queue) = Bus::new("jobs").wrap(crossbeam_channel::bounded(16));
//! let profiler = Profiler::new("jobs").observe(proxied("jobs::*")).install()?;
//! jobs.send(7).unwrap();
//! // A `select!` uses the receiver inside.
//! let job = crossbeam_channel::select! {
//!     recv(queue.inner()) -> envelope => queue.open(envelope.unwrap()),
//! };
//! assert_eq!((job, profiler.uninstall().counts().total()), (7, 2));
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::time::{Duration, Instant};

use ::crossbeam_channel as raw;
pub use raw::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

/// As [`crossbeam_channel::bounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::bounded(capacity))
}

/// As [`crossbeam_channel::unbounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::unbounded())
}

/// A [`crossbeam_channel::Sender`]. Each message is an event.
pub type Sender<T> = SpiedSender<raw::Sender<Envelope<T>>, T>;
/// A [`crossbeam_channel::Receiver`]. Each receipt is an event.
pub type Receiver<T> = SpiedReceiver<raw::Receiver<Envelope<T>>, T>;

impl<T> Carries<T> for raw::Sender<Envelope<T>> {}
impl<T> Carries<T> for raw::Receiver<Envelope<T>> {}

sends! { Sender:
    fn send() -> SendError { SendError } by send_waiting;
    fn try_send() -> TrySendError { TrySendError::Full, TrySendError::Disconnected } by send;
    fn send_timeout(timeout: Duration) -> SendTimeoutError { SendTimeoutError::Timeout, SendTimeoutError::Disconnected }
        by send_waiting;
    fn send_deadline(deadline: Instant) -> SendTimeoutError { SendTimeoutError::Timeout, SendTimeoutError::Disconnected }
        by send_waiting;
}
receives! { Receiver by recv:
    fn recv() -> RecvError;
    fn try_recv() -> TryRecvError;
    fn recv_timeout(timeout: Duration) -> RecvTimeoutError;
    fn recv_deadline(deadline: Instant) -> RecvTimeoutError;
}
passes! { Sender, Receiver:
    fn is_empty() -> bool;
    fn is_full() -> bool;
    fn len() -> usize;
    fn capacity() -> Option<usize>;
}
