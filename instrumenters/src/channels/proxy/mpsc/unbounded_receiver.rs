//! The receiving end of an unbounded channel.

use std::task::{Context, Poll, ready};

use metaspy_core::causality::Because;
use metaspy_core::{EventId, Identify, Subject};
use tokio::sync::mpsc as tokio;

use super::error::TryRecvError;
use crate::channels::proxy::Envelope;
use crate::channels::proxy::endpoint::{Endpoint, because_of};

/// A [`tokio::UnboundedReceiver`] whose receipts are events.
pub struct UnboundedReceiver<T> {
    inner: tokio::UnboundedReceiver<Envelope<T>>,
    endpoint: Endpoint<T>,
    last: Option<EventId>,
}

impl<T> UnboundedReceiver<T> {
    pub(super) fn new(inner: tokio::UnboundedReceiver<Envelope<T>>, endpoint: Endpoint<T>) -> Self {
        UnboundedReceiver { inner, endpoint, last: None }
    }

    /// As [`tokio::UnboundedReceiver::recv`], and as safe to cancel.
    pub async fn recv(&mut self) -> Option<T> {
        let envelope = self.inner.recv().await?;
        Some(self.endpoint.receive(envelope, &mut self.last))
    }

    /// As [`tokio::UnboundedReceiver::recv_many`], and as safe to cancel.
    pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        let mut several = Vec::new();
        let received = self.inner.recv_many(&mut several, limit).await;
        self.hand_out(several, buffer);
        received
    }

    /// As [`tokio::UnboundedReceiver::try_recv`].
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let envelope = self.inner.try_recv()?;
        Ok(self.endpoint.receive(envelope, &mut self.last))
    }

    /// As [`tokio::UnboundedReceiver::blocking_recv`].
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        let envelope = self.inner.blocking_recv()?;
        Some(self.endpoint.receive(envelope, &mut self.last))
    }

    /// As [`tokio::UnboundedReceiver::blocking_recv_many`].
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        let mut several = Vec::new();
        let received = self.inner.blocking_recv_many(&mut several, limit);
        self.hand_out(several, buffer);
        received
    }

    /// As [`tokio::UnboundedReceiver::poll_recv`].
    pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        let envelope = ready!(self.inner.poll_recv(context));
        Poll::Ready(envelope.map(|envelope| self.endpoint.receive(envelope, &mut self.last)))
    }

    /// As [`tokio::UnboundedReceiver::poll_recv_many`].
    pub fn poll_recv_many(&mut self, context: &mut Context<'_>, buffer: &mut Vec<T>, limit: usize) -> Poll<usize> {
        let mut several = Vec::new();
        let received = ready!(self.inner.poll_recv_many(context, &mut several, limit));
        self.hand_out(several, buffer);
        Poll::Ready(received)
    }

    fn hand_out(&mut self, several: Vec<Envelope<T>>, buffer: &mut Vec<T>) {
        buffer.extend(several.into_iter().map(|envelope| self.endpoint.receive(envelope, &mut self.last)));
    }

    /// The event of the last receipt, where it was observed.
    pub fn received(&self) -> Option<EventId> {
        self.last
    }

    /// Names the last receipt as the cause of what this thread does until the guard is dropped.
    pub fn because(&self) -> Option<Because> {
        because_of(self.last)
    }

    /// As [`tokio::UnboundedReceiver::close`].
    pub fn close(&mut self) {
        self.inner.close();
    }

    /// As [`tokio::UnboundedReceiver::is_closed`].
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    /// As [`tokio::UnboundedReceiver::is_empty`].
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// As [`tokio::UnboundedReceiver::len`].
    pub fn len(&self) -> usize {
        self.inner.len()
    }

    /// As [`tokio::UnboundedReceiver::sender_strong_count`].
    pub fn sender_strong_count(&self) -> usize {
        self.inner.sender_strong_count()
    }

    /// As [`tokio::UnboundedReceiver::sender_weak_count`].
    pub fn sender_weak_count(&self) -> usize {
        self.inner.sender_weak_count()
    }

    /// The receiver inside.
    pub fn into_inner(self) -> tokio::UnboundedReceiver<Envelope<T>> {
        self.inner
    }
}

/// The channel.
impl<T> Identify for UnboundedReceiver<T> {
    fn identify(&self) -> Subject {
        self.endpoint.subject()
    }
}

shown_by_channel!(UnboundedReceiver);
