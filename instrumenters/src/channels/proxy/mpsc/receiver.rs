//! Receiving ends of bounded and unbounded channels.

use std::task::{Context, Poll, ready};

use tokio::sync::mpsc as tokio;

use super::error::TryRecvError;
use crate::channels::proxy::{Envelope, SpiedReceiver};

/// Generates a receiver with the methods that both kinds have.
macro_rules! receiver {
    ($receiver:ident) => {
        #[doc = concat!("A [`tokio::", stringify!($receiver), "`]. Each receipt is an event.")]
        pub type $receiver<T> = SpiedReceiver<tokio::$receiver<Envelope<T>>, T>;

        impl<T> $receiver<T> {
            #[doc = concat!("As [`tokio::", stringify!($receiver), "::recv`], and as safe to cancel.")]
            pub async fn recv(&mut self) -> Option<T> {
                let envelope = self.inner.recv().await?;
                Some(self.open(envelope))
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::recv_many`], and as safe to cancel.")]
            pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                let mut envelopes = Vec::new();
                let received = self.inner.recv_many(&mut envelopes, limit).await;
                self.receive_all(envelopes, buffer);
                received
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::try_recv`].")]
            pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
                let envelope = self.inner.try_recv()?;
                Ok(self.open(envelope))
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::blocking_recv`].")]
            #[track_caller]
            pub fn blocking_recv(&mut self) -> Option<T> {
                let envelope = self.inner.blocking_recv()?;
                Some(self.open(envelope))
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::blocking_recv_many`].")]
            #[track_caller]
            pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
                let mut envelopes = Vec::new();
                let received = self.inner.blocking_recv_many(&mut envelopes, limit);
                self.receive_all(envelopes, buffer);
                received
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::poll_recv`].")]
            pub fn poll_recv(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
                let envelope = ready!(self.inner.poll_recv(context));
                Poll::Ready(envelope.map(|envelope| self.open(envelope)))
            }

            #[doc = concat!("As [`tokio::", stringify!($receiver), "::poll_recv_many`].")]
            pub fn poll_recv_many(
                &mut self,
                context: &mut Context<'_>,
                buffer: &mut Vec<T>,
                limit: usize,
            ) -> Poll<usize> {
                let mut envelopes = Vec::new();
                let received = ready!(self.inner.poll_recv_many(context, &mut envelopes, limit));
                self.receive_all(envelopes, buffer);
                Poll::Ready(received)
            }

            fn receive_all(&mut self, envelopes: Vec<Envelope<T>>, buffer: &mut Vec<T>) {
                let values = envelopes.into_iter().map(|envelope| self.open(envelope));
                buffer.extend(values);
            }

            forward! { $receiver:
                fn close(&mut self);
                fn is_closed(&self) -> bool;
                fn is_empty(&self) -> bool;
                fn len(&self) -> usize;
                fn sender_strong_count(&self) -> usize;
                fn sender_weak_count(&self) -> usize;
            }
        }
    };
}

receiver!(Receiver);
receiver!(UnboundedReceiver);

impl<T> Receiver<T> {
    forward! { Receiver:
        fn capacity(&self) -> usize;
        fn max_capacity(&self) -> usize;
    }
}
