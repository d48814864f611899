//! `--fail-if`: a measure of the events that match a filter, compared with a number.
//!
//! `count(site:measure) > 1000`, `max(site:frame) > 16ms`: MEASURE(FILTER) OPERATOR NUMBER.

use std::fmt;
use std::str::FromStr;

use metaspy_reader::{
    By, CallBounds, Filter, Gaps, Measure, RecordedSite, Scope, SiteGroups, Store, Tally,
};

use crate::text::{counted, grouped, parse_duration_ns, parse_number, time};

/// A measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Calls.
    Count,
    /// Time, including called methods.
    Total,
    /// The longest time.
    Max,
    /// Time, without called methods.
    SelfTime,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `==` or `=`
    Equal,
    /// `!=`
    Unequal,
}

/// A condition under which a report fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    text: String,
    /// The quantity that is measured.
    pub quantity: Quantity,
    /// Selects the events.
    pub filter: Filter,
    /// How it is compared.
    pub operator: Operator,
    /// The number of calls, or of ns, that it is compared with.
    pub limit: u64,
}

const OPERATORS: [(&str, Operator); 7] = [
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    (">", Operator::More),
    ("<", Operator::Less),
    ("=", Operator::Equal),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let help = "write 'count(site:measure) > 1000' or 'max(site:frame) > 16ms'; there are count, total, max and self";
        let wrong = |what: String| format!("`{text}` is not a condition: {what}; {help}");
        let (name, rest) = text
            .split_once('(')
            .ok_or_else(|| wrong("a filter in parentheses is missing".into()))?;
        let (filter, rest) =
            rest.rsplit_once(')').ok_or_else(|| wrong("the `)` is missing".into()))?;
        let quantity = match name.trim() {
            "count" => Quantity::Count,
            "total" => Quantity::Total,
            "max" => Quantity::Max,
            "self" => Quantity::SelfTime,
            other => return Err(wrong(format!("there is no `{other}`"))),
        };
        let rest = rest.trim();
        let found = OPERATORS
            .iter()
            .find_map(|(sign, operator)| Some((operator, rest.strip_prefix(sign)?.trim())));
        let (&operator, number) =
            found.ok_or_else(|| wrong("a comparison is missing: > >= < <= == or !=".into()))?;
        let limit = match quantity {
            Quantity::Count => parse_number(number),
            _ => parse_duration_ns(number),
        };
        let filter = filter.parse().map_err(|error| wrong(format!("{error}")))?;
        Ok(Condition {
            text: text.trim().to_owned(),
            quantity,
            filter,
            operator,
            limit: limit.map_err(wrong)?,
        })
    }
}

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The condition, as it was written.
    pub condition: String,
    /// The measured value, in ns for times; `None` if it is not known.
    pub value: Option<u64>,
    /// True if the value is not a lower bound.
    pub is_exact: bool,
    /// True if the condition holds; `None` if that is not known.
    pub holds: Option<bool>,
    /// The value as text.
    pub text: String,
    /// What is missing and what to do, if the value is not exact.
    pub gaps: Vec<String>,
}

/// The bounds of a measured number, in calls or ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bounds {
    least: u64,
    /// `None`: no maximum is known.
    most: Option<u64>,
}

impl Condition {
    /// Returns the condition as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Measures and compares. A condition is decided if every value that agrees with the recording
    /// decides it alike.
    pub fn judge(&self, store: &Store, within: &Filter) -> Verdict {
        let filter = within.clone().and(self.filter.clone());
        let tally = store.tally(By::Site, &Scope::matching(filter.clone()));
        let calls = store.call_bounds(&filter, &tally);
        let mut gaps = sentences(&calls.gaps, store, &filter);
        let bounds = match self.quantity {
            Quantity::Count => Some(Bounds { least: calls.least, most: calls.most }),
            _ => time_bounds(self.quantity, store, &filter, &tally, &calls, &mut gaps),
        };
        let known = bounds.filter(|bounds| bounds.least > 0 || bounds.most.is_some());
        if gaps.is_empty() && bounds.is_some_and(|bounds| !bounds.is_exact()) {
            gaps.push(INSIDE.into());
        }
        Verdict {
            condition: self.text.clone(),
            value: known.map(|bounds| bounds.least),
            is_exact: bounds.is_some_and(Bounds::is_exact),
            holds: bounds.and_then(|bounds| self.operator.holds_between(bounds, self.limit)),
            text: known.map_or("not known".to_owned(), |bounds| self.quantity.text(bounds)),
            gaps,
        }
    }
}

/// The bounds of a time; `None` if nothing is known of it.
fn time_bounds(
    quantity: Quantity,
    store: &Store,
    filter: &Filter,
    tally: &Tally,
    calls: &CallBounds,
    gaps: &mut Vec<String>,
) -> Option<Bounds> {
    let measures = || tally.rows.iter().map(|row| &row.measure);
    let untimed = |measure: &Measure| {
        measure.count.saturating_sub(measure.timed).saturating_sub(measure.instants)
    };
    let untimed: u64 = measures().map(untimed).sum();
    if untimed > 0 {
        let count = counted(untimed, "call");
        gaps.push(format!(
            "{count} have no time: they only count, were sampled or lost, run, or were instants; {TIMED}"
        ));
    }
    if measures().any(|measure| measure.count > 0) && measures().all(|measure| measure.timed == 0) {
        gaps.insert(0, "it was not timed".into());
        return None;
    }
    if calls.most == Some(0) {
        gaps.insert(0, NOTHING.into());
        return None;
    }
    let is_exact = calls.is_exact() && untimed == 0;
    let exactly = |ticks: u64| Bounds { least: ticks, most: is_exact.then_some(ticks) };
    let bounds = match quantity {
        Quantity::Max => exactly(measures().map(|measure| measure.max_ticks).max().unwrap_or(0)),
        Quantity::SelfTime => {
            let own: u64 = measures().map(|measure| measure.window_self_ticks).sum();
            if measures().any(|measure| measure.timed > 0 && measure.self_ticks.is_none()) {
                gaps.push(format!(
                    "calls left the window, and their self time is not known: {WINDOW}"
                ));
                Bounds { least: own, most: None }
            } else if untimed > 0 || !tally.self_exact {
                // The self time of a timed call contains the untimed calls in it.
                return None;
            } else {
                exactly(own)
            }
        }
        Quantity::Total | Quantity::Count => {
            let sites =
                tally.rows.iter().filter_map(|row| row.site).map(|site| site.0 as usize + 1).max();
            let all = SiteGroups { of_site: vec![Some(0); sites.unwrap_or(0)], around: vec![None] };
            let total =
                store.group_totals(&all, filter, tally).into_iter().next().unwrap_or_default();
            // Where calls inside others may count twice, the longest time of one site is certain.
            let certain = |measure: &Measure| {
                if measure.total_at_most { measure.max_ticks } else { measure.total_ticks }
            };
            let least = if total.at_most {
                measures().map(certain).max().unwrap_or(0)
            } else {
                total.ticks
            };
            Bounds { least, ..exactly(total.ticks) }
        }
    };
    let ns = Bounds {
        least: store.span_ns(bounds.least),
        most: bounds.most.map(|ticks| store.span_ns(ticks)),
    };
    // If it is not sure of any call that it matches, no time is sure.
    Some(if calls.least == 0 { Bounds { least: 0, ..ns } } else { ns })
}

/// Why a total has two bounds although all calls have a time.
const INSIDE: &str = "calls may be inside the polls of others that it selects, and count twice: select those of one function";
/// Nothing has a time.
const NOTHING: &str = "no call that it selects ran, so there is no time to compare: `count(…)` is 0, and `metaspy report` lists what ran";
/// How calls get a time.
const TIMED: &str = "METASPY_MODE=full times every call, a larger METASPY_BUDGET keeps it, and `site:` selects those with a time";
/// How calls stay in the window.
const WINDOW: &str = "record with a larger METASPY_BUDGET, or for a shorter time";

/// How calls get more than a number.
const ONLY_COUNTED: &str = "hooks that only count do not see how a call ends, so run `cargo metaspy` with --timed or METASPY_MODE=full";

/// How fewer calls run when a recording goes on in another file.
const ROTATED: &str = "rotate at a larger size or age (METASPY_ROTATE)";

/// How it becomes known whether calls failed.
const UNSEEN: &str =
    "their hooks do not see what calls return, so run `cargo metaspy` with --returns";

/// How it becomes known which objects calls were on.
const UNSEEN_OBJECTS: &str = "hooks that only count do not see the object, so run with METASPY_MODE=full and a larger METASPY_BUDGET";

/// What is missing where a rotation went on in another file while calls ran, and what to do.
pub(crate) fn unended(gaps: &Gaps) -> Option<String> {
    let calls = counted(gaps.unended, "call");
    let why = "the recording went on in another file meanwhile";
    (gaps.unended > 0).then(|| format!("it is not known how {calls} ended: {why}; {ROTATED}"))
}

/// What is missing for a filter, and what to do.
pub(crate) fn sentences(gaps: &Gaps, store: &Store, filter: &Filter) -> Vec<String> {
    let calls = |count: u64| counted(count, "call");
    let mut sentences = Vec::new();
    if gaps.without_event > 0 {
        let calls = calls(gaps.without_event);
        let asks_for = |term| filter.text().contains(term);
        let asks_for_outcomes = asks_for("outcome:");
        let asks_for_objects = asks_for("subject:") || asks_for("kind:");
        let counts_without_objects =
            store.sites().iter().any(RecordedSite::counts_without_subjects);
        sentences.push(if !store.sites().iter().all(RecordedSite::knows_outcomes) {
            format!("{calls} without an event in the window may match, too: {ONLY_COUNTED}")
        } else if asks_for_outcomes && !store.sites().iter().all(RecordedSite::sees_failures) {
            format!("of {calls} it is not known whether they failed: {UNSEEN}")
        } else if asks_for_objects && counts_without_objects {
            format!("{calls} without an event in the window may match, too: {UNSEEN_OBJECTS}")
        } else {
            format!("{calls} without an event in the window may match, too: {WINDOW}")
        });
    }
    sentences.extend(unended(gaps));
    if gaps.unnamed > 0 {
        sentences.push(format!(
            "{} were counted without site and subject: {WINDOW}",
            calls(gaps.unnamed)
        ));
    }
    if gaps.untimed > 0 {
        sentences.push(format!("the length of {} is not known: {TIMED}", calls(gaps.untimed)));
    }
    if gaps.lost_causes > 0 {
        let calls = calls(gaps.lost_causes);
        sentences.push(format!(
            "{calls} without an event may be causes: METASPY_MODE=full, and {WINDOW}"
        ));
    }
    if gaps.lost_names > 0 {
        let names = counted(gaps.lost_names, "name");
        sentences.push(format!("{names} found no room: record with a larger METASPY_BUDGET"));
    }
    if gaps.is_part
        && let Some(absent) = store.absent_files()
    {
        sentences.push(format!(
            "{absent}: give all files of the process, as in `metaspy report run*.spy`"
        ));
    }
    match store.missing() {
        _ if !gaps.is_open => {}
        [] if store.is_live() => sentences.push("the recording changes while it is read: wait for its end".into()),
        [] => sentences.push(format!(
            "causes left the window, are calls of an earlier file of a rotation, or chains of causes are too long: {WINDOW}"
        )),
        missing => sentences.push(format!("{}: record again", missing.join("; "))),
    }
    sentences
}

impl Bounds {
    fn is_exact(self) -> bool {
        self.most == Some(self.least)
    }
}

impl Quantity {
    fn text(self, bounds: Bounds) -> String {
        let number = |value: u64| match self {
            Quantity::Count => grouped(value),
            _ => time(value),
        };
        match bounds.most {
            _ if bounds.is_exact() => number(bounds.least),
            Some(most) => format!("{} to {}", number(bounds.least), number(most)),
            None => format!("≥{}", number(bounds.least)),
        }
    }
}

impl Operator {
    /// As [`Operator::holds`], of all values within bounds; `None` if that depends on the value.
    fn holds_between(self, bounds: Bounds, limit: u64) -> Option<bool> {
        let least = bounds.least;
        let most = bounds.most.unwrap_or(u64::MAX);
        let is_certain = match self {
            Operator::Equal | Operator::Unequal => {
                least == most || !(least..=most).contains(&limit)
            }
            _ => self.holds(least, limit) == self.holds(most, limit),
        };
        is_certain.then(|| self.holds(least, limit))
    }

    pub(crate) fn holds(self, value: u64, limit: u64) -> bool {
        match self {
            Operator::More => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Less => value < limit,
            Operator::AtMost => value <= limit,
            Operator::Equal => value == limit,
            Operator::Unequal => value != limit,
        }
    }
}

impl Verdict {
    /// Why the condition is not decided, and what to do.
    pub fn doubt(&self) -> String {
        let gaps = if self.gaps.is_empty() {
            "the recording does not know it".into()
        } else {
            self.gaps.join("; ")
        };
        format!("--fail-if '{}' cannot be decided (it is {}): {gaps}", self.condition, self.text)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.holds {
            Some(true) => "FAILED",
            Some(false) => "ok",
            None => "unknown",
        };
        write!(f, "{word}: {} (it is {})", self.condition, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_parsed() {
        let condition: Condition = "count(site:measure) > 1000".parse().unwrap();
        assert_eq!(
            (condition.quantity, condition.operator, condition.limit),
            (Quantity::Count, Operator::More, 1000)
        );
        let condition: Condition = "max( site:frame )>=16ms".parse().unwrap();
        assert_eq!(
            (condition.quantity, condition.operator, condition.limit),
            (Quantity::Max, Operator::AtLeast, 16_000_000)
        );
        assert_eq!("count(*) = 1_000".parse::<Condition>().unwrap().filter, Filter::all());
    }

    #[test]
    fn a_value_within_bounds_decides_what_all_values_decide() {
        let check = |operator: Operator, most: Option<u64>, holds: [Option<bool>; 3]| {
            let judged =
                [9, 10, 11].map(|least| operator.holds_between(Bounds { least, most }, 10));
            assert_eq!(judged, holds, "{operator:?}");
        };
        check(Operator::More, None, [None, None, Some(true)]);
        check(Operator::AtLeast, None, [None, Some(true), Some(true)]);
        check(Operator::Less, None, [None, Some(false), Some(false)]);
        check(Operator::AtMost, None, [None, None, Some(false)]);
        check(Operator::Equal, None, [None, None, Some(false)]);
        check(Operator::Unequal, None, [None, None, Some(true)]);
        check(Operator::More, Some(11), [None, None, Some(true)]);
        check(Operator::Equal, Some(11), [None, None, Some(false)]);
        let judged =
            |operator: Operator| operator.holds_between(Bounds { least: 3, most: Some(9) }, 10);
        assert_eq!(
            [Operator::Less, Operator::More, Operator::Equal].map(judged),
            [true, false, false].map(Some)
        );
    }

    #[test]
    fn a_wrong_condition_is_explained() {
        for (bad, word) in [
            ("count", "parentheses"),
            ("count(site:a", "`)`"),
            ("sum(site:a) > 1", "`sum`"),
            ("count(site:a) 1", "comparison"),
            ("count(site:a) > many", "many"),
            ("max(site:a) > 1 lightyear", "lightyear"),
        ] {
            let error = bad.parse::<Condition>().unwrap_err();
            assert!(error.contains(word) && error.contains("site:frame"), "{error}");
        }
    }
}
