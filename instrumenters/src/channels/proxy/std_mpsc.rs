//! Proxy of `std::sync::mpsc`, with both ends observed.
//!
//! ```
//! use metaspy::channels::std_mpsc;
//! use metaspy::prelude::*;
//!
//! struct Job(u32);
//!
//! let (jobs, queue) = std_mpsc::channel::<Job>();
//! let (sum, profile) = Profiler::new("jobs").observe(proxied("Job::*")).profile(|| {
//!     (1..4).for_each(|n| jobs.send(Job(n)).unwrap());
//!     queue.try_iter().map(|Job(n)| n).sum::<u32>()
//! })?;
//! assert_eq!((sum, profile.counts().total()), (6, 6)); // three were sent, and received
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::sync::mpsc as raw;
pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::time::Duration;

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

/// Creates a channel with [`std::sync::mpsc::channel`]. It is named after the type of its messages.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::channel())
}

/// Creates a channel with [`std::sync::mpsc::sync_channel`]. It is named after the type of its
/// messages.
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::sync_channel(bound))
}

/// Sender whose messages are events; see [`std::sync::mpsc::Sender`].
pub type Sender<T> = SpiedSender<raw::Sender<Envelope<T>>, T>;
/// Bounded sender whose messages are events; see [`std::sync::mpsc::SyncSender`].
pub type SyncSender<T> = SpiedSender<raw::SyncSender<Envelope<T>>, T>;
/// Receiver whose receipts are events; see [`std::sync::mpsc::Receiver`].
pub type Receiver<T> = SpiedReceiver<raw::Receiver<Envelope<T>>, T>;

impl<T> Carries<T> for raw::Sender<Envelope<T>> {}
impl<T> Carries<T> for raw::SyncSender<Envelope<T>> {}
impl<T> Carries<T> for raw::Receiver<Envelope<T>> {}

sends! { Sender:
    fn send() -> SendError { SendError } by send;
}
sends! { SyncSender:
    fn send() -> SendError { SendError } by send_waiting;
    fn try_send() -> TrySendError { TrySendError::Full, TrySendError::Disconnected } by send;
}
receives! { Receiver by recv:
    fn recv() -> RecvError;
    fn try_recv() -> TryRecvError;
    fn recv_timeout(timeout: Duration) -> RecvTimeoutError;
}
