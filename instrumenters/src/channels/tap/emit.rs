//! One announcement becomes one event.

use metaspy_core::hook::{self, Reify};
use metaspy_core::{Site, Subject};

use super::sites::LeasedSites;
use crate::channels::kind::KindOf;

type Condition<M> = Box<dyn Fn(&M) -> bool + Send>;
type SubjectOf<M> = Box<dyn Fn(&M) -> Subject + Send>;
type Handler<M> = Box<dyn Fn(&M) + Send>;
type Show<M> = fn(&M, &mut Reify<'_>);

/// What is asked of each announcement.
pub(super) struct Emitter<M, K> {
    pub kind: K,
    pub when: Option<Condition<M>>,
    pub subject: Option<SubjectOf<M>>,
    /// What is done about each announcement that is asked for.
    pub each: Vec<Handler<M>>,
    /// How a message is shown, where its kind does not know.
    pub show: Option<Show<M>>,
}

impl<M, K: KindOf<M>> Emitter<M, K> {
    /// Records an announcement, if it is one of those that are asked for. Whatever the questions do is at meta level,
    /// and one that panics is counted: the announcement is recorded all the same.
    ///
    /// Once it is given up nothing is recorded, and no handler starts.
    pub fn emit(&self, message: &M, sites: &LeasedSites, bus: Subject, is_given_up: impl Fn() -> bool) {
        if let Some(when) = &self.when
            && hook::at_meta_level(|| when(message)) == Some(false)
        {
            return;
        }
        let site = hook::at_meta_level(|| self.kind.with_kind(message, |kind| sites.of_kind(kind)));
        let site: &'static Site = site.unwrap_or_else(|| sites.of_kind("unknown"));
        let subject = self.subject.as_ref().map_or(bus, |subject| hook::subject(|| subject(message)));
        if site.is_armed() && !is_given_up() {
            let show = |reify: &mut Reify<'_>| self.show(message, reify);
            hook::instant_with(site, subject, None, show);
        }
        for handler in &self.each {
            if !is_given_up() {
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
