//! Kinds of findings that need no events: they concern the program, the types or the grammar of a
//! recording.

use metaspy_probe::SiteId;
use metaspy_reader::ResolvedEvent;

use super::{Context, Detector, Finding};

/// Detector of a kind that needs no events.
pub(super) struct OfRecording {
    /// Word of the kind.
    pub(super) kind: &'static str,
    /// Returns the reason why the recording cannot show the kind.
    pub(super) missing: fn(&Context<'_>) -> Option<String>,
    /// Returns the findings.
    pub(super) find: fn(&Context<'_>) -> Vec<Finding>,
}

impl Detector for OfRecording {
    fn kind(&self) -> &str {
        self.kind
    }

    fn missing(&self, context: &Context<'_>) -> Option<String> {
        (self.missing)(context)
    }

    fn sites(&mut self, _: &Context<'_>) -> Vec<SiteId> {
        Vec::new()
    }

    fn read(&mut self, _: &[&ResolvedEvent], _: &Context<'_>) {}

    fn missing_part(&self, _: &Context<'_>) -> Option<String> {
        None
    }

    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
        (self.find)(context)
    }
}
