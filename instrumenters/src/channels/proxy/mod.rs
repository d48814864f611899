//! Proxies: channels both of whose ends are watched.
//!
//! They have the names and the methods of tokio's, so that one `use` decides. A message travels in an [`Envelope`] with
//! the event of its sending, so the receipt knows its cause exactly, whatever the channel drops, and no side table is
//! kept. A proxy never lags of its own: what a `broadcast` overwrites is what it would have overwritten anyway.
//!
//! | event | at the site | how it ends | cause |
//! |---|---|---|---|
//! | a message is sent | `sent` | succeeded, or failed where nobody can receive it | what the sender was in |
//! | a message is received | `received` | instant | its sending |
//! | a broadcast receiver lagged | `missed` | instant, with the size of the gap | what the receiver was in |
//!
//! What a receiver does next belongs under the receipt, which only the receiver can say: `let _because = rx.because();`
//! names the cause until the guard is dropped. A guard stays on its thread and lives across no await; `rx.received()`
//! is the event itself, for whatever carries causes further.
//!
//! ```
//! use metaspy::channels::Bus;
//! use metaspy::prelude::*;
//!
//! let (jobs, mut queue) = Bus::new("jobs").mpsc::<u32>(16);
//! let profiler = Profiler::new("jobs").observe(proxied("jobs::*")).install()?;
//! jobs.try_send(7).unwrap();
//! assert_eq!(queue.try_recv(), Ok(7));
//! let received = queue.received().expect("it was observed");
//! let profile = profiler.uninstall();
//! let sent = profile.store().event(received).and_then(|event| event.cause);
//! assert_eq!(profile.store().site_path(profile.store().event(sent.unwrap()).unwrap().site), "jobs::sent");
//! assert!(profile.store().queued(received).is_some());
//! # Ok::<(), metaspy::InstallError>(())
//! ```

#[macro_use]
mod handles;

pub mod broadcast;
mod bus;
mod channel_sites;
mod endpoint;
pub mod mpsc;
pub mod oneshot;
mod stream;
pub mod watch;

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

pub use bus::Bus;
pub use endpoint::Envelope;
pub use stream::SpiedStream;

/// Observes proxies by name: the channels of [`Bus`], [`Callbacks`](super::Callbacks) and [`SpiedStream`].
///
/// The selector also matches channels that are made later, so a name without a channel is no error. Where several
/// channels have one name, [`objects`](crate::objects()) selects: `objects([&sender], "jobs::*")`.
pub fn proxied(sites: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(sites.into().or_later(SiteKind::Announcement), Subjects::All)
}
