//! The trait of detectors.

use metaspy_reader::ResolvedEvent;

use super::{Context, Finding};

/// Detector of a kind of findings.
///
/// ```
/// use metaspy_report::findings::{Context, Cost, Detector, Evidence, Finding};
/// use metaspy_reader::{Outcome, ResolvedEvent};
///
/// /// Calls that panic.
/// #[derive(Default)]
/// struct Panics(Vec<ResolvedEvent>);
///
/// impl Detector for Panics {
///     fn kind(&self) -> &str {
///         "panics"
///     }
///
///     fn read(&mut self, events: &[ResolvedEvent], _: &Context<'_>) {
///         self.0.extend(events.iter().filter(|it| it.event.outcome == Outcome::Panicked).cloned());
///     }
///
///     fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding> {
///         let Some(first) = self.0.first() else { return Vec::new() };
///         let site = context.site(first.event.site);
///         let mut finding = Finding::new("panics", format!("{} calls panic", self.0.len()), vec![site]);
///         finding.cost = Cost::of_events(self.0.len() as u64);
///         finding.evidence = Evidence::new("all of them ended by a panic", "outcome:panicked");
///         vec![finding]
///     }
/// }
/// ```
pub trait Detector: Send {
    /// Returns the word of the kind, which never changes: `repeated`.
    fn kind(&self) -> &str;

    /// Returns why the recording cannot show findings of this kind, and what to record; `None` if it can.
    fn missing(&self, context: &Context<'_>) -> Option<String> {
        context.missing_events()
    }

    /// Takes the next events. Each detector gets every event of the window once, in order of time.
    fn read(&mut self, events: &[ResolvedEvent], context: &Context<'_>);

    /// Returns which findings of the kind the recording cannot show, and what to record, after the last event; `None` if it
    /// can show all.
    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        context.missing_window()
    }

    /// Returns the findings, after the last event.
    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding>;
}
