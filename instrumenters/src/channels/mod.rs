//! Channels, streams and callback lists: what is announced, how often, and what caused it.
//!
//! There are two techniques. A **tap** ([`announcements`]) is one more receiver on a bus. It needs no edits, but it does
//! not know the sender, and it may lag. A **proxy** ([`Bus`], [`mpsc`], [`broadcast`], …) wraps both ends of a channel.
//! Its causes are exact, and it adds no lag. Use a tap to learn *what* is announced, and a proxy to learn *who* sent it.
//! (MetaSpy: announcement instrumenters.)

mod callbacks;
mod kind;
mod proxy;
mod tap;

pub use crate::announce::Announce;
pub use callbacks::Callbacks;
pub use kind::{ByItself, KindOf};
pub use proxy::{Bus, Envelope, SpiedReceiver, SpiedSender, SpiedStream, broadcast, mpsc, oneshot, proxied, watch};
pub use tap::{Announcements, Announcer, Received, Source, announcements, announcements_in};
