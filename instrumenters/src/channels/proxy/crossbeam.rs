//! Proxy of `crossbeam-channel`, with both ends observed.
//!
//! ```
//! use metaspy::channels::{Bus, Envelope};
//! use metaspy::prelude::*;
//!
//! let (jobs, queue) = Bus::new("jobs").wrap(crossbeam_channel::bounded(16));
//! let profiler = Profiler::new("jobs").observe(proxied("jobs::*")).install()?;
//! jobs.send(7).unwrap();
//! // A `select!` uses the receiver inside.
//! let job = crossbeam_channel::select! {
//!     recv(queue.inner()) -> envelope => queue.open(envelope.unwrap()),
//! };
//! assert_eq!((job, profiler.uninstall().counts().total()), (7, 2));
//! # Ok::<(), metaspy::InstallError>(())
//! ```

use std::time::{Duration, Instant};

use ::crossbeam_channel as raw;
pub use raw::{
    RecvError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};

use super::{Bus, Carries, Envelope, SpiedReceiver, SpiedSender};

channels!("crossbeam_channel");

blocking_methods!();
