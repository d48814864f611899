//! Conversion of announcements to events.

use metaspy_core::hook::{self, Reify};
use metaspy_core::{Site, Subject};

use super::sites::LeasedSites;
use crate::channels::kind::KindOf;

type Condition<M> = Box<dyn Fn(&M) -> bool + Send>;
type SubjectOf<M> = Box<dyn Fn(&M) -> Subject + Send>;
type Handler<M> = Box<dyn Fn(&M) + Send>;
type Show<M> = fn(&M, &mut Reify<'_>);

/// Closures of the user that are called for each announcement.
pub(super) struct Emitter<M, K> {
    pub kind: K,
    pub when: Option<Condition<M>>,
    pub subject: Option<SubjectOf<M>>,
    /// Handlers that are called for each selected announcement.
    pub each: Vec<Handler<M>>,
    /// Formatter of a message, for kinds that do not show it.
    pub show: Option<Show<M>>,
}

impl<M, K: KindOf<M>> Emitter<M, K> {
    /// Records an announcement if it is selected.
    ///
    /// The closures run at meta level. If a closure panics, the panic is counted, and the
    /// announcement is recorded all the same. If `is_abandoned`, nothing is recorded and no handler
    /// starts.
    pub fn emit(
        &self,
        message: &M,
        sites: &LeasedSites,
        bus: Subject,
        is_abandoned: impl Fn() -> bool,
    ) {
        if let Some(when) = &self.when
            && hook::at_meta_level(|| when(message)) == Some(false)
        {
            return;
        }
        let site = hook::at_meta_level(|| self.kind.with_kind(message, |kind| sites.of_kind(kind)));
        let site: &'static Site = site.unwrap_or_else(|| sites.of_kind("unknown"));
        let subject =
            self.subject.as_ref().map_or(bus, |subject| hook::subject(|| subject(message)));
        if site.is_armed() && !is_abandoned() {
            hook::instant_with(site, subject, None, |reify: &mut Reify<'_>| {
                self.show(message, reify)
            });
        }
        for handler in &self.each {
            if !is_abandoned() {
                hook::at_meta_level(|| handler(message));
            }
        }
    }

    fn show(&self, message: &M, reify: &mut Reify<'_>) {
        match self.show {
            Some(show) => show(message, reify),
            None => self.kind.show(message, reify),
        }
    }
}
