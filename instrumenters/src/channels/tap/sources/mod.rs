//! What can be tapped, and how it is heard.

mod broadcast;
mod stream;
mod watch;

use std::future::Future;

pub(super) use stream::Streamed;

/// What a tap heard.
#[derive(Debug)]
pub enum Received<M> {
    /// An announcement.
    Message(M),
    /// So many were overwritten before they were heard.
    Lost(u64),
    /// The bus has ended.
    Ended,
}

/// A subscription. It is listened to on a thread of its own.
pub trait Source: Send + 'static {
    /// What is announced.
    type Message: 'static;

    /// Whether it can be listened to after a panic: in the `Clone` of a message, say.
    const SURVIVES_PANICS: bool;

    /// Waits for the next announcement. Dropped half-way, it has taken none.
    fn receive(&mut self) -> impl Future<Output = Received<Self::Message>>;

    /// How many announcements wait to be heard; `None` where nobody can tell.
    fn waiting(&self) -> Option<u64>;
}

/// Something that can be subscribed to: a `&broadcast::Sender`, a `&watch::Receiver`, …
pub trait Announcer {
    /// What is announced.
    type Message: 'static;
    /// The subscription.
    type Source: Source<Message = Self::Message>;

    /// What a tap changes for the application.
    const DISTURBS: &'static str;

    /// How to subscribe, when the time comes. It keeps no bus alive.
    fn subscription(self) -> impl FnOnce() -> Option<Self::Source> + Send + 'static;
}
