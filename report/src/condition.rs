//! `--fail-if`: a measure of the events that match a filter, compared with a number.
//!
//! `count(site:measure) > 1000`, `max(site:frame) > 16ms`: MEASURE(FILTER) OPERATOR NUMBER.

use std::fmt;
use std::str::FromStr;

use metaspy_core::Store;
use metaspy_core::store::{By, DetailLevel, Filter, Measure, Scope};

use crate::text::{duration, grouped, parse_duration_ns, parse_number};

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
    /// What is measured.
    pub quantity: Quantity,
    /// Selects the events.
    pub filter: Filter,
    /// How it is compared.
    pub operator: Operator,
    /// With what: a number of calls, or ns.
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
        let help =
            "write 'count(site:measure) > 1000' or 'max(site:frame) > 16ms'; there are count, total, max and self";
        let wrong = |what: String| format!("`{text}` is not a condition: {what}; {help}");
        let (name, rest) = text.split_once('(').ok_or_else(|| wrong("a filter in parentheses is missing".into()))?;
        let (filter, rest) = rest.rsplit_once(')').ok_or_else(|| wrong("the `)` is missing".into()))?;
        let quantity = match name.trim() {
            "count" => Quantity::Count,
            "total" => Quantity::Total,
            "max" => Quantity::Max,
            "self" => Quantity::SelfTime,
            other => return Err(wrong(format!("there is no `{other}`"))),
        };
        let rest = rest.trim();
        let found = OPERATORS.iter().find_map(|(sign, operator)| Some((operator, rest.strip_prefix(sign)?.trim())));
        let (&operator, number) = found.ok_or_else(|| wrong("a comparison is missing: > >= < <= == or !=".into()))?;
        let limit = match quantity {
            Quantity::Count => parse_number(number),
            _ => parse_duration_ns(number),
        };
        let filter = match filter.trim() {
            "" | "*" => Filter::all(),
            filter => filter.parse().map_err(|error| wrong(format!("{error}")))?,
        };
        Ok(Condition { text: text.trim().to_owned(), quantity, filter, operator, limit: limit.map_err(wrong)? })
    }
}

/// The result of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The condition, as it was written.
    pub condition: String,
    /// The measured value, in ns for times; `None` if it is not known.
    pub value: Option<u64>,
    /// True if the condition holds; `None` if that is not known.
    pub holds: Option<bool>,
    /// The value as text.
    pub text: String,
}

impl Condition {
    /// Measures and compares.
    pub fn judge(&self, store: &Store, within: &Filter) -> Verdict {
        let filter = within.clone().and(self.filter.clone());
        let detail = if self.quantity == Quantity::Count { DetailLevel::Counts } else { DetailLevel::All };
        let tally = store.tally(By::Site, &Scope { filter, detail, ..Scope::default() });
        let measures = || tally.rows.iter().map(|row| &row.measure);
        let calls: u64 = measures().map(|measure| measure.count).sum();
        let timed = calls == 0 || measures().any(|measure| measure.timed > 0);
        let ticks = match self.quantity {
            Quantity::Count => None,
            Quantity::Total => Some(measures().map(|measure| measure.total_ticks).sum()),
            Quantity::Max => Some(measures().map(|measure| measure.max_ticks).max().unwrap_or(0)),
            Quantity::SelfTime => {
                measures().filter(|measure| measure.count > 0).map(|measure| measure.self_ticks).sum()
            }
        };
        let value = match self.quantity {
            Quantity::Count => Some(calls),
            _ => ticks.filter(|_| timed).map(|ticks| store.span_ns(ticks)),
        };
        // A call that was counted without its site may be one of these.
        let header = store.header();
        let may_lack = || header.unnamed > 0 || header.reentrant > 0 || measures().any(|measure| measure.at_least);
        let is_least = self.quantity == Quantity::Count && may_lack();
        let text = match (value, self.quantity) {
            (None, Quantity::SelfTime) => "self time is not known: some calls left the window".into(),
            (None, _) => "it was not timed".into(),
            (Some(count), Quantity::Count) if is_least => format!("≥{}", grouped(count)),
            (Some(count), Quantity::Count) => grouped(count),
            (Some(ns), _) => {
                let partial = measures().any(Measure::is_partly_timed);
                let sign = match self.quantity {
                    _ if !partial => "",
                    Quantity::SelfTime => "~",
                    _ => "≥",
                };
                format!("{sign}{}", duration(ns).trim_start())
            }
        };
        Verdict {
            condition: self.text.clone(),
            value,
            holds: value.and_then(|value| match is_least {
                true => self.operator.holds_from(value, self.limit),
                false => Some(self.operator.holds(value, self.limit)),
            }),
            text,
        }
    }
}

impl Operator {
    /// As [`Operator::holds`], of this value and all larger ones; `None` if that depends.
    fn holds_from(self, least: u64, limit: u64) -> Option<bool> {
        let is_certain = match self {
            Operator::Equal | Operator::Unequal => least > limit,
            _ => self.holds(least, limit) == self.holds(u64::MAX, limit),
        };
        is_certain.then(|| self.holds(least, limit))
    }

    fn holds(self, value: u64, limit: u64) -> bool {
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
        assert_eq!((condition.quantity, condition.operator, condition.limit), (Quantity::Count, Operator::More, 1000));
        let condition: Condition = "max( site:frame )>=16ms".parse().unwrap();
        assert_eq!(
            (condition.quantity, condition.operator, condition.limit),
            (Quantity::Max, Operator::AtLeast, 16_000_000)
        );
        assert_eq!("count(*) = 1_000".parse::<Condition>().unwrap().filter, Filter::all());
    }

    #[test]
    fn a_count_that_may_be_too_low_decides_what_larger_ones_decide() {
        let check = |operator: Operator, holds: [Option<bool>; 3]| {
            assert_eq!([9, 10, 11].map(|least| operator.holds_from(least, 10)), holds, "{operator:?}");
        };
        check(Operator::More, [None, None, Some(true)]);
        check(Operator::AtLeast, [None, Some(true), Some(true)]);
        check(Operator::Less, [None, Some(false), Some(false)]);
        check(Operator::AtMost, [None, None, Some(false)]);
        check(Operator::Equal, [None, None, Some(false)]);
        check(Operator::Unequal, [None, None, Some(true)]);
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
