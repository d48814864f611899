//! Proxy of `tokio::sync::mpsc`, with both ends observed.

mod permit;
mod receiver;
mod sender;

pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::{Receiver, UnboundedReceiver};
pub use sender::{Sender, UnboundedSender, WeakSender, WeakUnboundedSender};
pub use tokio::error;
use tokio::sync::mpsc as tokio;

use super::endpoint::Endpoint;
use super::{Bus, SpiedReceiver, SpiedSender};

/// Creates a channel with [`tokio::sync::mpsc::channel`](tokio::channel()). It is named after the
/// type of its messages.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().mpsc(buffer)
}

/// Creates a channel with [`tokio::sync::mpsc::unbounded_channel`](tokio::unbounded_channel()). It
/// is named after the type of its messages.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    Bus::unnamed().unbounded()
}

pub(super) fn bounded<T>(endpoint: Endpoint<T>, buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel(buffer);
    (SpiedSender::new(sender, endpoint), SpiedReceiver::new(receiver, endpoint))
}

pub(super) fn unbounded<T>(endpoint: Endpoint<T>) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = tokio::unbounded_channel();
    (SpiedSender::new(sender, endpoint), SpiedReceiver::new(receiver, endpoint))
}
