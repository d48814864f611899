//! Builder of proxied channels.

use std::fmt;
use std::panic::Location;

use super::channel_sites::ChannelSites;
use super::endpoint::Endpoint;
use super::handle::{SpiedReceiver, SpiedSender};
use super::recorded::{Kinds, Messages, Plain, Shown};
#[cfg(feature = "tokio")]
use super::{broadcast, mpsc, oneshot, watch};

/// Builder of a channel with a name and a choice of recorded details.
///
/// ```
/// use metaspy::channels::Bus;
///
/// let (jobs, queue) = Bus::new("jobs").wrap(std::sync::mpsc::channel());
/// jobs.send("a job").unwrap();
/// assert_eq!(queue.recv(), Ok("a job"));
/// ```
///
/// Channels with the same name share their sites. Each channel is a subject: `jobs #1`.
#[must_use = "a bus does nothing until it makes a channel"]
pub struct Bus<M = Plain> {
    name: Option<&'static str>,
    at: &'static Location<'static>,
    messages: M,
}

impl Bus {
    /// Creates the builder of a channel with this name.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Bus { name: Some(crate::interned::name(name)), at: Location::caller(), messages: Plain }
    }

    /// Creates the builder of a channel that is named after the type of its messages.
    #[track_caller]
    pub fn unnamed() -> Self {
        Bus { name: None, at: Location::caller(), messages: Plain }
    }
}

/// Marks a library's sender or receiver whose messages are envelopes of `T`.
pub trait Carries<T> {}

impl<M> Bus<M> {
    /// Records messages, by their `Debug`, as details. Handlers before a sending or a receipt get
    /// the message itself: `call.payload::<Job>()`.
    pub fn details(self) -> Bus<Shown<M>> {
        Bus { name: self.name, at: self.at, messages: Shown(self.messages) }
    }

    /// Gives each kind of message separate sites: `jobs::Done::sent`.
    ///
    /// The messages derive [`Announce`](crate::announce::Announce). The kind of each message is
    /// computed even if no site is armed.
    pub fn kinds(self) -> Bus<Kinds<M>> {
        Bus { name: self.name, at: self.at, messages: Kinds(self.messages) }
    }

    /// Wraps both ends of a channel: `Bus::new("jobs").wrap(flume::bounded(16))`. The channel must
    /// be new, because messages from before have no envelope.
    pub fn wrap<S: Carries<T>, R: Carries<T>, T>(
        self,
        ends: (S, R),
    ) -> (SpiedSender<S, T>, SpiedReceiver<R, T>)
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
        let sites = ChannelSites::named::<T>(self.name, self.at);
        // Kinds without any message are also listed.
        self.messages.kinds().iter().for_each(|kind| sites.list(kind));
        Endpoint::new(sites, self.messages.kind(), self.messages.show())
    }
}

/// Constructors for the channels of tokio.
#[cfg(feature = "tokio")]
impl<M> Bus<M> {
    /// Creates a channel with [`tokio::sync::broadcast::channel`].
    pub fn broadcast<T: Clone>(
        self,
        capacity: usize,
    ) -> (broadcast::Sender<T>, broadcast::Receiver<T>)
    where
        M: Messages<T>,
    {
        broadcast::pair(self.endpoint(), capacity)
    }

    /// Creates a channel with [`tokio::sync::mpsc::channel`].
    pub fn mpsc<T>(self, buffer: usize) -> (mpsc::Sender<T>, mpsc::Receiver<T>)
    where
        M: Messages<T>,
    {
        mpsc::bounded(self.endpoint(), buffer)
    }

    /// Creates a channel with [`tokio::sync::mpsc::unbounded_channel`].
    pub fn unbounded<T>(self) -> (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>)
    where
        M: Messages<T>,
    {
        mpsc::unbounded(self.endpoint())
    }

    /// Creates a channel with [`tokio::sync::watch::channel`].
    pub fn watch<T>(self, first: T) -> (watch::Sender<T>, watch::Receiver<T>)
    where
        M: Messages<T>,
    {
        watch::pair(self.endpoint(), first)
    }

    /// Creates a channel with [`tokio::sync::oneshot::channel`].
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
