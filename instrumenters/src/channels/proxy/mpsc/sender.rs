//! The sending end of a bounded channel.

use std::future::Future;
use std::panic::Location;

use metaspy_core::{Identify, Subject};
use tokio::sync::mpsc as tokio;

use super::error::{SendError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use crate::channels::proxy::Envelope;
use crate::channels::proxy::endpoint::Endpoint;

/// A [`tokio::Sender`] whose messages are events.
pub struct Sender<T> {
    inner: tokio::Sender<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> Sender<T> {
    pub(super) fn new(inner: tokio::Sender<Envelope<T>>, endpoint: Endpoint<T>) -> Self {
        Sender { inner, endpoint }
    }

    /// As [`tokio::Sender::send`]. It is sent when there is room: waiting for that is no part of the event.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let at = Location::caller();
        async move {
            match self.inner.reserve().await {
                Ok(permit) => self.endpoint.send(value, at, |envelope| permit.send(envelope), |()| true),
                Err(SendError(())) => return self.fail(value, at, SendError),
            }
            Ok(())
        }
    }

    /// As [`tokio::Sender::try_send`].
    #[inline]
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let sent =
            self.endpoint.send(value, Location::caller(), |envelope| self.inner.try_send(envelope), Result::is_ok);
        sent.map_err(|error| match error {
            TrySendError::Full(envelope) => TrySendError::Full(envelope.value),
            TrySendError::Closed(envelope) => TrySendError::Closed(envelope.value),
        })
    }

    /// As [`tokio::Sender::blocking_send`]. Waiting for room is a part of the event.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        let at = Location::caller();
        let sent = self.endpoint.send_as_call(value, at, |envelope| self.inner.blocking_send(envelope), Result::is_ok);
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    fn fail<E>(&self, value: T, at: &'static Location<'static>, error: impl FnOnce(T) -> E) -> Result<(), E> {
        self.endpoint.send(value, at, |envelope| Err(error(envelope.value)), Result::is_ok)
    }

    /// As [`tokio::Sender::reserve`].
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        Ok(Permit::new(self.inner.reserve().await?, self.endpoint))
    }

    /// As [`tokio::Sender::try_reserve`].
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        Ok(Permit::new(self.inner.try_reserve()?, self.endpoint))
    }

    /// As [`tokio::Sender::reserve_many`].
    pub async fn reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        Ok(PermitIterator::new(self.inner.reserve_many(n).await?, self.endpoint))
    }

    /// As [`tokio::Sender::try_reserve_many`].
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        Ok(PermitIterator::new(self.inner.try_reserve_many(n)?, self.endpoint))
    }

    /// As [`tokio::Sender::reserve_owned`].
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        Ok(OwnedPermit::new(self.inner.reserve_owned().await?, self.endpoint))
    }

    /// As [`tokio::Sender::try_reserve_owned`].
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let Sender { inner, endpoint } = self;
        match inner.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit::new(permit, endpoint)),
            Err(TrySendError::Full(inner)) => Err(TrySendError::Full(Sender { inner, endpoint })),
            Err(TrySendError::Closed(inner)) => Err(TrySendError::Closed(Sender { inner, endpoint })),
        }
    }

    /// As [`tokio::Sender::capacity`].
    pub fn capacity(&self) -> usize {
        self.inner.capacity()
    }

    /// As [`tokio::Sender::max_capacity`].
    pub fn max_capacity(&self) -> usize {
        self.inner.max_capacity()
    }

    /// As [`tokio::Sender::closed`].
    pub async fn closed(&self) {
        self.inner.closed().await;
    }

    /// As [`tokio::Sender::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// As [`tokio::Sender::same_channel`].
    pub fn same_channel(&self, other: &Self) -> bool {
        self.inner.same_channel(&other.inner)
    }

    /// As [`tokio::Sender::downgrade`].
    #[must_use = "a sender that nobody upgrades sends nothing"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender { inner: self.inner.downgrade(), endpoint: self.endpoint }
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

shown_by_channel!(Sender, WeakSender);
