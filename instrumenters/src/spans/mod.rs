//! Spans: what a program tells by `tracing`, taken as it is.
//!
//! [`layer`] is a layer of `tracing-subscriber` that goes with others. It sets no subscriber, and writes nothing while
//! nobody looks: each span and each event of the program is a site, and [`spans`] observes those that it selects.
//!
//! ```
//! use metaspy_core::{Profiler, store::By};
//! use metaspy_instrumenters::spans::{self, spans};
//! use tracing_subscriber::prelude::*;
//!
//! #[tracing::instrument(fields(subject = id))]
//! fn fetch(id: u64) {
//!     tracing::info!("fetched");
//! }
//!
//! let subscriber = tracing_subscriber::registry().with(spans::layer());
//! let _default = tracing::subscriber::set_default(subscriber);
//!
//! let profiler = Profiler::new("fetches").observe(spans("fetch")).install()?;
//! fetch(7);
//! fetch(7);
//! assert_eq!(profiler.uninstall().counts().by_subject().rows[0].measure.count, 2);
//! # Ok::<(), metaspy_core::InstallError>(())
//! ```
//!
//! A span is one event from its creation to its close, however often and wherever it is entered; what runs while it is
//! entered hangs under it, calls that `#[observe]` reports as well.

mod callsite;
mod fields;
mod key;
mod layer;
mod live;
mod observe;
mod records;

pub use layer::{Spans, layer};
pub use observe::spans;
