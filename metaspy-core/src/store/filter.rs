//! The filter language: one line of text, the same in the crawler, the command and the API.
//!
//! `site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*` — every term must hold, `-term` must not, bare
//! words are looked for in paths and labels. Here a filter is only taken apart; `matcher.rs` holds it against a
//! recording.

use std::fmt;
use std::str::FromStr;

use crate::event::{Event, Outcome};
use crate::format::slot::{self, Flags};
use crate::select::{Selector, SelectorError};
use crate::store::Store;
use crate::store::blocks::{Head, Slot};
use crate::subject::{KindId, Subject};

/// Which events are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    text: String,
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

/// Why a line is no filter; the message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterError {
    /// A term that there is not.
    UnknownTerm(String),
    /// A term without a value.
    NoValue(String),
    /// A quotation mark that is not closed.
    OpenQuote,
    /// No length of time.
    Duration(String),
    /// No number.
    Number(String),
    /// No outcome.
    Outcome(String),
    /// No selector.
    Selector(SelectorError),
    /// A selector that matches no site of the recording.
    NoSuchSite {
        /// The selector.
        selector: String,
        /// What may have been meant.
        nearest: Vec<String>,
    },
}

const TERMS: [&str; 9] = ["site", "subject", "kind", "took", "outcome", "cause", "lane", "level", "epoch"];
const OUTCOMES: [Outcome; 8] = [
    Outcome::Running,
    Outcome::Returned,
    Outcome::Succeeded,
    Outcome::Failed,
    Outcome::Panicked,
    Outcome::Cancelled,
    Outcome::Instant,
    Outcome::Moved,
];

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FilterError::UnknownTerm(term) => {
                let nearest = TERMS.iter().find(|known| known[..2] == term[..term.len().min(2)]);
                write!(f, "there is no `{term}:`")?;
                match nearest {
                    Some(nearest) => write!(f, ": did you mean `{nearest}:`?"),
                    None => write!(f, ": a filter has {}, and bare words", TERMS.map(|t| format!("{t}:")).join(" ")),
                }
            }
            FilterError::NoValue(term) => write!(f, "`{term}:` needs a value behind it, such as {}", example(term)),
            FilterError::OpenQuote => write!(f, "a quotation mark is not closed: add a `\"`"),
            FilterError::Duration(text) => {
                write!(f, "`{text}` is no length of time: write `took:>1ms`, with ns, us, ms or s, and > >= < <= or =")
            }
            FilterError::Number(text) => write!(f, "`{text}` is no number: write `level:0`, `epoch:>=3`"),
            FilterError::Outcome(text) => {
                write!(f, "`{text}` is no outcome: there are {}", OUTCOMES.map(Outcome::name).join(", "))
            }
            FilterError::Selector(error) => error.fmt(f),
            FilterError::NoSuchSite { selector, nearest } if nearest.is_empty() => {
                write!(f, "no site matches `{selector}`: the sites screen lists them all")
            }
            FilterError::NoSuchSite { selector, nearest } => {
                write!(f, "no site matches `{selector}`: did you mean {}?", nearest.join(", "))
            }
        }
    }
}

impl std::error::Error for FilterError {}

fn example(term: &str) -> &'static str {
    match term {
        "site" => "`site:Scene::measure`",
        "subject" => "`subject:#412`, `subject:NodeId:412` or a part of its label",
        "kind" => "`kind:NodeId`",
        "took" => "`took:>1ms`",
        "outcome" => "`outcome:panicked`",
        "cause" => "`cause:bus::*`",
        "lane" => "`lane:main`",
        "level" => "`level:0`",
        _ => "`epoch:3`",
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

    /// An error with the nearest names if one of its selectors matches no site of the recording.
    pub fn check(&self, store: &Store) -> Result<(), FilterError> {
        for term in &self.terms {
            let (Wanted::Site(selector) | Wanted::Cause(selector)) = &term.what else { continue };
            let paths = || store.sites().iter().map(|site| site.path.as_str());
            if !paths().any(|path| selector.matches(path)) {
                let nearest = selector.nearest(paths());
                return Err(FilterError::NoSuchSite { selector: selector.to_string(), nearest });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let terms = words(text)?.into_iter().map(term).collect::<Result<_, _>>()?;
        Ok(Filter { text: text.trim().to_owned(), terms })
    }
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

/// A word of the line; quoted ones are never a term.
struct Word {
    negated: bool,
    term: Option<String>,
    value: String,
}

/// Cuts the line into words at spaces; `"…"` keeps spaces, also behind `term:`.
fn words(text: &str) -> Result<Vec<Word>, FilterError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let negated = rest.len() > 1 && rest.starts_with('-');
        rest = &rest[usize::from(negated)..];
        let mut term = None;
        if let Some((name, behind)) = rest.split_once(':')
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase())
            && !behind.starts_with(':')
        {
            (term, rest) = (Some(name.to_owned()), behind);
        }
        let (value, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or(FilterError::OpenQuote)?,
            None => rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        words.push(Word { negated, term, value: value.to_owned() });
        rest = behind.trim_start();
    }
    Ok(words)
}

fn term(word: Word) -> Result<Term, FilterError> {
    let Word { negated, term, value } = word;
    let Some(term) = term else {
        return Ok(Term { negated, what: Wanted::Text(value.to_lowercase()) });
    };
    if !TERMS.contains(&term.as_str()) {
        return Err(FilterError::UnknownTerm(term));
    }
    if value.is_empty() {
        return Err(FilterError::NoValue(term));
    }
    let selector = || value.parse().map_err(FilterError::Selector);
    let what = match term.as_str() {
        "site" => Wanted::Site(selector()?),
        "cause" => Wanted::Cause(selector()?),
        "subject" => Wanted::Subject(subject(&value)),
        "kind" => Wanted::Kind(value),
        "took" => duration(&value)?,
        "outcome" => Wanted::Outcome(outcomes(&value)?),
        "lane" => Wanted::Lane(value),
        "level" => number(&value).map(|(compare, number)| Wanted::Level(compare, number))?,
        _ => number(&value).map(|(compare, number)| Wanted::Epoch(compare, number))?,
    };
    Ok(Term { negated, what })
}

fn subject(value: &str) -> SubjectWanted {
    if let Some(Ok(key)) = value.strip_prefix('#').map(str::parse) {
        return SubjectWanted::Key(key);
    }
    if let Some(Ok(address)) = value.strip_prefix('@').map(|text| u64::from_str_radix(text, 16)) {
        return SubjectWanted::Address(address);
    }
    if let Some((kind, key)) = value.rsplit_once(':')
        && let Ok(key) = key.trim_start_matches('#').parse()
    {
        if let Ok(kind) = kind.parse() {
            return SubjectWanted::Exactly(Subject::new(KindId(kind), key));
        }
        return SubjectWanted::KindKey(kind.to_owned(), key);
    }
    SubjectWanted::Label(value.to_lowercase())
}

/// The comparison in front of a value; without one, `otherwise`.
fn compare(text: &str, otherwise: Compare) -> (Compare, &str) {
    let signs = [
        (">=", Compare::AtLeast),
        ("<=", Compare::AtMost),
        (">", Compare::More),
        ("<", Compare::Less),
        ("=", Compare::Equal),
    ];
    signs
        .iter()
        .find_map(|(sign, compare)| Some((*compare, text.strip_prefix(sign)?)))
        .unwrap_or((otherwise, text))
}

fn duration(text: &str) -> Result<Wanted, FilterError> {
    let wrong = || FilterError::Duration(text.to_owned());
    let (compare, length) = compare(text, Compare::AtLeast);
    let digits = length.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = length.split_at(digits);
    let unit_ns = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    // A cast of a number that is too large gives the largest.
    Ok(Wanted::Took(compare, (number * unit_ns).round() as u64))
}

fn number(text: &str) -> Result<(Compare, u64), FilterError> {
    let (compare, digits) = compare(text, Compare::Equal);
    let number = digits.parse().map_err(|_| FilterError::Number(text.to_owned()))?;
    Ok((compare, number))
}

fn outcomes(text: &str) -> Result<u8, FilterError> {
    let bit = |name: &str| {
        let outcome = OUTCOMES.iter().find(|outcome| outcome.name() == name);
        outcome.map(|&outcome| 1 << outcome as u8).ok_or_else(|| FilterError::Outcome(name.to_owned()))
    };
    text.split(',').try_fold(0, |bits, name| Ok(bits | bit(name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<Term> {
        text.parse::<Filter>().expect(text).terms
    }

    #[test]
    fn a_line_is_taken_apart_into_terms() {
        let parsed = terms("site:Scene::measure -subject:\"the quick\" took:>1.5ms Scene::x outcome:failed,panicked");
        let selector = "Scene::measure".parse().expect("a selector");
        assert_eq!(parsed[0], Term { negated: false, what: Wanted::Site(selector) });
        let label = SubjectWanted::Label("the quick".into());
        assert_eq!(parsed[1], Term { negated: true, what: Wanted::Subject(label) });
        assert_eq!(parsed[2].what, Wanted::Took(Compare::More, 1_500_000));
        assert_eq!(parsed[3].what, Wanted::Text("scene::x".into()));
        assert_eq!(parsed[4].what, Wanted::Outcome(0b11000));
    }

    #[test]
    fn subjects_are_named_by_key_kind_address_or_label() {
        let subject = |text: &str| match terms(text).remove(0).what {
            Wanted::Subject(subject) => subject,
            other => panic!("{other:?}"),
        };
        assert_eq!(subject("subject:#412"), SubjectWanted::Key(412));
        assert_eq!(subject("subject:@7f"), SubjectWanted::Address(0x7f));
        assert_eq!(subject("subject:my::NodeId:5"), SubjectWanted::KindKey("my::NodeId".into(), 5));
        let exactly = Subject::new(KindId(3), 5);
        assert_eq!(subject(Filter::subject(exactly).text()), SubjectWanted::Exactly(exactly));
        assert_eq!(subject("subject:Header"), SubjectWanted::Label("header".into()));
    }

    #[test]
    fn a_wrong_line_says_what_to_write() {
        for (text, words) in [
            ("sight:x", "did you mean `site:`"),
            ("qq:x", "site: subject:"),
            ("took:", "`took:>1ms`"),
            ("took:>fast", "ns, us, ms or s"),
            ("took:>5", "ns, us, ms or s"),
            ("outcome:bad", "panicked"),
            ("level:x", "level:0"),
            ("\"open", "not closed"),
            ("site:a::", "empty segment"),
        ] {
            let error = text.parse::<Filter>().expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_line_lets_everything_pass() {
        assert!("  ".parse::<Filter>().expect("a filter").is_all());
        assert_eq!(terms("-").len(), 1);
    }
}
