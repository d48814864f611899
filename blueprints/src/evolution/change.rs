//! Decision whether a number has changed: the ranges of both sides do not overlap, and their
//! medians are far enough apart.
//!
//! Ranges decide a colour, and not the interval of a ratio ([`Numbers::ratio`]). That contains the
//! true ratio in 95 % of cases, and a picture judges hundreds of methods at once, so 5 % of them
//! would be wrong. By chance, the ranges of five and five runs of one program do not overlap in
//! 0.8 % of cases, those of three and two in 20 %. Executions are exact: one run a side is enough.

use metaspy_report::diff::{Change as Numbers, Sample};

/// Quantity that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Total time. It needs several quiet runs of each version.
    Time,
    /// Executions.
    Calls,
    /// Objects that a method itself allocates on the heap.
    Objects,
    /// Instructions that a method itself executes.
    Instructions,
}

/// Verdict on a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Less of the compared quantity.
    Less,
    /// More of the compared quantity.
    More,
    /// Same quantity within noise.
    Same,
    /// The method did not run before.
    New,
}

/// Minimum change of a time, as a share of the old median.
const TIME: f64 = 0.05;
/// Minimum change of a time, as a share of the root's time.
const OF_ROOT: f64 = 0.002;
/// Minimum change of a count, as a share of the old median.
const COUNTS: f64 = 0.02;

/// Judges a time, in a program whose root takes `whole`.
pub fn by_time(time: &Numbers, whole: u64) -> Change {
    change(time, TIME, OF_ROOT * whole as f64)
}

/// Judges a number that is exact.
pub(crate) fn by_count(count: &Numbers) -> Change {
    change(count, COUNTS, 0.0)
}

fn change(numbers: &Numbers, share: f64, least: f64) -> Change {
    let Numbers { before, after } = numbers;
    if before.values().is_empty() || after.values().is_empty() {
        return if before.values().is_empty() && after.range().1 > 0 {
            Change::New
        } else {
            Change::Same
        };
    }
    let difference = numbers.difference();
    let apart = difference.unsigned_abs() as f64;
    match overlap(before, after) || apart < share * before.median() as f64 || apart < least {
        true => Change::Same,
        false if difference > 0 => Change::More,
        false => Change::Less,
    }
}

fn overlap(a: &Sample, b: &Sample) -> bool {
    a.range().0 <= b.range().1 && b.range().0 <= a.range().1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(before: &[u64], after: &[u64]) -> Numbers {
        Numbers {
            before: Sample::new(before.iter().copied()),
            after: Sample::new(after.iter().copied()),
        }
    }

    fn time(before: &[u64], after: &[u64]) -> Change {
        by_time(&numbers(before, after), 10_000)
    }

    #[test]
    fn a_time_changes_if_ranges_are_apart_and_medians_far_enough() {
        assert_eq!(time(&[100, 104, 99], &[140, 131, 150]), Change::More);
        assert_eq!(time(&[140, 131, 150], &[100, 104, 99]), Change::Less);
        assert_eq!(time(&[100, 104, 135], &[140, 131, 150]), Change::Same, "the ranges overlap");
        assert_eq!(time(&[1_000, 1_010], &[1_040, 1_050]), Change::Same, "less than 5 %");
        assert_eq!(time(&[100], &[119]), Change::Same, "less than 0.2 % of the root");
        assert_eq!(time(&[], &[50]), Change::New);
    }

    #[test]
    fn executions_change_by_two_in_a_hundred() {
        let calls = |before, after| by_count(&numbers(&[before], &[after]));
        assert_eq!([calls(1_000, 1_019), calls(1_000, 1_020)], [Change::Same, Change::More]);
        assert_eq!([calls(400, 4_800), calls(4_800, 0)], [Change::More, Change::Less]);
    }
}
