//! Spans: what a program role by `tracing`, taken as it is.
//!
//! [`layer`] is a layer of `tracing-subscriber` that goes with others. It sets no subscriber, and writes nothing while
//! nobody looks: each span and each event of the program is a site, and [`spans`] observes those that it selects.
//!
//! ```
//! use metaspy::prelude::*;
//! use metaspy::spans;
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
//! # Ok::<(), metaspy::InstallError>(())
//! ```
//!
//! A span is one event from its creation to its close, however often and wherever it is entered; what runs while it is
//! entered hangs under it, calls that `#[observe]` reports as well.

mod callsite;
mod fields;
mod layer;
mod log_records;
mod open_spans;
mod text_key;

pub use layer::{Spans, layer};

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

/// Observes the spans and events of `tracing` that a selector matches: `spans("my_crate::*")`. The subscriber must have
/// a [`layer`].
///
/// A span is registered when the program first reaches it, so a selector that matches none is no error. Fields are
/// recorded with [`CallInstrumenter::details`].
pub fn spans(selector: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(selector.into().or_later(SiteKind::Span), Subjects::All)
}
