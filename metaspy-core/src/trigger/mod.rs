//! Triggers: patterns over the events of all threads, and what is done when one is met.
//!
//! The collector looks for them, at most a tenth of a second after the events ended. Each time, the trigger marks the
//! recording: an instant at the site `trigger::NAME`, about the subject of the last event of the pattern and caused by
//! it, with links to the others. Marks are not looked at by triggers.
//!
//! ```
//! use std::time::Duration;
//! use metaspy_core::{Profiler, Trigger};
//!
//! let profiler = Profiler::new("cache")
//!     // The same entry fails three times within a second.
//!     .trigger(Trigger::count(3, "outcome:failed").per_subject().within(Duration::from_secs(1)).named("flaky"))
//!     // It is opened, and then closed before anybody wrote.
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
use crate::instrumenter::{InstallError, Session};
use crate::site::{Site, SiteDef, SiteKind, register_dynamic};
use crate::store::{Filter, Scope, Store};
use crate::subject::Subject;
use crate::watch::Watching;
use pattern::{Moment, Pattern, Patterns};

/// Links of a mark at most, beside its cause.
const LINKS: usize = 16;

/// What is done when a pattern is met.
type Then = Box<dyn FnMut(&Hit<'_>) + Send>;

/// A pattern, and what is done when it is met.
#[must_use = "a trigger does nothing until a profiler has it"]
pub struct Trigger {
    name: String,
    filters: Vec<String>,
    pattern: Pattern,
    then: Option<Then>,
}

/// A pattern was met.
#[derive(Debug)]
pub struct Hit<'a> {
    /// The trigger's name.
    pub trigger: &'a str,
    /// The events, in the order in which they were met; of a count at most the last 1,000.
    pub events: &'a [Event],
    /// Where to read more of them.
    pub store: &'a Store,
}

impl Trigger {
    /// So many events that pass a filter. After it was met the count begins anew.
    pub fn count(times: u64, filter: impl Into<String>) -> Self {
        Self::new(Pattern::count(times), vec![filter.into()])
    }

    /// Events that pass these filters, one after another, at most 32 of them. Others may come between.
    pub fn sequence<F: Into<String>>(filters: impl IntoIterator<Item = F>) -> Self {
        let filters: Vec<String> = filters.into_iter().map(Into::into).collect();
        Self::new(Pattern::sequence(filters.len()), filters)
    }

    /// The negative form, an expectation: an event that passes the filter `every`, and not `holds` as well.
    pub fn expect(every: impl Into<String>, holds: impl Into<String>) -> Self {
        Self::new(Pattern::expect(), vec![every.into(), holds.into()])
    }

    fn new(pattern: Pattern, filters: Vec<String>) -> Self {
        Trigger { name: filters.join(" then "), filters, pattern, then: None }
    }

    /// Its name, instead of the filters.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Only if no more time passes between the ends of the first event and the last.
    pub fn within(mut self, time: Duration) -> Self {
        self.pattern.within = Some(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self
    }

    /// Only events of one subject are a pattern together. Of at most 65,536 subjects at once: beyond that the pattern is
    /// looked for in the others only.
    pub fn per_subject(mut self) -> Self {
        self.pattern.per_subject = true;
        self
    }

    /// An event that passes this filter puts the pattern back to its beginning.
    pub fn unless(mut self, filter: impl Into<String>) -> Self {
        self.pattern.unless = Some(self.filters.len());
        self.filters.push(filter.into());
        self
    }

    /// What is done, each time. It runs on a thread of metaspy's; what it calls is not observed, and a panic in it is
    /// caught.
    pub fn then(mut self, then: impl FnMut(&Hit<'_>) + Send + 'static) -> Self {
        self.then = Some(Box::new(then));
        self
    }

    pub(crate) fn install(self, session: &mut Session, scope: Scope) -> Result<Watching, InstallError> {
        let Trigger { name, filters, pattern, mut then } = self;
        let parsed: Result<Vec<Filter>, _> = filters.iter().map(|filter| filter.parse()).collect();
        let filters = parsed.map_err(|error| InstallError::Other(Box::new(error)))?;
        if filters.is_empty() || filters.len() > 33 {
            return Err(InstallError::Other("a sequence has 1 to 32 steps".into()));
        }
        if pattern.is_too_long() {
            return Err(InstallError::Other("a count within a time goes to 65,536".into()));
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
        Ok(Watching::begin(scope, filters, see))
    }
}

/// The module of the sites of marks, as it begins their paths.
const MARKS: &str = "trigger::";

fn site(name: &str) -> &'static Site {
    // A site lives as long as the process; so does the name of a trigger, of which a program has few.
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

/// Marks the recording. It says something of the program, so it is none of metaspy's own events.
fn mark(site: &'static Site, events: &[Event]) {
    let Some(last) = events.last() else { return };
    let _level = Level::raise(0);
    let _because = because(last.id);
    let call = hook::enter(site, last.subject.unwrap_or(Subject::NONE));
    if let Some(mark) = call.event() {
        for event in events[..events.len() - 1].iter().rev().take(LINKS) {
            // One that finds no room is counted.
            let _ = link(mark, event.id);
        }
    }
    call.done(Outcome::Instant);
}

impl fmt::Debug for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trigger").field("name", &self.name).field("filters", &self.filters).finish_non_exhaustive()
    }
}

/// The trigger, and the events by their places.
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
