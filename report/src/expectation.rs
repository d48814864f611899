//! `--expect`: a condition for every event of a kind, and the events that miss it.
//!
//! `site:layout => cause:change`: nothing is laid out without a change among its reasons: its
//! cause, its links, and their reasons.

use std::fmt;
use std::str::FromStr;

use metaspy_reader::{By, CallBounds, DetailLevel, Event, Filter, Gaps, Scope, Store};
use serde::Serialize;

use crate::condition;
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
            format!(
                "`{text}` is not an expectation: {what}; write 'site:layout => cause:change': FILTER => FILTER"
            )
        };
        let (every, holds) = text.split_once("=>").ok_or_else(|| wrong(&"the `=>` is missing"))?;
        let filter = |text: &str| text.trim().parse::<Filter>().map_err(|error| wrong(&error));
        let holds = filter(holds).and_then(|holds| {
            if holds.is_all() {
                Err(wrong(&"there is no filter behind the `=>`"))
            } else {
                Ok(holds)
            }
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
    pub judged: u64,
    /// Calls that miss it. A lower bound if further calls are unknown.
    pub missed: u64,
    /// Calls of which it is not known if they miss it: they have no event, or no length.
    pub unknown: u64,
    /// True if every checked call was decided: no chain of reasons was too long or led out of the
    /// window.
    pub exact: bool,
    /// True if a call misses it; `None` if that cannot be decided.
    pub failed: Option<bool>,
    /// What is missing, and what to do, if a call is not decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// The oldest events that miss it.
    pub offenders: Vec<Offender>,
}

/// An event that misses an expectation.
#[derive(Clone, Debug, Serialize)]
pub struct Offender {
    /// Its id.
    pub event: String,
    /// Its start, since the beginning of the recording.
    pub time_ns: u64,
    /// The path of its site.
    pub site: String,
    /// The label of its subject.
    pub subject: Option<String>,
    /// The site of its cause.
    pub cause: Option<String>,
    /// The sites of its further reasons.
    pub links: Vec<String>,
}

impl Expectation {
    /// Checks the calls that also match `within`: all of them as far as the tallies know them, and
    /// the events in the window.
    pub fn judge(&self, store: &Store, within: &Filter) -> Outcome {
        let every = within.clone().and(self.every.clone());
        let found = store.violations(&every, &self.holds, NAMED);
        let all = bounds(store, &every);
        // A live recording has more calls at the second reading, and a level of the second filter
        // selects other calls.
        let is_comparable = !store.is_live() && !self.holds.mentions_level();
        let held = is_comparable.then(|| bounds(store, &every.clone().and(self.holds.clone())));
        let mut least = 0;
        let mut most = None;
        let mut is_certain = found.exact && all.gaps.decide_events();
        if let Some(held) = &held {
            least = held.most.map_or(0, |most| all.least.saturating_sub(most));
            most = all.most.map(|most| most.saturating_sub(held.least));
            is_certain &= held.gaps.decide_events();
        } else if is_certain {
            most = all.most.map(|most| most.saturating_sub(found.checked - found.violated));
        }
        if is_certain {
            least = least.max(found.violated);
        }
        let is_known = most == Some(least);
        let gaps = if is_known { &Gaps::default() } else { &held.as_ref().unwrap_or(&all).gaps };
        Outcome {
            expectation: self.text.clone(),
            judged: if is_known { all.least } else { found.checked },
            missed: if is_certain || least > 0 { least } else { found.violated },
            unknown: most.map_or(0, |most| most.saturating_sub(least)),
            exact: most.is_some(),
            failed: if least > 0 { Some(true) } else { Some(false).filter(|_| most == Some(0)) },
            gaps: condition::sentences(gaps, store, &every.and(self.holds.clone())),
            // An event without a length only seems to miss one.
            offenders: found
                .events
                .iter()
                .filter(|event| gaps.untimed == 0 || event.span.is_some())
                .map(|event| Offender::of(store, event))
                .collect(),
        }
    }
}

/// The number of calls that pass a filter.
fn bounds(store: &Store, filter: &Filter) -> CallBounds {
    let scope = Scope { detail: DetailLevel::Counts, ..Scope::matching(filter.clone()) };
    store.call_bounds(filter, &store.tally(By::Site, &scope))
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
    /// True if a call misses it; `None` if that cannot be decided.
    pub fn is_failure(&self) -> Option<bool> {
        self.failed
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
        let gaps = match self.gaps.as_slice() {
            [] => "chains of reasons are too long or lead out of the window, or a part of the recording is missing; record \
                   with a larger METASPY_BUDGET, or for a shorter time"
                .to_owned(),
            gaps => gaps.join("; "),
        };
        format!("--expect '{}' cannot be decided: {gaps}", self.expectation)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.failed {
            _ if self.is_empty() => "NOTHING CHECKED",
            Some(false) => "expected",
            Some(true) => "MISSED",
            None => "UNDECIDED",
        };
        let least = match (self.failed, self.exact, self.unknown) {
            (None, ..) if self.missed > 0 => "~ ",
            (_, true, 0) => "",
            _ => "≥ ",
        };
        let missed = grouped(self.missed);
        let judged = grouped(self.judged);
        write!(f, "{word}: {}   missed by {least}{missed} of {judged}", self.expectation)?;
        if self.unknown > 0 {
            write!(f, "; of {} more it is not known", counted(self.unknown, "call"))?;
        }
        for offender in &self.offenders {
            let about =
                offender.subject.as_ref().map_or(String::new(), |subject| format!("  {subject}"));
            let cause = offender
                .cause
                .as_ref()
                .map_or("no cause".to_owned(), |cause| format!("caused by {cause}"));
            write!(f, "\n  {}  {}{about}  {cause}", offender.event, offender.site)?;
            if !offender.links.is_empty() {
                write!(f, ", linked to {}", offender.links.join(", "))?;
            }
        }
        match self.missed.saturating_sub(self.offenders.len() as u64) {
            0 => Ok(()),
            more => write!(f, "\n  … and {} more", grouped(more)),
        }
    }
}
