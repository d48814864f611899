//! Announcements: what a bus says, how often, and who caused it.
//!
//! A **tap** is one receiver more: the sender is not edited, so it is not known either, and a tap may lag. A **proxy**
//! is a channel both of whose ends are watched: exact causes, and no lag of its own. Tap to learn *what*, wrap to learn
//! *who*. (MetaSpy: announcement instrumenters.)

mod announced;
mod kind;
mod listener;
mod sites;
mod sources;
pub mod spied;
mod spied_stream;
mod synchronous;
mod tap;
mod tell;
mod wait;

pub use crate::announce::Announce;
pub use announced::announced;
pub use kind::{ByItself, KindOf};
pub use sources::{Announcer, Heard, Source};
pub use spied_stream::SpiedStream;
pub use synchronous::Callbacks;
pub use tap::{Announcements, announcements, announcements_in};
