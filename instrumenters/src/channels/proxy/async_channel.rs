//! `async-channel`, with both ends observed.
//!
//! ```
//! use metaspy::channels::Bus;
//! use metaspy::prelude::*;
//!
//! let (jobs, queue) = Bus::new("prints").wrap(async_channel::bounded(16));
//! let profiler = Profiler::new("prints").observe(proxied("prints::*")).install()?;
//! jobs.try_send("a page").unwrap();
//! assert_eq!(queue.recv_blocking(), Ok("a page"));
//! assert_eq!(profiler.uninstall().counts().total(), 2);
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::future::Future;
use std::panic::Location;

use ::async_channel as raw;
pub use raw::{RecvError, SendError, TryRecvError, TrySendError};

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

/// As [`async_channel::bounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::bounded(capacity))
}

/// As [`async_channel::unbounded`]. The channel is named after the type of its messages.
#[track_caller]
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().wrap(raw::unbounded())
}

/// An [`async_channel::Sender`]. Each message is an event.
pub type Sender<T> = SpiedSender<raw::Sender<Envelope<T>>, T>;
/// An [`async_channel::Receiver`]. Each receipt is an event.
pub type Receiver<T> = SpiedReceiver<raw::Receiver<Envelope<T>>, T>;

impl<T> Carries<T> for raw::Sender<Envelope<T>> {}
impl<T> Carries<T> for raw::Receiver<Envelope<T>> {}

impl<T> Sender<T> {
    /// As [`async_channel::Sender::send`]. The event begins with the first poll; if the future is dropped, it is cancelled.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let at = Location::caller();
        async move {
            let send = |envelope| self.inner.send(envelope);
            let sent = self.endpoint.send_awaited(value, at, send, Result::is_ok).await;
            sent.map_err(|SendError(envelope)| SendError(envelope.value))
        }
    }
}

impl<T> Receiver<T> {
    /// As [`async_channel::Receiver::recv`], and as safe to cancel.
    pub async fn recv(&self) -> Result<T, RecvError> {
        Ok(self.open(self.inner.recv().await?))
    }
}

sends! { Sender:
    fn try_send() -> TrySendError { TrySendError::Full, TrySendError::Closed } by send;
    fn send_blocking() -> SendError { SendError } by send_waiting;
}
receives! { Receiver by recv_blocking:
    fn try_recv() -> TryRecvError;
    fn recv_blocking() -> RecvError;
}
passes! { Sender, Receiver:
    fn close() -> bool;
    fn is_closed() -> bool;
    fn is_empty() -> bool;
    fn is_full() -> bool;
    fn len() -> usize;
    fn capacity() -> Option<usize>;
    fn sender_count() -> usize;
    fn receiver_count() -> usize;
}
