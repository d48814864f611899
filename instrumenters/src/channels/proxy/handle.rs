//! Sending and receiving ends of proxied channels, for all libraries.
//!
//! Two types wrap the ends of a channel of any library, with a table of the library's methods.
//! Types for each library would repeat each other, because five libraries differ in names and
//! errors, and not in their events.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_core::causality::{Because, because};
use metaspy_core::{EventId, Identify, Subject};

use super::endpoint::{Endpoint, Envelope};

/// Sending end of a proxied channel, around the sender `S` of a library. Each message is an event.
///
/// Each library's module has an alias for its sender, such as
/// [`mpsc::Sender`](super::mpsc::Sender).
pub struct SpiedSender<S, T> {
    pub(super) inner: S,
    pub(super) endpoint: Endpoint<T>,
}

/// Receiving end of a proxied channel, around the receiver `R` of a library. Each receipt is an
/// event.
pub struct SpiedReceiver<R, T> {
    pub(super) inner: R,
    pub(super) receipts: Receipts<T>,
}

/// Receipts of a handle.
pub(super) struct Receipts<T> {
    pub endpoint: Endpoint<T>,
    /// Event of the last receipt; 0 for none. It is atomic, because some receivers receive through
    /// a shared reference.
    last: AtomicU64,
}

impl<T> Receipts<T> {
    /// Records a receipt.
    #[inline]
    pub fn see(&self, envelope: &Envelope<T>) {
        self.last
            .store(self.endpoint.received(envelope).map_or(0, EventId::raw), Ordering::Relaxed);
    }

    /// Records a receipt, and returns its message.
    #[inline]
    pub fn open(&self, envelope: Envelope<T>) -> T {
        self.see(&envelope);
        envelope.value
    }
}

impl<S, T> SpiedSender<S, T> {
    pub(super) fn new(inner: S, endpoint: Endpoint<T>) -> Self {
        SpiedSender { inner, endpoint }
    }

    /// Returns the wrapped sender, whose messages are [`Envelope`]s.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<R, T> SpiedReceiver<R, T> {
    pub(super) fn new(inner: R, endpoint: Endpoint<T>) -> Self {
        SpiedReceiver { inner, receipts: Receipts { endpoint, last: AtomicU64::new(0) } }
    }

    /// Returns the wrapped receiver, whose messages are [`Envelope`]s.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Returns the wrapped receiver, for example for a `select!`. [`open`](Self::open) takes its
    /// messages out of their envelopes.
    pub fn inner(&self) -> &R {
        &self.inner
    }

    /// Takes a message out of its envelope, and records the receipt.
    #[inline]
    pub fn open(&self, envelope: Envelope<T>) -> T {
        self.receipts.open(envelope)
    }

    /// Returns the event of this handle's last receipt, if it was recorded. Threads and tasks that
    /// share a channel have a handle each.
    pub fn received(&self) -> Option<EventId> {
        EventId::from_raw(self.receipts.last.load(Ordering::Relaxed))
    }

    /// Makes the last receipt the cause of this thread's work, until the guard is dropped.
    pub fn because(&self) -> Option<Because> {
        self.received().map(because)
    }
}

impl<S: Clone, T> Clone for SpiedSender<S, T> {
    fn clone(&self) -> Self {
        SpiedSender { inner: self.inner.clone(), endpoint: self.endpoint }
    }
}

/// A clone is another handle, with the last receipt of the original.
impl<R: Clone, T> Clone for SpiedReceiver<R, T> {
    fn clone(&self) -> Self {
        let last = AtomicU64::new(self.receipts.last.load(Ordering::Relaxed));
        SpiedReceiver {
            inner: self.inner.clone(),
            receipts: Receipts { endpoint: self.receipts.endpoint, last },
        }
    }
}

/// Implements `Identify` and `Debug` for handles, whose subject is their channel.
macro_rules! handles {
    ($($handle:ident<$inner:ident, T> = $($endpoint:ident).+;)*) => {$(
        impl<$inner, T> fmt::Debug for $handle<$inner, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($handle)).field("channel", &self.identify()).finish_non_exhaustive()
            }
        }

        /// The identity is that of the channel.
        impl<$inner, T> Identify for $handle<$inner, T> {
            fn identify(&self) -> Subject {
                self.$($endpoint).+.subject()
            }
        }
    )*};
}

handles! {
    SpiedSender<S, T> = endpoint;
    SpiedReceiver<R, T> = receipts.endpoint;
}
