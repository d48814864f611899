//! Buses that can be tapped, and the subscriptions to them.

mod broadcast;
mod stream;
mod watch;

use std::future::Future;

pub(super) use stream::Streamed;

/// Result of [`Source::receive`].
#[derive(Debug)]
pub enum Received<M> {
    /// Received announcement.
    Message(M),
    /// Number of announcements that were overwritten before they were received.
    Lost(u64),
    /// End of the bus.
    Ended,
}

/// Subscription to a bus, from which the tap's thread receives.
pub trait Source: Send + 'static {
    /// Type of the announcements.
    type Message: 'static;

    /// True if the source can be used after a panic, for example in the `Clone` of a message.
    const SURVIVES_PANICS: bool;

    /// Waits for the next announcement. It is safe to cancel.
    fn receive(&mut self) -> impl Future<Output = Received<Self::Message>>;

    /// Returns the number of announcements that wait, or `None` if it is unknown.
    fn waiting(&self) -> Option<u64>;
}

/// Bus that can be tapped: a `&broadcast::Sender`, a `&watch::Receiver`, …
pub trait Announcer {
    /// Type of the announcements.
    type Message: 'static;
    /// Type of the subscription.
    type Source: Source<Message = Self::Message>;

    /// Description of the changes that a tap makes for the application.
    const DISTURBS: &'static str;

    /// Returns a function that subscribes when the tap is installed. It keeps no bus alive.
    fn subscription(self) -> impl FnOnce() -> Option<Self::Source> + Send + 'static;
}
