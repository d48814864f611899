//! Sending ends of bounded and unbounded channels.

use std::future::Future;
use std::panic::Location;

use tokio::sync::mpsc as tokio;

use super::error::{SendError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use crate::channels::proxy::{Envelope, SpiedSender};

/// Generates a sender with the methods that both kinds have.
macro_rules! sender {
    ($sender:ident, $weak:ident) => {
        #[doc = concat!("A [`tokio::", stringify!($sender), "`]. Each message is an event.")]
        pub type $sender<T> = SpiedSender<tokio::$sender<Envelope<T>>, T>;

        impl<T> $sender<T> {
            forward! { $sender:
                async fn closed(&self);
                fn is_closed(&self) -> bool;
                fn same_channel(&self, other: &Self) -> bool;
            }
        }

        weak_sender!($sender, $weak);
    };
}

sender!(Sender, WeakSender);
sender!(UnboundedSender, WeakUnboundedSender);

impl<T> UnboundedSender<T> {
    /// Sends a message with [`tokio::UnboundedSender::send`].
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let send = |envelope| self.inner.send(envelope);
        let sent = self.endpoint.send(value, Location::caller(), send, Result::is_ok);
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }
}

impl<T> Sender<T> {
    /// Sends a message when there is room, like [`tokio::Sender::send`]. The wait for room is not
    /// part of the event.
    #[track_caller]
    pub fn send(&self, value: T) -> impl Future<Output = Result<(), SendError<T>>> {
        let at = Location::caller();
        async move {
            match self.inner.reserve().await {
                Ok(permit) => {
                    self.endpoint.send(value, at, |envelope| permit.send(envelope), |()| true)
                }
                Err(SendError(())) => {
                    let fail = |envelope: Envelope<T>| Err(SendError(envelope.value));
                    return self.endpoint.send(value, at, fail, Result::is_ok);
                }
            }
            Ok(())
        }
    }

    /// Sends a message with [`tokio::Sender::try_send`].
    #[inline]
    #[track_caller]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        let send = |envelope| self.inner.try_send(envelope);
        let sent = self.endpoint.send(value, Location::caller(), send, Result::is_ok);
        sent.map_err(|error| match error {
            TrySendError::Full(envelope) => TrySendError::Full(envelope.value),
            TrySendError::Closed(envelope) => TrySendError::Closed(envelope.value),
        })
    }

    /// Sends a message with [`tokio::Sender::blocking_send`]. The wait for room is part of the
    /// event.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        let send = |envelope| self.inner.blocking_send(envelope);
        let sent = self.endpoint.send_as_call(value, Location::caller(), send, Result::is_ok);
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    /// Reserves room with [`tokio::Sender::reserve`].
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        Ok(Permit::new(self.inner.reserve().await?, self.endpoint))
    }

    /// Reserves room with [`tokio::Sender::try_reserve`].
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        Ok(Permit::new(self.inner.try_reserve()?, self.endpoint))
    }

    /// Reserves room with [`tokio::Sender::reserve_many`].
    pub async fn reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        Ok(PermitIterator::new(self.inner.reserve_many(n).await?, self.endpoint))
    }

    /// Reserves room with [`tokio::Sender::try_reserve_many`].
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        Ok(PermitIterator::new(self.inner.try_reserve_many(n)?, self.endpoint))
    }

    /// Reserves room with [`tokio::Sender::reserve_owned`].
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        Ok(OwnedPermit::new(self.inner.reserve_owned().await?, self.endpoint))
    }

    /// Reserves room with [`tokio::Sender::try_reserve_owned`].
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        let SpiedSender { inner, endpoint } = self;
        match inner.try_reserve_owned() {
            Ok(permit) => Ok(OwnedPermit::new(permit, endpoint)),
            Err(TrySendError::Full(inner)) => {
                Err(TrySendError::Full(SpiedSender::new(inner, endpoint)))
            }
            Err(TrySendError::Closed(inner)) => {
                Err(TrySendError::Closed(SpiedSender::new(inner, endpoint)))
            }
        }
    }

    forward! { Sender:
        fn capacity(&self) -> usize;
        fn max_capacity(&self) -> usize;
    }
}
