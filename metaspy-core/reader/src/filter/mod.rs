//! Filter language: a line of text, the same in the crawler, the command and the API.
//!
//! `site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*`: every term must hold, and
//! `-term` must not. Bare words are searched in paths and labels. [`parse`] turns the line into
//! conditions, which [`matcher`] compiles for one recording.

mod error;
#[doc(hidden)]
pub mod matcher;
mod parse;
pub mod selector;
mod words;

pub use error::FilterError;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::Store;
use crate::event::Event;
use crate::filter::matcher::{Matcher, Memory};
use crate::filter::selector::Selector;
use crate::names::RecordedKind;
use crate::ring::blocks::{Head, Slot};
use metaspy_format::slot::{self, Flags};
use metaspy_probe::Subject;

/// Filter of events.
///
/// ```
/// use metaspy_reader::{Filter, FilterError};
///
/// let slow: Filter = "site:Scene::measure took:>1ms -outcome:panicked".parse()?;
/// let of_main = slow.and("lane:main".parse()?);
/// assert_eq!(of_main.text(), "site:Scene::measure took:>1ms -outcome:panicked lane:main");
/// // An error states what to write.
/// let error = "took:fast".parse::<Filter>().unwrap_err();
/// assert!(error.to_string().contains("took:>1ms"));
/// # Ok::<(), FilterError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub(crate) text: String,
    pub(crate) terms: Vec<Term>,
}

/// Term of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// True if the condition must not hold.
    pub negated: bool,
    pub condition: Condition,
}

/// Condition of a term.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Condition {
    Site(Selector),
    /// Site of a reason at any distance.
    Cause(Selector),
    /// Site or subject of the direct cause.
    DirectCause(Box<Condition>),
    Subject(SubjectCondition),
    /// Name of the kind, or the end of its path.
    Kind(String),
    /// Duration in nanoseconds.
    Took(Compare, u64),
    /// Outcomes, one bit each.
    Outcome(u8),
    /// Number of the lane, or the name of its thread.
    Lane(String),
    /// Numbers of lanes. No text stands for it.
    Lanes(Vec<Range<u32>>),
    Level(Compare, u64),
    Epoch(Compare, u64),
    /// Whether the event left the window and is kept.
    Kept(bool),
    /// Text to search for, in lower case.
    Text(String),
}

impl Condition {
    /// Returns true if only events decide the condition, because rows of tallies have no single
    /// lengths and no causes.
    fn is_of_event(&self) -> bool {
        matches!(self, Condition::Took(..) | Condition::Cause(_) | Condition::DirectCause(_))
    }

    /// Returns true if the condition is about a name or a label.
    fn is_of_name(&self) -> bool {
        let is_of_label = |condition: &SubjectCondition| {
            matches!(condition, SubjectCondition::KindKey(..) | SubjectCondition::Label(_))
        };
        match self {
            Condition::Subject(condition) => is_of_label(condition),
            Condition::DirectCause(condition) => condition.is_of_name(),
            Condition::Site(_) | Condition::Cause(_) | Condition::Kind(_) | Condition::Text(_) => {
                true
            }
            _ => false,
        }
    }
}

/// Ways to select a subject.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SubjectCondition {
    /// Key of a subject of any kind: `#412`.
    Key(u64),
    /// Address: `@7f3a`.
    Address(u64),
    /// Name or number of the kind, and key: `NodeId:412`.
    KindKey(String, u64),
    Exactly(Subject),
    /// Part of the label, in lower case.
    Label(String),
}

/// Comparison of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

impl Compare {
    /// Returns the result of the comparison of `a` with `b`.
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

    /// Returns the least and the largest number for which the comparison with `b` holds. If there
    /// is none, the least is larger.
    pub fn range(self, b: u64) -> (u64, u64) {
        match self {
            Compare::Less => b.checked_sub(1).map_or((1, 0), |most| (0, most)),
            Compare::AtMost => (0, b),
            Compare::Equal => (b, b),
            Compare::AtLeast => (b, u64::MAX),
            Compare::More => b.checked_add(1).map_or((1, 0), |least| (least, u64::MAX)),
        }
    }
}

impl Filter {
    /// Creates a filter of every event of the application. The term `level:>=0` adds metaspy's own
    /// code and handlers.
    pub fn all() -> Self {
        Self::default()
    }

    /// Returns true if the filter has a `level:` term.
    pub fn mentions_level(&self) -> bool {
        self.terms.iter().any(|term| matches!(term.condition, Condition::Level(..)))
    }

    /// Returns true if the filter has no term.
    pub fn is_all(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the filter without its `took:` terms; `None` if it has none.
    pub(crate) fn without_lengths(&self) -> Option<Filter> {
        self.without(|condition| matches!(condition, Condition::Took(..)))
    }

    /// Returns the filter without conditions on lengths and causes, which only events decide;
    /// `None` if it has none.
    pub(crate) fn without_event_conditions(&self) -> Option<Filter> {
        self.without(Condition::is_of_event)
    }

    /// Returns the filter without conditions on outcomes; `None` if it has none.
    pub(crate) fn without_outcomes(&self) -> Option<Filter> {
        self.without(|condition| matches!(condition, Condition::Outcome(_)))
    }

    /// Returns true if a length or a cause excludes calls.
    pub(crate) fn excludes_by_event(&self) -> bool {
        self.terms.iter().any(|term| term.negated && term.condition.is_of_event())
    }

    /// Returns true if a condition is about causes.
    pub(crate) fn asks_for_causes(&self) -> bool {
        self.terms
            .iter()
            .any(|term| matches!(term.condition, Condition::Cause(_) | Condition::DirectCause(_)))
    }

    /// Returns true if a condition is about names or labels.
    pub(crate) fn asks_for_names(&self) -> bool {
        self.terms.iter().any(|term| term.condition.is_of_name())
    }

    /// Returns true if a name or a label excludes calls.
    pub(crate) fn excludes_by_name(&self) -> bool {
        self.terms.iter().any(|term| term.negated && term.condition.is_of_name())
    }

    fn without(&self, is_left_out: impl Fn(&Condition) -> bool) -> Option<Filter> {
        let terms: Vec<Term> =
            self.terms.iter().filter(|term| !is_left_out(&term.condition)).cloned().collect();
        (terms.len() < self.terms.len()).then(|| Filter { text: self.text.clone(), terms })
    }

    /// Returns true if the filter selects only by site, so that it passes all calls of a method or
    /// none.
    pub fn is_of_sites(&self) -> bool {
        self.terms.iter().all(|term| matches!(term.condition, Condition::Site(_)))
    }

    /// Returns the text of the filter.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Creates a filter of the events of exactly this subject. Kinds with equal names are
    /// distinguished.
    pub fn subject(subject: Subject) -> Self {
        let Subject { kind, key } = subject;
        let condition = Condition::Subject(SubjectCondition::Exactly(subject));
        Filter {
            text: format!("subject:{}:#{key}", kind.0),
            terms: vec![Term { negated: false, condition }],
        }
    }

    /// Creates a filter of the events in these lanes.
    pub(crate) fn of_lanes(lanes: Vec<Range<u32>>) -> Self {
        Filter {
            text: String::new(),
            terms: vec![Term { negated: false, condition: Condition::Lanes(lanes) }],
        }
    }

    /// Combines two filters: an event must pass both.
    pub fn and(mut self, other: Filter) -> Self {
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&other.text);
        self.terms.extend(other.terms);
        self
    }

    /// Tests a single event. For several events, use [`Filter::tester`], which remembers the
    /// reasons of earlier events.
    pub fn matches(&self, store: &Store, event: &Event) -> bool {
        self.tester(store).matches(event)
    }

    /// Prepares the filter to test several events.
    pub fn tester<'s>(&self, store: &'s Store) -> FilterTester<'s> {
        let matcher = store.compile(self, 0..=0);
        let memory = matcher.memory(store);
        FilterTester { store, matcher, memory }
    }

    /// Checks the filter against a recording. The error has the most similar names if a selector
    /// matches no site, or if the recording lacks a kind.
    pub fn check(&self, store: &Store) -> Result<(), FilterError> {
        self.terms.iter().try_for_each(|term| term.condition.check(store))
    }
}

impl Condition {
    fn check(&self, store: &Store) -> Result<(), FilterError> {
        match self {
            Condition::Site(selector) | Condition::Cause(selector) => known_site(store, selector),
            Condition::Kind(kind) | Condition::Subject(SubjectCondition::KindKey(kind, _)) => {
                known_kind(store, kind)
            }
            Condition::DirectCause(condition) => condition.check(store),
            _ => Ok(()),
        }
    }
}

/// Filter that tests a sequence of events; see [`Filter::tester`].
pub struct FilterTester<'s> {
    store: &'s Store,
    matcher: Arc<Matcher>,
    memory: Memory,
}

impl FilterTester<'_> {
    /// Returns true if the event passes.
    pub fn matches(&mut self, event: &Event) -> bool {
        let (mut head, slot) = taken_apart(event);
        if self.matcher.asks_for_kept() {
            head.is_kept = self.store.is_kept(event.id);
        }
        self.matcher.matches(self.store.ring(), &head, &slot, &mut self.memory)
    }
}

impl fmt::Debug for FilterTester<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterTester").finish_non_exhaustive()
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
    Err(FilterError::NoSuchSite {
        selector: selector.to_string(),
        nearest: selector.nearest(paths()),
    })
}

fn known_kind(store: &Store, name: &str) -> Result<(), FilterError> {
    if store.kinds().any(|kind| kind.is_named(name)) {
        return Ok(());
    }
    let selector = name.parse::<Selector>();
    let mut nearest = selector
        .map_or(Vec::new(), |name| name.nearest(store.kinds().map(RecordedKind::short_name)));
    if nearest.is_empty() {
        nearest = store.kinds().map(|kind| kind.short_name().to_owned()).collect();
        nearest.sort();
        nearest.dedup();
        nearest.truncate(3);
    }
    Err(FilterError::NoSuchKind { kind: name.to_owned(), nearest })
}

/// Converts an event to the header and the slot of a block.
fn taken_apart(event: &Event) -> (Head, Slot) {
    let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
    let Event { outcome, level, timed, details, .. } = *event;
    let flags = Flags { kind: kind.0, outcome, level, timed, details }.pack();
    let sequence = event.id.sequence();
    let end = if event.is_running() {
        slot::running(sequence, flags)
    } else {
        slot::ended(event.span.unwrap_or(0), flags)
    };
    let head = Head {
        sequence,
        lane: event.lane.0,
        epoch: event.epoch,
        base: event.start,
        ..Head::default()
    };
    let cause = event.cause.map_or(0, |cause| cause.raw());
    (head, Slot { slot: event.id.slot(), start: 0, site: event.site.0, cause, key, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_the_numbers_for_which_the_comparison_holds() {
        let numbers = [0, 1, 2, 7, u64::MAX - 1, u64::MAX];
        for compare in
            [Compare::Less, Compare::AtMost, Compare::Equal, Compare::AtLeast, Compare::More]
        {
            for (a, b) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
                let (least, most) = compare.range(b);
                assert_eq!((least..=most).contains(&a), compare.holds(a, b), "{a} {compare:?} {b}");
            }
        }
    }
}
