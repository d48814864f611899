//! The sending end of an unbounded channel.

use std::panic::Location;

use metaspy_core::{Identify, Subject};
use tokio::sync::mpsc as tokio;

use super::error::SendError;
use crate::channels::proxy::Envelope;
use crate::channels::proxy::endpoint::Endpoint;

/// A [`tokio::UnboundedSender`] whose messages are events.
pub struct UnboundedSender<T> {
    inner: tokio::UnboundedSender<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> UnboundedSender<T> {
    pub(super) fn new(inner: tokio::UnboundedSender<Envelope<T>>, endpoint: Endpoint<T>) -> Self {
        UnboundedSender { inner, endpoint }
    }

    /// As [`tokio::UnboundedSender::send`].
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let sent = self.endpoint.send(value, Location::caller(), |envelope| self.inner.send(envelope), Result::is_ok);
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    /// As [`tokio::UnboundedSender::closed`].
    pub async fn closed(&self) {
        self.inner.closed().await;
    }

    /// As [`tokio::UnboundedSender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// As [`tokio::UnboundedSender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// As [`tokio::UnboundedSender::downgrade`].
    #[must_use = "a sender that nobody upgrades sends nothing"]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender { inner: self.inner.downgrade(), endpoint: self.endpoint }
    }

    /// As [`tokio::UnboundedSender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// As [`tokio::UnboundedSender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }

    /// The sender inside.
    pub fn into_inner(self) -> tokio::UnboundedSender<Envelope<T>> {
        self.inner
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        UnboundedSender { inner: self.inner.clone(), endpoint: self.endpoint }
    }
}

/// The channel.
impl<T> Identify for UnboundedSender<T> {
    fn identify(&self) -> Subject {
        self.endpoint.subject()
    }
}

/// A [`tokio::WeakUnboundedSender`] of a spied channel.
pub struct WeakUnboundedSender<T> {
    inner: tokio::WeakUnboundedSender<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> WeakUnboundedSender<T> {
    /// As [`tokio::WeakUnboundedSender::upgrade`].
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        Some(UnboundedSender { inner: self.inner.upgrade()?, endpoint: self.endpoint })
    }

    /// As [`tokio::WeakUnboundedSender::strong_count`].
    pub fn strong_count(&self) -> usize {
        self.inner.strong_count()
    }

    /// As [`tokio::WeakUnboundedSender::weak_count`].
    pub fn weak_count(&self) -> usize {
        self.inner.weak_count()
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        WeakUnboundedSender { inner: self.inner.clone(), endpoint: self.endpoint }
    }
}

shown_by_channel!(UnboundedSender, WeakUnboundedSender);
