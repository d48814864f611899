//! `flume`, with both ends observed.
//!
//! ```
//! use metaspy::channels::Bus;
//! use metaspy::prelude::*;
//!
//! let (jobs, queue) = Bus::new("orders").wrap(flume::unbounded());
//! let profiler = Profiler::new("orders").observe(proxied("orders::*")).install()?;
//! jobs.send("tea").unwrap();
//! assert_eq!(queue.recv(), Ok("tea"));
//! let profile = profiler.uninstall();
//! let received = queue.received().and_then(|event| profile.store().event(event)).expect("it was observed");
//! let sent = received.cause.and_then(|event| profile.store().event(event)).expect("it was observed");
//! assert_eq!(profile.store().site_path(sent.site), "orders::sent");
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::future::Future;
use std::panic::Location;
use std::time::{Duration, Instant};

use ::flume as raw;
pub use raw::{RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError};

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

/// As [`flume::bounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::bounded(capacity))
}

/// As [`flume::unbounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::unbounded())
}

/// A [`flume::Sender`]. Each message is an event.
pub type Sender<T> = SpiedSender<raw::Sender<Envelope<T>>, T>;
/// A [`flume::Receiver`]. Each receipt is an event.
pub type Receiver<T> = SpiedReceiver<raw::Receiver<Envelope<T>>, T>;

impl<T> Carries<T> for raw::Sender<Envelope<T>> {}
impl<T> Carries<T> for raw::Receiver<Envelope<T>> {}

impl<T> Sender<T> {
    /// As [`flume::Sender::send_async`]. The event begins with the first poll; if the future is dropped, it is cancelled.
    #[track_caller]
    pub fn send_async(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let at = Location::caller();
        async move {
            let send = |envelope| self.inner.send_async(envelope);
            let sent = self.endpoint.send_awaited(value, at, send, Result::is_ok).await;
            sent.map_err(|SendError(envelope)| SendError(envelope.value))
        }
    }
}

impl<T> Receiver<T> {
    /// As [`flume::Receiver::recv_async`], and as safe to cancel.
    pub async fn recv_async(&self) -> Result<T, RecvError> {
        Ok(self.open(self.inner.recv_async().await?))
    }
}

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
    fn is_disconnected() -> bool;
    fn is_empty() -> bool;
    fn is_full() -> bool;
    fn len() -> usize;
    fn capacity() -> Option<usize>;
    fn sender_count() -> usize;
    fn receiver_count() -> usize;
}
