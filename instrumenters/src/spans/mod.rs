//! Spans and events of `tracing`.
//!
//! [`layer`] is a layer of `tracing-subscriber`, to be combined with others. It sets no subscriber,
//! and it records nothing without a profiler. Each span and each event of the program is a site;
//! [`spans`] selects sites.
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
//! A span is one event from its creation to its close, however often and on whatever threads it is
//! entered. Its effects are the events that begin while it is entered, including calls of observed
//! functions.

mod callsite;
mod fields;
mod layer;
mod log_records;
mod open_spans;
mod subject_fields;

pub use layer::{Spans, layer};
pub use subject_fields::subject_field;

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::call_instrumenter::CallInstrumenter;
use crate::sites::Sites;

/// Observes the spans and events of `tracing` that a selector matches: `spans("my_crate::*")`. The
/// subscriber must have a [`layer`].
///
/// A span is registered when the program first reaches it, so a selector without a match is not an
/// error. Fields are recorded with [`CallInstrumenter::details`].
pub fn spans(selector: impl Into<Sites>) -> CallInstrumenter {
    CallInstrumenter::new(selector.into().or_later(SiteKind::Span), Subjects::All)
}
