//! Channels, streams and callback lists, with the number and the cause of their announcements.
//!
//! There are two techniques. A **tap** (`announcements`) is an additional receiver on a bus. It
//! needs no edits, but it does not know the sender, and it may lag. A **proxy** ([`Bus`],
//! [`std_mpsc`], …) wraps both ends of a channel. Its causes are exact, and it adds no lag. Use a
//! tap to learn *what* is announced, and a proxy to learn *who* sent it. (MetaSpy: announcement
//! instrumenters.)
//!
//! The feature `channels` has callback lists and the channels of the standard library. Each other
//! library is a feature.

mod callbacks;
#[cfg(feature = "tokio")]
mod kind;
mod named_bus;
mod proxy;
#[cfg(feature = "tokio")]
mod tap;

pub use crate::announce::Announce;
pub use callbacks::Callbacks;
#[cfg(feature = "tokio")]
pub use kind::{ByItself, KindOf};
#[cfg(feature = "async-channel")]
pub use proxy::async_channel;
#[cfg(feature = "crossbeam-channel")]
pub use proxy::crossbeam;
#[cfg(feature = "flume")]
pub use proxy::flume;
pub use proxy::{Bus, Carries, Envelope, Messages, SpiedReceiver, SpiedSender, proxied, std_mpsc};
#[cfg(feature = "tokio")]
pub use proxy::{SpiedStream, broadcast, mpsc, oneshot, watch};
#[cfg(feature = "tokio")]
pub use tap::{Announcements, Announcer, Received, Source, announcements, announcements_in};
