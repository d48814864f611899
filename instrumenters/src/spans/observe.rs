//! Spans in a profiler.

use metaspy_core::SiteKind;
use metaspy_core::arm::Subjects;

use crate::calls::Calls;
use crate::sites::Sites;

/// Observes the spans and events of `tracing` that a selector matches: `spans("my_crate::*")`. A
/// [`layer`](super::layer()) has to be there to tell of them.
///
/// They are known from the first time that the program comes by, so a selector that matches none is no error. Fields are
/// written down if [`Calls::details`] asks for them.
pub fn spans(selector: impl Into<Sites>) -> Calls {
    Calls::new(selector.into().or_later(SiteKind::Span), Subjects::All)
}
