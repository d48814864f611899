//! The filter language: one line of text, the same in the crawler, the command and the API.
//!
//! `site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*` — every term must hold, `-term` must not, bare
//! words are looked for in paths and labels. Here a filter is only taken apart ([`parse`]); `matcher.rs` holds it against
//! a recording.

mod error;
#[doc(hidden)]
pub mod matcher;
mod parse;
pub mod selector;
pub(crate) mod violations;

pub use error::FilterError;

use std::fmt;

use crate::Store;
use crate::event::Event;
use crate::filter::selector::Selector;
use crate::names::RecordedKind;
use crate::scan::blocks::{Head, Slot};
use metaspy_format::slot::{self, Flags};
use metaspy_probe::Subject;

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub(crate) text: String,
    pub(crate) terms: Vec<Term>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// It must not hold.
    pub negated: bool,
    pub what: Wanted,
}

/// What a condition is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wanted {
    Site(Selector),
    Cause(Selector),
    Subject(SubjectWanted),
    /// The name of the subject's kind, or the end of its path.
    Kind(String),
    /// ns.
    Took(Compare, u64),
    /// One bit for each outcome.
    Outcome(u8),
    /// The lane's number or its thread's name.
    Lane(String),
    Level(Compare, u64),
    Epoch(Compare, u64),
    /// In lower case.
    Text(String),
}

/// How a subject is named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SubjectWanted {
    /// `#412`: by key, whatever its kind.
    Key(u64),
    /// `@7f3a`: by address.
    Address(u64),
    /// `NodeId:412`: by the kind's name, or its number in the recording, and key.
    KindKey(String, u64),
    Exactly(Subject),
    /// By a part of its label, in lower case.
    Label(String),
}

/// A comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Compare {
    /// Whether it holds between `a` and `b`.
    #[inline]
    pub fn holds(self, a: u64, b: u64) -> bool {
        match self {
            Compare::Less => a < b,
            Compare::AtMost => a <= b,
            Compare::Equal => a == b,
            Compare::AtLeast => a >= b,
            Compare::More => a > b,
        }
    }
}

impl Filter {
    /// Every event of the application. What metaspy's own code and handlers caused takes `level:>=0`.
    pub fn all() -> Self {
        Self::default()
    }

    /// Whether it says anything about the meta level.
    pub(crate) fn mentions_level(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.what, Wanted::Level(..)))
    }

    /// Whether it asks for nothing in particular.
    pub fn is_all(&self) -> bool {
        self.terms.is_empty()
    }

    /// The line it was made of.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Events about this subject, exactly: subjects of kinds with equal names are not mixed up.
    pub fn subject(subject: Subject) -> Self {
        let Subject { kind, key } = subject;
        let what = Wanted::Subject(SubjectWanted::Exactly(subject));
        Filter { text: format!("subject:{}:#{key}", kind.0), terms: vec![Term { negated: false, what }] }
    }

    /// What passes both.
    pub fn and(mut self, other: Filter) -> Self {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&other.text);
        self.terms.extend(other.terms);
        self
    }

    /// Whether an event passes: for a few events, not for scans.
    pub fn matches(&self, store: &Store, event: &Event) -> bool {
        let matcher = store.compile(self, 0..=0);
        let (head, slot) = taken_apart(event);
        matcher.matches(store.ring(), &head, &slot, &mut matcher.memory())
    }

    /// An error with the nearest names if one of its selectors matches no site of the recording, or one of its kinds is
    /// not among those that the recording knows.
    pub fn check(&self, store: &Store) -> Result<(), FilterError> {
        self.terms.iter().try_for_each(|term| match &term.what {
            Wanted::Site(selector) | Wanted::Cause(selector) => known_site(store, selector),
            Wanted::Kind(kind) | Wanted::Subject(SubjectWanted::KindKey(kind, _)) => known_kind(store, kind),
            _ => Ok(()),
        })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn known_site(store: &Store, selector: &Selector) -> Result<(), FilterError> {
    let paths = || store.sites().iter().map(|site| site.path.as_str());
    if paths().any(|path| selector.matches(path)) {
        return Ok(());
    }
    Err(FilterError::NoSuchSite { selector: selector.to_string(), nearest: selector.nearest(paths()) })
}

fn known_kind(store: &Store, name: &str) -> Result<(), FilterError> {
    if store.kinds().any(|kind| kind.is_named(name)) {
        return Ok(());
    }
    let selector = name.parse::<Selector>();
    let mut nearest = selector.map_or(Vec::new(), |name| name.nearest(store.kinds().map(RecordedKind::short_name)));
    if nearest.is_empty() {
        nearest = store.kinds().map(|kind| kind.short_name().to_owned()).collect();
        nearest.sort();
        nearest.dedup();
        nearest.truncate(3);
    }
    Err(FilterError::NoSuchKind { kind: name.to_owned(), nearest })
}

/// An event as it stands in its block.
fn taken_apart(event: &Event) -> (Head, Slot) {
    let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
    let Event { outcome, level, timed, details, .. } = *event;
    let flags = Flags { kind: kind.0, outcome, level, timed, details }.pack();
    let sequence = event.id.sequence();
    let end = match event.is_running() {
        true => slot::running(sequence, flags),
        false => slot::ended(event.span.unwrap_or(0), flags),
    };
    let head = Head { sequence, lane: event.lane.0, epoch: event.epoch, base: event.start, ..Head::default() };
    let cause = event.cause.map_or(0, |cause| cause.raw());
    (head, Slot { slot: event.id.slot(), start: 0, site: event.site.0, cause, key, end })
}
