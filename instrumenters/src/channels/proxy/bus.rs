//! The builder of proxied channels.

use std::fmt::{self, Debug};
use std::panic::Location;

use metaspy_core::hook::Reify;

use super::channel_sites::ChannelSites;
use super::endpoint::Endpoint;
use super::handle::{SpiedReceiver, SpiedSender};
#[cfg(feature = "tokio")]
use super::{broadcast, mpsc, oneshot, watch};
use crate::announce::Announce;

/// A channel to be made: its name, and what is recorded of its messages.
///
/// ```
/// use metaspy::channels::Bus;
///
/// let (jobs, queue) = Bus::new("jobs").wrap(std::sync::mpsc::channel());
/// jobs.send("a job").unwrap();
/// assert_eq!(queue.recv(), Ok("a job"));
/// ```
///
/// Channels with one name share their sites. Each channel is a subject: `jobs #1`.
#[must_use = "a bus does nothing until it makes a channel"]
pub struct Bus<M = Plain> {
    name: Option<&'static str>,
    at: &'static Location<'static>,
    messages: M,
}

/// Records a message.
#[doc(hidden)]
pub type Show<T> = for<'m> fn(&'m T, &mut Reify<'m>);

/// What a channel records of its messages.
pub trait Messages<T> {
    #[doc(hidden)]
    fn kind(&self) -> Option<fn(&T) -> &'static str>;
    #[doc(hidden)]
    fn show(&self) -> Option<Show<T>>;
}

/// Nothing is recorded of messages.
#[derive(Debug)]
pub struct Plain;

/// Messages are recorded as details.
#[derive(Debug)]
pub struct Shown<M>(M);

/// Messages have kinds.
#[derive(Debug)]
pub struct Kinds<M>(M);

impl<T> Messages<T> for Plain {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        None
    }

    fn show(&self) -> Option<Show<T>> {
        None
    }
}

impl<T: Debug + 'static, M: Messages<T>> Messages<T> for Shown<M> {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        self.0.kind()
    }

    fn show(&self) -> Option<Show<T>> {
        Some(|message, reify| {
            reify.payload(message);
            reify.arg("message", message);
        })
    }
}

impl<T: Announce, M: Messages<T>> Messages<T> for Kinds<M> {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        Some(T::kind)
    }

    fn show(&self) -> Option<Show<T>> {
        self.0.show()
    }
}

impl Bus {
    /// A channel with a name.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Bus { name: Some(crate::interned::name(name)), at: Location::caller(), messages: Plain }
    }

    /// A channel that is named after the type of its messages.
    #[track_caller]
    pub fn unnamed() -> Self {
        Bus { name: None, at: Location::caller(), messages: Plain }
    }
}

/// A sender or a receiver of a library, whose messages are envelopes of `T`.
pub trait Carries<T> {}

impl<M> Bus<M> {
    /// Records messages, by their `Debug`, as details. Handlers before a sending or a receipt get the message itself:
    /// `call.payload::<Job>()`.
    pub fn details(self) -> Bus<Shown<M>> {
        Bus { name: self.name, at: self.at, messages: Shown(self.messages) }
    }

    /// Gives each kind of message its own sites: `jobs::Done::sent`. The messages derive [`Announce`]. The kind of each
    /// message is computed even if no site is armed.
    pub fn kinds(self) -> Bus<Kinds<M>> {
        Bus { name: self.name, at: self.at, messages: Kinds(self.messages) }
    }

    /// Wraps both ends of a channel: `Bus::new("jobs").wrap(flume::bounded(16))`. The channel must be new, because messages
    /// from before have no envelope.
    pub fn wrap<S: Carries<T>, R: Carries<T>, T>(self, ends: (S, R)) -> (SpiedSender<S, T>, SpiedReceiver<R, T>)
    where
        M: Messages<T>,
    {
        let endpoint = self.endpoint();
        (SpiedSender::new(ends.0, endpoint), SpiedReceiver::new(ends.1, endpoint))
    }

    fn endpoint<T>(&self) -> Endpoint<T>
    where
        M: Messages<T>,
    {
        Endpoint::new(ChannelSites::named::<T>(self.name, self.at), self.messages.kind(), self.messages.show())
    }
}

/// Channels of tokio.
#[cfg(feature = "tokio")]
impl<M> Bus<M> {
    /// As [`tokio::sync::broadcast::channel`].
    pub fn broadcast<T: Clone>(self, capacity: usize) -> (broadcast::Sender<T>, broadcast::Receiver<T>)
    where
        M: Messages<T>,
    {
        broadcast::pair(self.endpoint(), capacity)
    }

    /// As [`tokio::sync::mpsc::channel`].
    pub fn mpsc<T>(self, buffer: usize) -> (mpsc::Sender<T>, mpsc::Receiver<T>)
    where
        M: Messages<T>,
    {
        mpsc::bounded(self.endpoint(), buffer)
    }

    /// As [`tokio::sync::mpsc::unbounded_channel`].
    pub fn unbounded<T>(self) -> (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>)
    where
        M: Messages<T>,
    {
        mpsc::unbounded(self.endpoint())
    }

    /// As [`tokio::sync::watch::channel`].
    pub fn watch<T>(self, first: T) -> (watch::Sender<T>, watch::Receiver<T>)
    where
        M: Messages<T>,
    {
        watch::pair(self.endpoint(), first)
    }

    /// As [`tokio::sync::oneshot::channel`].
    pub fn oneshot<T>(self) -> (oneshot::Sender<T>, oneshot::Receiver<T>)
    where
        M: Messages<T>,
    {
        oneshot::pair(self.endpoint())
    }
}

impl<M> fmt::Debug for Bus<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("name", &self.name).finish_non_exhaustive()
    }
}
