//! Proxy of `tokio::sync::watch`, with both ends observed.
//!
//! A watch keeps only the last value, so several sends may have a single receipt, that of the last.
//! Each receiver counts the changes that it sees.

use std::ops::Deref;
use std::panic::Location;

pub use tokio::error;
use tokio::error::{RecvError, SendError};
use tokio::sync::watch as tokio;

use super::endpoint::Endpoint;
use super::{Bus, Envelope, SpiedReceiver, SpiedSender};

/// Creates a channel with [`tokio::sync::watch::channel`](tokio::channel()). It is named after the
/// type of its values.
#[track_caller]
pub fn channel<T>(first: T) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().watch(first)
}

pub(super) fn pair<T>(endpoint: Endpoint<T>, first: T) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel(Envelope::new(first));
    (SpiedSender::new(sender, endpoint), SpiedReceiver::new(receiver, endpoint))
}

/// Sender whose changes are events; see [`tokio::Sender`].
pub type Sender<T> = SpiedSender<tokio::Sender<Envelope<T>>, T>;

impl<T> Sender<T> {
    /// Changes the value with [`tokio::Sender::send`].
    #[inline]
    #[track_caller]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let sent = self.endpoint.send(
            value,
            Location::caller(),
            |envelope| self.inner.send(envelope),
            Result::is_ok,
        );
        sent.map_err(|SendError(envelope)| SendError(envelope.value))
    }

    /// Changes the value with [`tokio::Sender::send_replace`], and returns the old value.
    #[track_caller]
    pub fn send_replace(&self, value: T) -> T {
        self.endpoint
            .send(value, Location::caller(), |envelope| self.inner.send_replace(envelope), |_| true)
            .value
    }

    /// Changes the value in place with [`tokio::Sender::send_modify`].
    #[track_caller]
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Changes the value in place with [`tokio::Sender::send_if_modified`]. A call without a
    /// modification is not an event.
    #[track_caller]
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        let at = Location::caller();
        self.inner.send_if_modified(|envelope| {
            let modified = modify(&mut envelope.value);
            if modified {
                envelope.cause = self.endpoint.announced(&envelope.value, at);
            }
            modified
        })
    }

    /// Borrows the value with [`tokio::Sender::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.inner.borrow())
    }

    /// Creates a receiver with [`tokio::Sender::subscribe`].
    pub fn subscribe(&self) -> Receiver<T> {
        SpiedReceiver::new(self.inner.subscribe(), self.endpoint)
    }

    forward! { Sender:
        fn is_closed(&self) -> bool;
        async fn closed(&self);
        fn receiver_count(&self) -> usize;
        fn sender_count(&self) -> usize;
        fn same_channel(&self, other: &Self) -> bool;
    }
}

/// Value that is borrowed from the channel; see [`tokio::Ref`].
#[derive(Debug)]
pub struct Ref<'a, T>(tokio::Ref<'a, Envelope<T>>);

impl<T> Ref<'_, T> {
    /// Returns true if the value was new when it was borrowed, like [`tokio::Ref::has_changed`].
    pub fn has_changed(&self) -> bool {
        self.0.has_changed()
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

/// Receiver that makes an event of each change that it sees; see [`tokio::Receiver`].
pub type Receiver<T> = SpiedReceiver<tokio::Receiver<Envelope<T>>, T>;

impl<T> Receiver<T> {
    /// Waits for a change with [`tokio::Receiver::changed`], and is as safe to cancel.
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        self.inner.changed().await?;
        // A change since then is seen now, so it has no separate receipt.
        let SpiedReceiver { inner, receipts } = self;
        receipts.see(&inner.borrow_and_update());
        Ok(())
    }

    /// Borrows the value with [`tokio::Receiver::borrow_and_update`], which marks it as seen.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let SpiedReceiver { inner, receipts } = self;
        let value = inner.borrow_and_update();
        if value.has_changed() {
            receipts.see(&value);
        }
        Ref(value)
    }

    /// Waits for a value with [`tokio::Receiver::wait_for`], and is as safe to cancel.
    pub async fn wait_for(
        &mut self,
        mut condition: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        let SpiedReceiver { inner, receipts } = self;
        let value = inner.wait_for(|envelope| condition(&envelope.value)).await?;
        if value.has_changed() {
            receipts.see(&value);
        }
        Ok(Ref(value))
    }

    /// Borrows the value with [`tokio::Receiver::borrow`].
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref(self.inner.borrow())
    }

    /// Returns true if there is an unseen change, like [`tokio::Receiver::has_changed`].
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        self.inner.has_changed()
    }

    forward! { Receiver:
        fn is_closed(&self) -> bool;
        fn mark_changed(&mut self);
        fn mark_unchanged(&mut self);
        fn same_channel(&self, other: &Self) -> bool;
    }
}
