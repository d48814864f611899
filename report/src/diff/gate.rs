//! `--fail-on`: a change that fails a check, as `count +10%` or `time +5ms`.

use std::fmt;
use std::str::FromStr;

use super::{Change, Diff, DiffRow, Presence};
use crate::text::{grouped, parse_duration_ns, parse_number, time};

/// A change that fails.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    quantity: Quantity,
    /// True for an increase, false for a decrease.
    is_increase: bool,
    limit: Limit,
}

/// The number that a gate is about.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Quantity {
    Count,
    Total,
    SelfTime,
    Allocations,
    Bytes,
    /// `profiler.column`.
    Column(String),
}

/// The largest change that passes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    /// Of the number before, in percent.
    Percent(f64),
    /// In calls, bytes or ns.
    Absolute(u64),
}

impl FromStr for Gate {
    type Err = String;

    fn from_str(text: &str) -> Result<Gate, String> {
        let help = "write 'count +10%', 'time +10%', 'self +5ms', 'bytes +1M', 'count -50%' or 'PROFILER.COLUMN +10%'";
        let wrong = |what: &str| format!("`{text}` is no change: {what}; {help}");
        let at = text.find(['+', '-']).ok_or_else(|| wrong("a `+` or a `-` is missing"))?;
        let name = text[..at].trim();
        let amount = text[at + 1..].trim();
        let quantity = match name {
            "count" => Quantity::Count,
            "time" | "total" => Quantity::Total,
            "self" => Quantity::SelfTime,
            "allocations" => Quantity::Allocations,
            "bytes" => Quantity::Bytes,
            column if column.contains('.') => Quantity::Column(column.to_owned()),
            other => return Err(wrong(&format!("there is no `{other}`"))),
        };
        let limit = match amount.strip_suffix('%') {
            Some(percent) => match percent.trim().parse::<f64>() {
                Ok(percent) if percent.is_finite() && percent >= 0.0 => Limit::Percent(percent),
                _ => return Err(wrong("the percentage is no number")),
            },
            None => Limit::Absolute(match quantity {
                Quantity::Total | Quantity::SelfTime => {
                    parse_duration_ns(amount).map_err(|error| wrong(&error))?
                }
                _ => parse_number(amount).map_err(|error| wrong(&error))?,
            }),
        };
        Ok(Gate {
            text: text.trim().to_owned(),
            quantity,
            is_increase: text[at..].starts_with('+'),
            limit,
        })
    }
}

/// The result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The gate, as it was written.
    pub gate: String,
    /// The things that fail it, the largest change first, each with a sentence.
    pub failures: Vec<(String, String)>,
    /// The numbers that were compared; 0 if no recording has them, which fails as well.
    pub compared: usize,
    /// Changes that were not judged because their numbers are not exact.
    pub unjudged: Vec<String>,
    /// Recordings that have nothing to compare, or may lack calls.
    pub(crate) doubtful: Vec<String>,
}

impl Judgement {
    /// True if a thing fails, or if there was nothing to compare.
    pub fn is_failure(&self) -> bool {
        !self.failures.is_empty() || (self.compared == 0 && self.unjudged.is_empty())
    }

    /// True if nothing is known to fail, and something was not judged.
    pub fn is_undecided(&self) -> bool {
        self.failures.is_empty() && !self.unjudged.is_empty()
    }

    /// What is missing, and what to do.
    fn missing(&self) -> String {
        let named =
            self.unjudged.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = match self.unjudged.len().saturating_sub(FEW) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = format!("not known exactly: {named}{more}");
        if self.doubtful.is_empty() {
            let advice =
                "record with a larger METASPY_BUDGET, or leave these rows out with --filter";
            return format!("{what}; {advice}");
        }
        format!(
            "{what}; calls may lack in {}: `metaspy report` states why",
            self.doubtful.join(", ")
        )
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_undecided() {
            return write!(f, "UNDECIDED: {}: {}", self.gate, self.missing());
        }
        match (self.compared, self.failures.len()) {
            (0, _) if !self.doubtful.is_empty() => {
                let empty = self.doubtful.join(", ");
                write!(
                    f,
                    "FAILED: {}: there was nothing to compare: {empty} has no calls",
                    self.gate
                )
            }
            (0, _) => write!(f, "FAILED: {}: there was nothing to compare", self.gate),
            (_, 0) => write!(f, "passed: {}", self.gate),
            (_, count) => {
                write!(f, "FAILED: {}: {}", self.gate, crate::text::counted(count as u64, "row"))?;
                self.failures
                    .iter()
                    .take(NAMED)
                    .try_for_each(|(label, what)| write!(f, "\n  {label}  {what}"))?;
                match count.saturating_sub(NAMED) {
                    0 => Ok(()),
                    more => write!(f, "\n  … and {more} more"),
                }
            }
        }
    }
}

/// The error of a ratio of two numbers that are written in decimal: 110 is 10 % more than 100.
const ROUNDING: f64 = 1e-9;
/// Failures that the text names.
const NAMED: usize = 20;
/// Rows without exact numbers that the text names.
const FEW: usize = 5;

impl Gate {
    /// The gate as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Judges every thing that both versions have, and the sum of all. A change is judged by the
    /// end of its interval that is nearer to no change, so noise alone fails rarely; with one
    /// recording of each version, by the ratio itself. Numbers that are not exact are not judged,
    /// and leave the gate undecided.
    pub fn judge(&self, diff: &Diff) -> Judgement {
        let whole = match self.quantity {
            Quantity::Count => Some(&diff.count),
            Quantity::Allocations => diff.allocations.as_ref().map(|(count, _)| count),
            Quantity::Bytes => diff.allocations.as_ref().map(|(_, bytes)| bytes),
            Quantity::SelfTime => diff.self_ns.as_ref(),
            Quantity::Total | Quantity::Column(_) => None,
        };
        // Where nothing ran in either version there is no sum to compare.
        let is_nothing =
            |change: &Change| change.before.range().1 == 0 && change.after.range().1 == 0;
        let whole = whole
            .filter(|change| !is_nothing(change) && diff.rows.iter().all(|row| self.is_exact(row)));
        let rows = diff.rows.iter().filter(|row| row.presence == Presence::Both);
        let rows = rows.filter_map(|row| Some((row.label.as_str(), self.of(row)?)));
        let all = whole.map(|change| ("all together", change)).into_iter().chain(rows);
        let mut judgement = Judgement {
            gate: self.text.clone(),
            failures: Vec::new(),
            compared: 0,
            unjudged: Vec::new(),
            doubtful: diff.empty.clone(),
        };
        if !diff.empty.is_empty() {
            return judgement;
        }
        judgement.doubtful.clone_from(&diff.incomplete);
        // The columns of method profilers do not come from the events.
        let is_lacking =
            !matches!(self.quantity, Quantity::Column(_)) && !diff.incomplete.is_empty();
        for (label, change) in all.filter(|_| !is_lacking) {
            judgement.compared += 1;
            if self.fails(change) {
                judgement.failures.push((label.to_owned(), self.sentence(change)));
            }
        }
        if is_lacking {
            judgement.unjudged.push("every row".to_owned());
        }
        let in_both = diff.rows.iter().filter(|row| row.presence == Presence::Both);
        let inexact = in_both.filter(|row| !is_lacking && !self.is_exact(row));
        judgement.unjudged.extend(inexact.map(|row| row.label.clone()));
        judgement
    }

    /// False if the row has such a number, and it is not exact.
    fn is_exact(&self, row: &DiffRow) -> bool {
        match &self.quantity {
            Quantity::Count => row.is_exact || row.is_unobserved_in_one,
            Quantity::Total => !row.is_partly_timed && !row.lacks_total,
            Quantity::SelfTime => !row.is_partly_timed && !row.lacks_self,
            Quantity::Column(name) => !row.lower_bounds.contains(name),
            Quantity::Allocations | Quantity::Bytes => true,
        }
    }

    /// The number of a row, if it is exact.
    fn of<'r>(&self, row: &'r DiffRow) -> Option<&'r Change> {
        if !self.is_exact(row) {
            return None;
        }
        match &self.quantity {
            Quantity::Count => Some(&row.count),
            Quantity::Total => row.total_ns.as_ref(),
            Quantity::SelfTime => row.self_ns.as_ref(),
            Quantity::Column(name) => row.columns.get(name),
            Quantity::Allocations | Quantity::Bytes => None,
        }
    }

    fn fails(&self, change: &Change) -> bool {
        let before = &change.before;
        let after = &change.after;
        match (self.limit, change.ratio()) {
            (Limit::Percent(percent), Some(ratio)) if self.is_increase => {
                ratio.least > 1.0 + percent / 100.0 + ROUNDING
            }
            (Limit::Percent(percent), Some(ratio)) => ratio.most < 1.0 - percent / 100.0 - ROUNDING,
            // From nothing, any increase is more than any percentage.
            (Limit::Percent(_), None) => self.is_increase && after.range().0 > before.range().1,
            (Limit::Absolute(limit), _) if self.is_increase => {
                after.range().0.saturating_sub(before.range().1) > limit
            }
            (Limit::Absolute(limit), _) => before.range().0.saturating_sub(after.range().1) > limit,
        }
    }

    fn sentence(&self, change: &Change) -> String {
        let number = |number: u64| match self.quantity {
            Quantity::Total | Quantity::SelfTime => time(number),
            _ => grouped(number),
        };
        let by = super::text::percent_text(change);
        format!("{} → {}  {by}", number(change.before.median()), number(change.after.median()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Sample;

    fn change(before: &[u64], after: &[u64]) -> Change {
        Change {
            before: Sample::new(before.iter().copied()),
            after: Sample::new(after.iter().copied()),
        }
    }

    fn fails(gate: &str, before: &[u64], after: &[u64]) -> bool {
        gate.parse::<Gate>().expect("it is a gate").fails(&change(before, after))
    }

    #[test]
    fn a_count_fails_beyond_its_limit_and_not_at_it() {
        assert!(fails("count +10%", &[100], &[111]) && !fails("count +10%", &[100], &[110]));
        assert!(fails("count -10%", &[100], &[89]) && !fails("count -10%", &[100], &[200]));
        assert!(fails("count +5", &[100], &[106]) && !fails("count +5", &[100], &[105]));
        assert!(fails("count +10%", &[0], &[1]) && !fails("count +10%", &[0], &[0]));
    }

    #[test]
    fn noise_fails_no_time_and_a_change_beyond_it_does() {
        let before = [100, 90, 130, 95, 105];
        let noisy = [98, 135, 92, 110, 101];
        assert!(!fails("time +10%", &before, &noisy));
        assert!(fails("time +10%", &before, &noisy.map(|ns| ns * 2)));
    }

    #[test]
    fn a_gate_that_cannot_be_read_shows_how_to_write_one() {
        for text in ["count", "counts +10%", "time +ten%", "time +", "+10%", "count +-3%"] {
            let error = text.parse::<Gate>().expect_err("it is none");
            assert!(error.contains("write 'count +10%'"), "{error}");
        }
        assert_eq!(
            "time +5ms".parse::<Gate>().expect("it is one").limit,
            Limit::Absolute(5_000_000)
        );
        assert!("cache.misses +3".parse::<Gate>().is_ok());
    }
}
