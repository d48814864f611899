//! Proxy of `flume`, with both ends observed.
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
pub use raw::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

channels!("flume");

impl<T> Sender<T> {
    /// Sends a message with [`flume::Sender::send_async`], as an event that begins with the first
    /// poll. Dropping the future cancels it.
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
    /// Receives a message with [`flume::Receiver::recv_async`], and is as safe to cancel.
    pub async fn recv_async(&self) -> Result<T, RecvError> {
        Ok(self.open(self.inner.recv_async().await?))
    }
}

blocking_methods!();
passes! { Sender, Receiver:
    fn is_disconnected() -> bool;
    fn sender_count() -> usize;
    fn receiver_count() -> usize;
}
