//! Permits for room in a channel that is reserved before the message exists.

use std::panic::Location;

use tokio::sync::mpsc as tokio;

use super::Sender;
use crate::channels::proxy::endpoint::Endpoint;
use crate::channels::proxy::{Envelope, SpiedSender};

/// Permit of a proxied channel; see [`tokio::Permit`].
pub struct Permit<'a, T> {
    inner: tokio::Permit<'a, Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<'a, T> Permit<'a, T> {
    pub(super) fn new(inner: tokio::Permit<'a, Envelope<T>>, endpoint: Endpoint<T>) -> Self {
        Permit { inner, endpoint }
    }

    /// Sends the message with [`tokio::Permit::send`].
    #[track_caller]
    pub fn send(self, value: T) {
        self.endpoint.send(
            value,
            Location::caller(),
            |envelope| self.inner.send(envelope),
            |()| true,
        );
    }
}

/// Permits of a proxied channel; see [`tokio::PermitIterator`].
pub struct PermitIterator<'a, T> {
    inner: tokio::PermitIterator<'a, Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<'a, T> PermitIterator<'a, T> {
    pub(super) fn new(
        inner: tokio::PermitIterator<'a, Envelope<T>>,
        endpoint: Endpoint<T>,
    ) -> Self {
        PermitIterator { inner, endpoint }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        Some(Permit { inner: self.inner.next()?, endpoint: self.endpoint })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.inner.size_hint()
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> std::iter::FusedIterator for PermitIterator<'_, T> {}

/// Permit of a proxied channel that owns its sender; see [`tokio::OwnedPermit`].
pub struct OwnedPermit<T> {
    inner: tokio::OwnedPermit<Envelope<T>>,
    endpoint: Endpoint<T>,
}

impl<T> OwnedPermit<T> {
    pub(super) fn new(inner: tokio::OwnedPermit<Envelope<T>>, endpoint: Endpoint<T>) -> Self {
        OwnedPermit { inner, endpoint }
    }

    /// Sends the message with [`tokio::OwnedPermit::send`], and returns the sender.
    #[track_caller]
    pub fn send(self, value: T) -> Sender<T> {
        let OwnedPermit { inner, endpoint } = self;
        SpiedSender::new(
            endpoint.send(value, Location::caller(), |envelope| inner.send(envelope), |_| true),
            endpoint,
        )
    }

    /// Releases the room with [`tokio::OwnedPermit::release`], and returns the sender.
    pub fn release(self) -> Sender<T> {
        SpiedSender::new(self.inner.release(), self.endpoint)
    }

    forward! { OwnedPermit:
        fn same_channel(&self, other: &Self) -> bool;
    }
}

permits!(Permit<'a>, PermitIterator<'a>, OwnedPermit);
