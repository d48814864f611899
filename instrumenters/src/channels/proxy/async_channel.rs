//! Proxy of `async-channel`, with both ends observed.
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

channels!("async_channel");

impl<T> Sender<T> {
    /// Sends a message with [`async_channel::Sender::send`], as an event that begins with the first
    /// poll. Dropping the future cancels it.
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
    /// Receives a message with [`async_channel::Receiver::recv`], and is as safe to cancel.
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
    fn sender_count() -> usize;
    fn receiver_count() -> usize;
}
