//! Proxy of `tokio::sync::broadcast`, with both ends observed.

use std::panic::Location;

pub use tokio::error;
use tokio::error::{RecvError, SendError, TryRecvError};
use tokio::sync::broadcast as tokio;

use super::endpoint::Endpoint;
use super::{Bus, Envelope, SpiedReceiver, SpiedSender};

/// Creates a channel with [`tokio::sync::broadcast::channel`](tokio::channel()). It is named after
/// the type of its messages.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().broadcast(capacity)
}

pub(super) fn pair<T: Clone>(endpoint: Endpoint<T>, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel(capacity);
    (SpiedSender::new(sender, endpoint), SpiedReceiver::new(receiver, endpoint))
}

/// Sender whose messages are events; see [`tokio::Sender`].
pub type Sender<T> = SpiedSender<tokio::Sender<Envelope<T>>, T>;

impl<T> Sender<T> {
    /// Sends a message with [`tokio::Sender::send`], and returns the number of receivers.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let sent = self.endpoint.send(
            value,
            Location::caller(),
            |envelope| self.inner.send(envelope),
            Result::is_ok,
        );
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    /// Creates a receiver with [`tokio::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        SpiedReceiver::new(self.inner.subscribe(), self.endpoint)
    }

    forward! { Sender:
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn receiver_count(&self) -> usize;
        fn same_channel(&self, other: &Self) -> bool;
        async fn closed(&self);
    }
}

weak_sender!(Sender, WeakSender);

/// Receiver whose receipts are events; see [`tokio::Receiver`].
pub type Receiver<T> = SpiedReceiver<tokio::Receiver<Envelope<T>>, T>;

impl<T: Clone> Receiver<T> {
    /// Receives a message with [`tokio::Receiver::recv`], and is as safe to cancel.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        let received = self.inner.recv().await;
        self.take(received)
    }

    /// Receives a message with [`tokio::Receiver::try_recv`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.inner.try_recv() {
            Ok(envelope) => Ok(self.open(envelope)),
            Err(error) => {
                if let TryRecvError::Lagged(missed) = error {
                    self.receipts.endpoint.missed(missed);
                }
                Err(error)
            }
        }
    }

    /// Receives a message with [`tokio::Receiver::blocking_recv`].
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        let received = self.inner.blocking_recv();
        self.take(received)
    }

    fn take(&mut self, received: Result<Envelope<T>, RecvError>) -> Result<T, RecvError> {
        match received {
            Ok(envelope) => Ok(self.open(envelope)),
            Err(error) => {
                if let RecvError::Lagged(missed) = error {
                    self.receipts.endpoint.missed(missed);
                }
                Err(error)
            }
        }
    }

    /// Creates another receiver with [`tokio::Receiver::resubscribe`].
    pub fn resubscribe(&self) -> Self {
        SpiedReceiver::new(self.inner.resubscribe(), self.receipts.endpoint)
    }
}

impl<T> Receiver<T> {
    forward! { Receiver:
        fn len(&self) -> usize;
        fn is_empty(&self) -> bool;
        fn same_channel(&self, other: &Self) -> bool;
        fn sender_strong_count(&self) -> usize;
        fn sender_weak_count(&self) -> usize;
        fn is_closed(&self) -> bool;
    }
}
