//! `tokio::sync::mpsc`, watched at both ends.

mod permit;
mod receiver;
mod sender;
mod unbounded_receiver;
mod unbounded_sender;

pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::Receiver;
pub use sender::{Sender, WeakSender};
pub use tokio::error;
use tokio::sync::mpsc as tokio;
pub use unbounded_receiver::UnboundedReceiver;
pub use unbounded_sender::{UnboundedSender, WeakUnboundedSender};

use super::Bus;
use super::endpoint::Endpoint;

/// As [`tokio::sync::mpsc::channel`](tokio::channel()), named after the type of its messages.
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    Bus::unnamed().mpsc(buffer)
}

/// As [`tokio::sync::mpsc::unbounded_channel`](tokio::unbounded_channel()), named after the type of its messages.
#[track_caller]
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    Bus::unnamed().unbounded()
}

pub(super) fn bounded<T>(endpoint: Endpoint<T>, buffer: usize) -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = tokio::channel(buffer);
    (Sender::new(sender, endpoint), Receiver::new(receiver, endpoint))
}

pub(super) fn unbounded<T>(endpoint: Endpoint<T>) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (sender, receiver) = tokio::unbounded_channel();
    (UnboundedSender::new(sender, endpoint), UnboundedReceiver::new(receiver, endpoint))
}
