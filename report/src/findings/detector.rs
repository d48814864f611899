//! Trait that each kind of finding implements.

use metaspy_probe::SiteId;
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
///     fn read(&mut self, events: &[&ResolvedEvent], _: &Context<'_>) {
///         self.0.extend(events.iter().filter(|it| it.event.outcome == Outcome::Panicked).map(|&it| it.clone()));
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

    /// Returns the reason why the recording cannot show findings of this kind, with advice for the
    /// next recording; `None` if it can show them.
    fn missing(&self, context: &Context<'_>) -> Option<String> {
        context.missing_events()
    }

    /// Returns the sites whose events may have a part in a finding, as far as the survey tells. The
    /// detector gets no events of other sites.
    fn sites(&mut self, context: &Context<'_>) -> Vec<SiteId> {
        context.sites_with_events().collect()
    }

    /// Takes the next events. A detector gets every event of its sites once, in order of time.
    fn read(&mut self, events: &[&ResolvedEvent], context: &Context<'_>);

    /// Returns the findings of the kind that the recording cannot show, with advice for the next
    /// recording; `None` if it can show all. Called after the last event.
    fn missing_part(&self, context: &Context<'_>) -> Option<String> {
        context.missing_window()
    }

    /// Returns the findings, after the last event.
    fn finish(self: Box<Self>, context: &Context<'_>) -> Vec<Finding>;
}
