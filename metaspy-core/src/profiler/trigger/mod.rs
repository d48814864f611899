//! Triggers: patterns over the events of all threads, and an action for each match.
//!
//! The collector finds matches at most a tenth of a second after their events have ended. Each
//! match marks the recording: an instant at the site `trigger::NAME`, with the subject of the
//! pattern's last event, that event as its cause, and links to the others. Triggers ignore these
//! marks.
//!
//! ```
//! use std::time::Duration;
//! use metaspy_core::{Profiler, Trigger};
//!
//! let profiler = Profiler::new("cache")
//!     // The same entry fails three times within a second.
//!     .trigger(Trigger::count(3, "outcome:failed").per_subject().within(Duration::from_secs(1)).named("flaky"))
//!     // It is opened and closed without a write.
//!     .trigger(Trigger::sequence(["site:open", "site:close"]).per_subject().unless("site:write").named("useless"))
//!     // Nothing is laid out without a change above it.
//!     .trigger(Trigger::expect("site:layout", "cause:change").named("needless").then(|hit| println!("{hit}")))
//!     .install()?;
//! # drop(profiler);
//! # Ok::<(), metaspy_core::InstallError>(())
//! ```

mod pattern;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use crate::causality::{because, link};
use crate::event::{Event, Outcome};
use crate::hook::{self, Level};
use crate::instrumenter::Session;
use crate::profiler::InstallError;
use crate::site::{Site, SiteDef, SiteKind, register_dynamic};
use crate::store::{Filter, Scope, Store};
use crate::subject::Subject;
use crate::subscription::Subscription;
use pattern::{Moment, Pattern, Patterns};

/// Maximum number of links of a mark, beside its cause.
const LINKS: usize = 16;

/// The action for a match.
type Then = Box<dyn FnMut(&Hit<'_>) + Send>;

/// A pattern and its action.
#[must_use = "a trigger does nothing until a profiler has it"]
pub struct Trigger {
    name: String,
    filters: Vec<String>,
    pattern: Pattern,
    then: Option<Then>,
}

/// A match of a pattern.
#[derive(Debug)]
pub struct Hit<'a> {
    /// The trigger's name.
    pub trigger: &'a str,
    /// The events in the order of the pattern; for a count, at most the last 1,000.
    pub events: &'a [Event],
    /// The recording, for more about them.
    pub store: &'a Store,
}

impl Trigger {
    /// Matches after `count` events that pass a filter. The count starts again after each match.
    pub fn count(times: u64, filter: impl Into<String>) -> Self {
        Self::new(Pattern::count(times), vec![filter.into()])
    }

    /// Matches events that pass these filters in order, at most 32. Other events may come between.
    pub fn sequence<F: Into<String>>(filters: impl IntoIterator<Item = F>) -> Self {
        let filters: Vec<String> = filters.into_iter().map(Into::into).collect();
        Self::new(Pattern::sequence(filters.len()), filters)
    }

    /// Matches a violated expectation: an event that passes the filter `every` and not the filter
    /// `holds`.
    pub fn expect(every: impl Into<String>, holds: impl Into<String>) -> Self {
        Self::new(Pattern::expect(), vec![every.into(), holds.into()])
    }

    fn new(pattern: Pattern, filters: Vec<String>) -> Self {
        Trigger { name: filters.join(" then "), filters, pattern, then: None }
    }

    /// Sets its name. By default it is the text of the filters.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Limits the time between the ends of the first and the last event.
    pub fn within(mut self, time: Duration) -> Self {
        self.pattern.within = Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self
    }

    /// Requires all events of a match to have the same subject. At most 65,536 subjects are tracked
    /// at once; further ones have no matches.
    pub fn per_subject(mut self) -> Self {
        self.pattern.per_subject = true;
        self
    }

    /// Restarts the pattern at an event that passes this filter.
    pub fn unless(mut self, filter: impl Into<String>) -> Self {
        self.pattern.unless = Some(self.filters.len());
        self.filters.push(filter.into());
        self
    }

    /// Sets the action for each match. It runs on metaspy's thread. Its own calls are not observed,
    /// and a panic in it is caught.
    pub fn then(mut self, then: impl FnMut(&Hit<'_>) + Send + 'static) -> Self {
        self.then = Some(Box::new(then));
        self
    }

    pub(crate) fn install(
        self,
        session: &mut Session,
        scope: Scope,
    ) -> Result<Subscription, InstallError> {
        let Trigger { name, filters, pattern, mut then } = self;
        let parsed: Result<Vec<Filter>, _> = filters.iter().map(|filter| filter.parse()).collect();
        let filters = parsed.map_err(|error| InstallError::Other(Box::new(error)))?;
        if filters.is_empty() || filters.len() > 33 {
            return Err(InstallError::Other("a sequence needs 1 to 32 filters".into()));
        }
        if pattern.is_too_long() {
            return Err(InstallError::Other(
                "a count with a time limit is at most 65,536; use a smaller count".into(),
            ));
        }
        let site = site(&name);
        session.arm(site, crate::arm::Arming::all(crate::arm::Mode::Full))?;
        let mut patterns = Patterns::new(pattern);
        let see = move |store: &Store, event: &Event, passed: u64| {
            if store.site(event.site).is_some_and(|site| site.path.starts_with(MARKS)) {
                return;
            }
            let end_ns = store.time_ns(event.start.saturating_add(event.span.unwrap_or(0)));
            if let Some(events) = patterns.meet(Moment { event, end_ns, passed }) {
                mark(site, &events);
                if let Some(then) = &mut then {
                    hook::at_meta_level(|| then(&Hit { trigger: &name, events: &events, store }));
                }
            }
        };
        Ok(Subscription::begin(scope, filters, see))
    }
}

/// The module of the sites of marks.
const MARKS: &str = "trigger::";

fn site(name: &str) -> &'static Site {
    // A site lives as long as the process, and so does the trigger's name. A program has few
    // triggers.
    let def = SiteDef {
        kind: SiteKind::Change,
        module: "trigger",
        name: name.to_owned().leak(),
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    };
    register_dynamic(def)
}

/// Marks the recording. A mark describes the program, so it is not at meta level.
fn mark(site: &'static Site, events: &[Event]) {
    let Some(last) = events.last() else { return };
    let _level = Level::raise(0);
    let _because = because(last.id);
    let call = hook::enter(site, last.subject.unwrap_or(Subject::NONE));
    if let Some(mark) = call.event() {
        for event in events[..events.len() - 1].iter().rev().take(LINKS) {
            // A link without room is counted.
            let _ = link(mark, event.id);
        }
    }
    call.done(Outcome::Instant);
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trigger")
            .field("name", &self.name)
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}

/// The trigger, with the ids of the events.
impl fmt::Display for Hit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.trigger)?;
        for event in self.events {
            write!(f, " {} {}", event.id, self.store.site_path(event.site))?;
            if let Some(subject) = event.subject {
                write!(f, " {}", self.store.subject_text(subject))?;
            }
        }
        Ok(())
    }
}
