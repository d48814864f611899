//! The buses that can be tapped.

mod broadcast;
mod stream;
mod watch;

use std::future::Future;

pub(super) use stream::Streamed;

/// A result of [`Source::receive`].
#[derive(Debug)]
pub enum Received<M> {
    /// An announcement.
    Message(M),
    /// A number of announcements that were overwritten before they were received.
    Lost(u64),
    /// The bus has ended.
    Ended,
}

/// A subscription to a bus. The tap's thread receives from it.
pub trait Source: Send + 'static {
    /// The type of the announcements.
    type Message: 'static;

    /// True if it can be used after a panic, for example in the `Clone` of a message.
    const SURVIVES_PANICS: bool;

    /// Waits for the next announcement. It is safe to cancel.
    fn receive(&mut self) -> impl Future<Output = Received<Self::Message>>;

    /// The number of announcements that wait; `None` if it is unknown.
    fn waiting(&self) -> Option<u64>;
}

/// A bus that can be tapped: a `&broadcast::Sender`, a `&watch::Receiver`, …
pub trait Announcer {
    /// The type of the announcements.
    type Message: 'static;
    /// The type of the subscription.
    type Source: Source<Message = Self::Message>;

    /// Describes what a tap changes for the application.
    const DISTURBS: &'static str;

    /// Returns a function that subscribes when the tap is installed. It keeps no bus alive.
    fn subscription(self) -> impl FnOnce() -> Option<Self::Source> + Send + 'static;
}
