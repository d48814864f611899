//! `tokio::sync::broadcast`, watched at both ends.

use std::panic::Location;

use metaspy_core::causality::Because;
use metaspy_core::{EventId, Identify, Subject};
pub use tokio::error;
use tokio::error::{RecvError, SendError, TryRecvError};
use tokio::sync::broadcast as tokio;

use super::endpoint::{Endpoint, because_of};
use super::{Bus, Envelope};

/// As [`tokio::sync::broadcast::channel`](tokio::channel()), named after the type of its messages.
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().broadcast(capacity)
}

pub(super) fn pair<T: Clone>(endpoint: Endpoint<T>, capacity: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel(capacity);
    (Sender { inner: sender, endpoint }, Receiver { inner: receiver, endpoint, last: None })
}

/// A [`tokio::Sender`] whose messages are events.
pub struct Sender<T> {
    inner: tokio::Sender<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> Sender<T> {
    /// As [`tokio::Sender::send`]: how many receivers there are.
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let sent = self.endpoint.send(value, Location::caller(), |envelope| self.inner.send(envelope), Result::is_ok);
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    /// As [`tokio::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver { inner: self.inner.subscribe(), endpoint: self.endpoint, last: None }
    }

    /// As [`tokio::Sender::downgrade`].
    #[must_use = "a sender that nobody upgrades sends nothing"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { inner: self.inner.downgrade(), endpoint: self.endpoint }
    }

    /// As [`tokio::Sender::len`].
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// As [`tokio::Sender::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// As [`tokio::Sender::receiver_count`].
    pub fn receiver_count(&self) -> usize {
        self.inner.receiver_count()
    }

    /// As [`tokio::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// As [`tokio::Sender::closed`].
    pub async fn closed(&self) {
        self.inner.closed().await;
    }

    /// As [`tokio::Sender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// As [`tokio::Sender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }

    /// The sender inside.
    pub fn into_inner(self) -> tokio::Sender<Envelope<T>> {
        self.inner
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender { inner: self.inner.clone(), endpoint: self.endpoint }
    }
}

/// The channel.
impl<T> Identify for Sender<T> {
    fn identify(&self) -> Subject {
        self.endpoint.subject()
    }
}

/// A [`tokio::WeakSender`] of a spied channel.
pub struct WeakSender<T> {
    inner: tokio::WeakSender<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> WeakSender<T> {
    /// As [`tokio::WeakSender::upgrade`].
    #[must_use = "a sender that nobody has sends nothing"]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        Some(Sender { inner: self.inner.upgrade()?, endpoint: self.endpoint })
    }

    /// As [`tokio::WeakSender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// As [`tokio::WeakSender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender { inner: self.inner.clone(), endpoint: self.endpoint }
    }
}

/// A [`tokio::Receiver`] whose receipts are events.
pub struct Receiver<T> {
    inner: tokio::Receiver<Envelope<T>>,
    endpoint: Endpoint<T>,
    last: Option<EventId>,
}

impl<T: Clone> Receiver<T> {
    /// As [`tokio::Receiver::recv`], and as safe to cancel.
    pub async fn recv(&mut self) -> Result<T, RecvError> {
        let received = self.inner.recv().await;
        self.take(received)
    }

    /// As [`tokio::Receiver::try_recv`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.inner.try_recv() {
            Ok(envelope) => Ok(self.endpoint.receive(envelope, &mut self.last)),
            Err(error) => {
                if let TryRecvError::Lagged(missed) = error {
                    self.endpoint.missed(missed);
                }
                Err(error)
            }
        }
    }

    /// As [`tokio::Receiver::blocking_recv`].
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        let received = self.inner.blocking_recv();
        self.take(received)
    }

    fn take(&mut self, received: Result<Envelope<T>, RecvError>) -> Result<T, RecvError> {
        match received {
            Ok(envelope) => Ok(self.endpoint.receive(envelope, &mut self.last)),
            Err(error) => {
                if let RecvError::Lagged(missed) = error {
                    self.endpoint.missed(missed);
                }
                Err(error)
            }
        }
    }

    /// As [`tokio::Receiver::resubscribe`].
    pub fn resubscribe(&self) -> Self {
        Receiver { inner: self.inner.resubscribe(), endpoint: self.endpoint, last: None }
    }
}

impl<T> Receiver<T> {
    /// The event of the last receipt, where it was observed.
    pub fn received(&self) -> Option<EventId> {
        self.last
    }

    /// Names the last receipt as the cause of what this thread does until the guard is dropped.
    pub fn because(&self) -> Option<Because> {
        because_of(self.last)
    }

    /// As [`tokio::Receiver::len`].
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// As [`tokio::Receiver::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// As [`tokio::Receiver::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// As [`tokio::Receiver::sender_strong_count`].
    pub fn sender_strong_count(&self) -> usize {
        self.inner.sender_strong_count()
    }

    /// As [`tokio::Receiver::sender_weak_count`].
    pub fn sender_weak_count(&self) -> usize {
        self.inner.sender_weak_count()
    }

    /// As [`tokio::Receiver::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// The receiver inside.
    pub fn into_inner(self) -> tokio::Receiver<Envelope<T>> {
        self.inner
    }
}

/// The channel.
impl<T> Identify for Receiver<T> {
    fn identify(&self) -> Subject {
        self.endpoint.subject()
    }
}

shown_by_channel!(Sender, WeakSender, Receiver);
