//! `--expect`: a condition for every event of a kind, and the events that miss it.
//!
//! `site:layout => cause:change`: nothing is laid out without a change among its reasons: its cause, its
//! links, and their reasons.

use std::fmt;
use std::str::FromStr;

use metaspy_core::store::{By, DetailLevel, Filter, Scope};
use metaspy_core::{Event, Store};
use serde::Serialize;

use crate::text::{counted, grouped};

/// Offenders that are named.
const NAMED: usize = 20;

/// An expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    text: String,
    /// The events that are checked.
    pub every: Filter,
    /// The condition.
    pub holds: Filter,
}

impl FromStr for Expectation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &dyn fmt::Display| {
            format!("`{text}` is not an expectation: {what}; write 'site:layout => cause:change': FILTER => FILTER")
        };
        let (every, holds) = text.split_once("=>").ok_or_else(|| wrong(&"the `=>` is missing"))?;
        let filter = |text: &str| text.trim().parse::<Filter>().map_err(|error| wrong(&error));
        let holds = filter(holds).and_then(|holds| match holds.is_all() {
            true => Err(wrong(&"there is no filter behind the `=>`")),
            false => Ok(holds),
        })?;
        Ok(Expectation { text: text.trim().to_owned(), every: filter(every)?, holds })
    }
}

/// The result of an expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// As it was written.
    expectation: String,
    /// Checked calls: all of them where the tallies decide it, otherwise the events in the window.
    judged: u64,
    /// Calls that miss it.
    missed: u64,
    /// Calls without an event: it is not known if they miss it.
    unknown: u64,
    /// True if every checked call was decided: no chain of reasons was too long or led out of the window.
    exact: bool,
    /// The oldest events that miss it.
    offenders: Vec<Offender>,
}

/// An event that misses an expectation.
#[derive(Clone, Debug, Serialize)]
struct Offender {
    event: String,
    time_ns: u64,
    site: String,
    subject: Option<String>,
    /// The site of its cause.
    cause: Option<String>,
    /// The sites of its further reasons.
    links: Vec<String>,
}

impl Expectation {
    /// Checks the events that also match `within`.
    pub fn judge(&self, store: &Store, within: &Filter) -> Outcome {
        let every = within.clone().and(self.every.clone());
        let found = store.violations(&every, &self.holds, NAMED);
        let offenders = found.events.iter().map(|event| Offender::of(store, event)).collect();
        let expectation = self.text.clone();
        let all = Calls::of(store, every.clone());
        if let Some(missed) = self.missed_by_tally(store, every, all) {
            return Outcome { expectation, judged: all.count, missed, unknown: 0, exact: true, offenders };
        }
        Outcome {
            expectation,
            judged: found.checked,
            missed: found.violated,
            unknown: all.count.saturating_sub(found.checked).saturating_add(all.unknown.unwrap_or(0)),
            exact: found.exact && all.unknown.is_some(),
            offenders,
        }
    }

    /// The calls that miss it, in the window and beyond it. `None` if the tallies do not know that.
    fn missed_by_tally(&self, store: &Store, every: Filter, all: Calls) -> Option<u64> {
        // A live recording has more calls at the second reading, and a level of the second filter selects other calls.
        let is_comparable = all.is_exact() && !store.is_live() && !self.holds.mentions_level();
        let held = Some(every.and(self.holds.clone())).filter(|_| is_comparable).map(|both| Calls::of(store, both))?;
        held.is_exact().then(|| all.count.saturating_sub(held.count))
    }
}

/// The calls that pass a filter.
#[derive(Clone, Copy)]
struct Calls {
    count: u64,
    /// Further calls that may pass it; `None` if their number is not known.
    unknown: Option<u64>,
}

impl Calls {
    fn of(store: &Store, filter: Filter) -> Calls {
        let tally = store.tally(By::Site, &Scope { filter, detail: DetailLevel::Counts, ..Scope::default() });
        Calls { count: tally.rows.iter().map(|row| row.measure.count).sum(), unknown: tally.unknown }
    }

    fn is_exact(self) -> bool {
        self.unknown == Some(0)
    }
}

impl Offender {
    fn of(store: &Store, event: &Event) -> Self {
        let cause = event.cause.and_then(|cause| store.event(cause));
        let links = store.links(event.id).into_iter().filter_map(|link| store.event(link));
        Offender {
            event: event.id.to_string(),
            time_ns: store.time_ns(event.start),
            site: store.site_path(event.site).to_owned(),
            subject: event.subject.map(|subject| store.subject_text(subject)),
            cause: cause.map(|cause| store.site_path(cause.site).to_owned()),
            links: links.map(|link| store.site_path(link.site).to_owned()).collect(),
        }
    }
}

impl Outcome {
    /// True if it holds; `None` if that cannot be decided.
    pub fn holds(&self) -> Option<bool> {
        match (self.missed, self.unknown) {
            // An event that seems to miss it may have a reason that was not reached, and one that seems to match it may
            // have one that excludes it.
            _ if !self.exact => None,
            (0, 0) => Some(true),
            (0, _) => None,
            _ => Some(false),
        }
    }

    /// As it was written.
    pub fn expectation(&self) -> &str {
        &self.expectation
    }

    /// True if there was no event to check.
    pub fn is_empty(&self) -> bool {
        self.judged == 0 && self.unknown == 0
    }

    /// The reason why it cannot be decided.
    pub fn doubt(&self) -> String {
        if !self.exact {
            return format!(
                "--expect '{}' cannot be decided: chains of reasons are too long or lead out of the window, or a part of \
                 the recording is missing; record with a larger METASPY_BUDGET, or for a shorter time",
                self.expectation
            );
        }
        let calls = counted(self.unknown, "call");
        format!(
            "--expect '{}' cannot be decided: {calls} left the window, and only their number is known; record with a \
             larger METASPY_BUDGET, or for a shorter time",
            self.expectation
        )
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.missed {
            0 if self.is_empty() => "NOTHING CHECKED",
            0 => "expected",
            _ => "MISSED",
        };
        let least = match (self.exact, self.unknown) {
            (false, _) => "~ ",
            (true, 1..) => "≥ ",
            (true, 0) => "",
        };
        let (missed, judged) = (grouped(self.missed), grouped(self.judged));
        write!(f, "{word}: {}   missed by {least}{missed} of {judged}", self.expectation)?;
        if self.unknown > 0 {
            write!(f, "; {} more left the window, and only their number is known", counted(self.unknown, "call"))?;
        }
        for offender in &self.offenders {
            let about = offender.subject.as_ref().map_or(String::new(), |subject| format!("  {subject}"));
            let cause = offender.cause.as_ref().map_or("no cause".to_owned(), |cause| format!("caused by {cause}"));
            write!(f, "\n  {}  {}{about}  {cause}", offender.event, offender.site)?;
            if !offender.links.is_empty() {
                write!(f, ", linked to {}", offender.links.join(", "))?;
            }
        }
        match self.missed - self.offenders.len() as u64 {
            0 => Ok(()),
            more => write!(f, "\n  … and {} more", grouped(more)),
        }
    }
}
