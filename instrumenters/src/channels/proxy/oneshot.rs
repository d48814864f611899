//! Proxy of `tokio::sync::oneshot`, with both ends observed.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

pub use tokio::error;
use tokio::error::{RecvError, TryRecvError};
use tokio::sync::oneshot as tokio;

use super::endpoint::Endpoint;
use super::{Bus, Envelope, SpiedReceiver, SpiedSender};

/// Creates a channel with [`tokio::sync::oneshot::channel`](tokio::channel()). It is named after
/// the type of its message.
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().oneshot()
}

pub(super) fn pair<T>(endpoint: Endpoint<T>) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel();
    (SpiedSender::new(sender, endpoint), SpiedReceiver::new(receiver, endpoint))
}

/// Sender whose message is an event; see [`tokio::Sender`].
pub type Sender<T> = SpiedSender<tokio::Sender<Envelope<T>>, T>;

impl<T> Sender<T> {
    /// Sends the message with [`tokio::Sender::send`].
    #[inline]
    #[track_caller]
    pub fn send(self, value: T) -> Result<(), T> {
        let sent = self.endpoint.send(
            value,
            Location::caller(),
            |envelope| self.inner.send(envelope),
            Result::is_ok,
        );
        sent.map_err(Envelope::into_value)
    }

    /// Waits for the receiver to close, with [`tokio::Sender::closed`].
    pub async fn closed(&mut self) {
        self.inner.closed().await;
    }

    /// Polls for the receiver to close, with [`tokio::Sender::poll_closed`].
    pub fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_closed(context)
    }

    forward! { Sender:
        fn is_closed(&self) -> bool;
    }
}

/// Receiver whose receipt is an event; see [`tokio::Receiver`].
pub type Receiver<T> = SpiedReceiver<tokio::Receiver<Envelope<T>>, T>;

impl<T> Receiver<T> {
    /// Receives the message with [`tokio::Receiver::try_recv`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let envelope = self.inner.try_recv()?;
        Ok(self.open(envelope))
    }

    /// Receives the message with [`tokio::Receiver::blocking_recv`].
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        let SpiedReceiver { inner, receipts } = self;
        Ok(receipts.open(inner.blocking_recv()?))
    }

    forward! { Receiver:
        fn close(&mut self);
        fn is_terminated(&self) -> bool;
        fn is_empty(&self) -> bool;
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let received = std::task::ready!(Pin::new(&mut self.inner).poll(context));
        Poll::Ready(received.map(|envelope| self.open(envelope)))
    }
}
