//! Proxies: channels with both ends observed.
//!
//! They have the names and methods of the channels inside, so one `use` selects them. Each message
//! travels in an [`Envelope`] with the event of its sending. So the cause of a receipt is exact,
//! whatever the channel drops, and there is no table beside it. A proxy adds no lag: a `broadcast`
//! overwrites the same messages as without it.
//!
//! | event | at the site | how it ends | cause |
//! |---|---|---|---|
//! | a message is sent | `sent` | succeeded, or failed if there is no receiver | the sender's current event |
//! | a message is received | `received` | instant | its sending |
//! | a broadcast receiver lagged | `missed` | instant, with the size of the gap | the receiver's current event |
//!
//! A sending that cannot wait has a start and no length, because its end is not read from the
//! clock. With details it is a call, and is timed.
//!
//! Only the receiver can name the receipt as the cause of its further work:
//! `let _because = rx.because();` does so until the guard is dropped. A guard stays on its thread,
//! and does not live across an await. `rx.received()` is the event itself, for functions that carry
//! causes further.
//!
//! ```
//! use metaspy::channels::Bus;
//! use metaspy::prelude::*;
//!
//! let (jobs, queue) = Bus::new("jobs").wrap(std::sync::mpsc::channel());
//! let profiler = Profiler::new("jobs").observe(proxied("jobs::*")).install()?;
//! jobs.send(7).unwrap();
//! assert_eq!(queue.try_recv(), Ok(7));
//! let received = queue.received().expect("it was observed");
//! let profile = profiler.uninstall();
//! let sent = profile.store().event(received).and_then(|event| event.cause);
//! assert_eq!(profile.store().site_path(profile.store().event(sent.unwrap()).unwrap().site), "jobs::sent");
//! assert!(profile.store().queued(received).is_some());
//! # Ok::<(), metaspy::InstallError>(())
//! ```

#[cfg(feature = "tokio")]
#[macro_use]
mod handles;
#[macro_use]
mod methods;

mod bus;
mod channel_sites;
mod endpoint;
mod handle;
mod messages;
mod recorded;

// The following modules have the channels of a library each.
#[cfg(feature = "async-channel")]
pub mod async_channel;
#[cfg(feature = "tokio")]
pub mod broadcast;
#[cfg(feature = "crossbeam-channel")]
pub mod crossbeam;
#[cfg(feature = "flume")]
pub mod flume;
#[cfg(feature = "tokio")]
pub mod mpsc;
#[cfg(feature = "tokio")]
pub mod oneshot;
pub mod std_mpsc;
#[cfg(feature = "tokio")]
mod stream;
#[cfg(feature = "tokio")]
pub mod watch;

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

pub use bus::{Bus, Carries};
pub use endpoint::Envelope;
pub use handle::{SpiedReceiver, SpiedSender};
pub use messages::Messages;
#[cfg(feature = "tokio")]
pub use stream::SpiedStream;

/// Observes proxies by name: the channels of [`Bus`], [`Callbacks`](super::Callbacks) and
/// `SpiedStream`.
///
/// The selector also matches channels that are made later, so a name without a channel is not an
/// error. Where several channels have the same name, [`objects`](crate::objects()) selects:
/// `objects([&sender], "jobs::*")`.
pub fn proxied(sites: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(sites.into().or_later(SiteKind::Announcement), Subjects::All)
}
