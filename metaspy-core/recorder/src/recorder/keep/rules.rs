//! The rules that say which events are kept, as text: `took:>p99 at site:request; outcome:failed`.

use std::fmt;
use std::str::FromStr;

use metaspy_reader::{Filter, FilterError};

/// The smallest and the largest share that a quantile may leave out.
const RARE: std::ops::RangeInclusive<f64> = 0.000_01..=0.5;

/// The smallest and the largest part of the budget that kept events may take, in percent.
const ROOM: std::ops::RangeInclusive<u64> = 1..=75;

/// Rules, and the room for the events that meet them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub(super) rules: Vec<Rule>,
    /// The part of the budget that kept events may take, in percent, if the text says it.
    pub(super) room: Option<u64>,
}

/// A rule: the events that pass a filter, all of them or the longest of each site.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    text: String,
    pub(super) filter: Filter,
    /// Of the events of a site that pass the filter, only those longer than this part of them.
    pub(super) quantile: Option<f64>,
}

impl Rule {
    /// The rule as it was written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// True if it compares lengths of events with a fixed one.
    pub(super) fn asks_for_lengths(&self) -> bool {
        self.filter.text().split_whitespace().any(|word| word.starts_with("took:"))
    }
}

/// Why a text is no rule. The message states the correction.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum KeepError {
    /// The filter of a rule has an error.
    Filter {
        /// The rule.
        rule: String,
        /// The error.
        error: FilterError,
    },
    /// A quantile is no number between p50 and p99.999.
    Quantile(String),
    /// A rule keeps every event.
    Everything(String),
    /// The room for kept events is no part of the budget that they may take.
    Room(String),
    /// A recording has this many rules at most.
    TooMany(usize),
    /// Findings are known when a recording is read, and not while it is written.
    Finding(String),
}

impl fmt::Display for KeepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeepError::Filter { rule, error } => write!(f, "the rule `{rule}`: {error}"),
            KeepError::Quantile(word) => {
                write!(f, "`{word}` is no quantile: write `took:>p99`, from p50 to p99.999")
            }
            KeepError::Everything(rule) => {
                write!(
                    f,
                    "the rule `{rule}` keeps every event: add a condition, such as `took:>p99`"
                )
            }
            KeepError::Room(word) => {
                write!(f, "`{word}` is no room: write `room:25%`, from 1 % to 75 % of the budget")
            }
            KeepError::TooMany(most) => {
                write!(f, "a recording has {most} rules at most, those before included")
            }
            KeepError::Finding(rule) => write!(
                f,
                "the rule `{rule}`: findings are known when a recording is read. Keep events by `took:` or `outcome:`"
            ),
        }
    }
}

metaspy_reader::debug_as_message!(KeepError);

impl std::error::Error for KeepError {}

/// Rules are separated by semicolons.
impl FromStr for Rules {
    type Err = KeepError;

    fn from_str(text: &str) -> Result<Self, KeepError> {
        let mut all = Rules::default();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            match part.strip_prefix("room:") {
                Some(room) => {
                    all.room = Some(percent(room).ok_or_else(|| KeepError::Room(part.to_owned()))?)
                }
                None => all.rules.push(rule(part)?),
            }
        }
        Ok(all)
    }
}

fn percent(text: &str) -> Option<u64> {
    text.strip_suffix('%')?.trim_end().parse().ok().filter(|percent| ROOM.contains(percent))
}

fn rule(text: &str) -> Result<Rule, KeepError> {
    if text.split_whitespace().any(|word| word.starts_with("finding:")) {
        return Err(KeepError::Finding(text.to_owned()));
    }
    let quantile = text.split_whitespace().find(|word| word.starts_with("took:>p"));
    let mut rest = quantile.map_or_else(|| text.to_owned(), |word| text.replacen(word, "", 1));
    // People say where: `outcome:failed at site:request`.
    for place in ["site:", "kind:", "subject:", "lane:"] {
        rest = format!(" {rest}").replace(&format!(" at {place}"), &format!(" {place}"));
    }
    let filter: Filter =
        rest.parse().map_err(|error| KeepError::Filter { rule: text.to_owned(), error })?;
    let quantile = quantile
        .map(|word| share(word).ok_or_else(|| KeepError::Quantile(word.to_owned())))
        .transpose()?;
    match quantile {
        None if filter.is_all() => Err(KeepError::Everything(text.to_owned())),
        _ => Ok(Rule { text: text.to_owned(), filter, quantile }),
    }
}

/// The part of the events that a quantile leaves out.
fn share(word: &str) -> Option<f64> {
    let percent: f64 = word.strip_prefix("took:>p")?.parse().ok()?;
    let part = percent / 100.0;
    RARE.contains(&(1.0 - part)).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_separated_by_semicolons() {
        let rules: Rules = "took:>p99.9 at site:request; outcome:failed,panicked ; room:40%"
            .parse()
            .expect("two rules");
        let [slow, failed] = &rules.rules[..] else { panic!("{rules:?}") };
        assert_eq!(rules.room, Some(40));
        assert_eq!(
            (slow.text(), slow.filter.text()),
            ("took:>p99.9 at site:request", "site:request")
        );
        assert!((slow.quantile.expect("a quantile") - 0.999).abs() < 1e-9);
        assert_eq!((failed.filter.text(), failed.quantile), ("outcome:failed,panicked", None));
        let one = |text: &str| text.parse::<Rules>().expect(text).rules.remove(0);
        assert!(one("took:>p99").filter.is_all(), "every site has its own quantile");
        assert_eq!(
            one("outcome:failed at site:request").filter.text(),
            "outcome:failed site:request"
        );
        assert_eq!(
            one("took:>p99 at kind:node text  two").filter.text().trim(),
            "kind:node text  two"
        );
        let plain = one("site:request took:>10ms");
        assert_eq!((plain.filter.text(), plain.quantile), ("site:request took:>10ms", None));
    }

    #[test]
    fn an_error_says_what_to_write() {
        let message = |text: &str| text.parse::<Rules>().expect_err(text).to_string();
        assert!(message("took:>p100").contains("write `took:>p99`"), "{}", message("took:>p100"));
        assert!(message("took:>pfast site:x").contains("`took:>pfast` is no quantile"));
        assert!(message("outcome:bad").contains("there are running"), "{}", message("outcome:bad"));
        assert!(message("outcome:failed; room:80%").contains("from 1 % to 75 %"));
        assert!(message("finding:*").contains("when a recording is read"));
    }
}
