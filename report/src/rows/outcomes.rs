//! [`KnownOutcomes`]: whether a zero is a number, or only unseen by the hooks.

use metaspy_probe::SiteId;
use metaspy_reader::{Measure, RecordedSite, Store};

/// The ends of calls that the hooks of a recording see. Hooks that only count see no end, and
/// others see an end, but not the return value.
pub struct KnownOutcomes<'s> {
    store: &'s Store,
    /// True if the hooks of all sites see how calls end.
    all_know_outcomes: bool,
    /// True if the hooks of all sites see whether calls failed.
    all_see_failures: bool,
}

/// Numbers of calls by outcome; `None` where it is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// Calls that returned `Err` or `None`.
    pub failed: Option<u64>,
    /// Calls that ended in a panic.
    pub panicked: Option<u64>,
    /// Async calls that were dropped before their end.
    pub cancelled: Option<u64>,
    /// Calls that have not ended.
    pub running: Option<u64>,
}

impl<'s> KnownOutcomes<'s> {
    /// Reads which ends of calls the hooks of a recording see.
    pub fn of(store: &'s Store) -> KnownOutcomes<'s> {
        KnownOutcomes {
            store,
            all_know_outcomes: store.sites().iter().all(RecordedSite::knows_outcomes),
            all_see_failures: store.sites().iter().all(RecordedSite::sees_failures),
        }
    }

    /// The outcomes of calls at a site. Without one they may be calls at any site. Failures that
    /// were seen are a number, whatever else was not seen.
    pub fn of_calls(&self, site: Option<SiteId>, measure: &Measure) -> Outcomes {
        let site = site.and_then(|id| self.store.site(id));
        let knows_outcomes = site.map_or(self.all_know_outcomes, RecordedSite::knows_outcomes);
        let sees_failures =
            measure.failed > 0 || site.map_or(self.all_see_failures, RecordedSite::sees_failures);
        let known = |calls: u64| knows_outcomes.then_some(calls);
        Outcomes {
            failed: known(measure.failed).filter(|_| sees_failures),
            panicked: known(measure.panicked),
            cancelled: known(measure.cancelled),
            running: known(measure.running),
        }
    }
}
