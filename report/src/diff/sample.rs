//! One number in several recordings, and its change between two versions.
//!
//! The ratio of two samples is estimated by the median of all pairwise ratios (Hodges and Lehmann, *Estimates of location
//! based on rank tests*, 1963). Its interval lies between two of these ratios in their order, which the distribution of the
//! Mann–Whitney statistic selects (Bauer, *Constructing confidence sets using rank statistics*, 1972). Both need no
//! assumption on how times are distributed: they have long tails.

/// The coverage that an interval aims at.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A number in the recordings of one version, one value for each recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// The values, sorted.
    values: Vec<u64>,
}

impl Sample {
    /// A sample of these values.
    pub fn new(values: impl IntoIterator<Item = u64>) -> Sample {
        let mut values: Vec<u64> = values.into_iter().collect();
        values.sort_unstable();
        Sample { values }
    }

    /// The values, sorted.
    pub fn values(&self) -> &[u64] {
        &self.values
    }

    /// The median; the lower one of two. 0 without a value.
    pub fn median(&self) -> u64 {
        self.values.get(self.values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
    }

    /// The smallest and the largest value.
    pub fn range(&self) -> (u64, u64) {
        (self.values.first().copied().unwrap_or(0), self.values.last().copied().unwrap_or(0))
    }

    /// True if all recordings have the same value.
    pub fn is_constant(&self) -> bool {
        self.range().0 == self.range().1
    }
}

/// A number before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Before.
    pub before: Sample,
    /// After.
    pub after: Sample,
}

/// A ratio of two samples, after to before, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The least ratio that agrees with the samples.
    pub least: f64,
    /// The largest.
    pub most: f64,
    /// The probability that such an interval contains the true ratio; 0 if each version has one
    /// recording.
    pub coverage: f64,
}

impl Change {
    /// The difference of the medians.
    pub fn difference(&self) -> i128 {
        i128::from(self.after.median()) - i128::from(self.before.median())
    }

    /// True if any two recordings differ.
    pub fn is_change(&self) -> bool {
        self.before.range() != self.after.range() || !self.before.is_constant()
    }

    /// The ratio, after to before. `None` if a value before is 0, or if a version has no value.
    pub fn ratio(&self) -> Option<Ratio> {
        let before = self.before.values();
        let after = self.after.values();
        if before.is_empty() || after.is_empty() || before[0] == 0 {
            return None;
        }
        let ratio = |before: u64, after: u64| after as f64 / before as f64;
        let mut ratios: Vec<f64> = before
            .iter()
            .flat_map(|&before| after.iter().map(move |&after| ratio(before, after)))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let (cut, coverage) = cut(before.len(), after.len());
        let middle = ratios.len() / 2;
        let estimate = if ratios.len() % 2 == 1 {
            ratios[middle]
        } else {
            (ratios[middle - 1] + ratios[middle]) / 2.0
        };
        Some(Ratio { estimate, least: ratios[cut], most: ratios[ratios.len() - 1 - cut], coverage })
    }
}

/// The coverage of the intervals of versions with so many recordings.
pub fn coverage(before: usize, after: usize) -> f64 {
    cut(before, after).1
}

/// The number of ratios that an interval leaves out at each end, and its coverage.
fn cut(before: usize, after: usize) -> (usize, f64) {
    if before == 1 && after == 1 {
        return (0, 0.0);
    }
    let ways = ways(before.min(SAMPLES_MAX), after.min(SAMPLES_MAX));
    let all: f64 = ways.iter().sum();
    // The interval from the ratio at `cut` contains the true one unless the statistic is `cut` or
    // less, or as large.
    let mut tail = 0.0;
    let mut best = (0, 1.0 - 2.0 * ways[0] / all);
    for (cut, count) in ways.iter().enumerate().take(before * after / 2) {
        tail += count;
        let coverage = 1.0 - 2.0 * tail / all;
        if coverage < CONFIDENCE {
            break;
        }
        best = (cut, coverage);
    }
    best
}

/// Recordings of a version that the distribution is computed for. With more, the interval is that
/// of so many.
const SAMPLES_MAX: usize = 30;

/// The number of orders of two samples for each value of the Mann–Whitney statistic: the
/// coefficients of a Gaussian binomial, which multiply out as (1 - q^(m+i)) / (1 - q^i) for i from
/// 1 to n.
fn ways(n: usize, m: usize) -> Vec<f64> {
    let mut ways = vec![0.0; n * m + 1];
    ways[0] = 1.0;
    for i in 1..=n {
        for at in (m + i..ways.len()).rev() {
            ways[at] -= ways[at - m - i];
        }
        for at in i..ways.len() {
            ways[at] += ways[at - i];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: &[u64], after: &[u64]) -> Change {
        Change {
            before: Sample::new(before.iter().copied()),
            after: Sample::new(after.iter().copied()),
        }
    }

    #[test]
    fn orders_of_two_samples_are_counted_by_the_statistic() {
        assert_eq!(ways(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(ways(3, 3).iter().sum::<f64>(), 20.0);
        assert_eq!(ways(10, 10).iter().sum::<f64>(), 184_756.0);
    }

    #[test]
    fn an_interval_has_the_coverage_of_the_published_tables() {
        // The critical values of the Mann–Whitney test, two-sided at 5 %: 2 for 5 and 5, 8 for 8
        // and 7... 23 for 10 and 10.
        assert_eq!(cut(5, 5).0, 2);
        assert_eq!(cut(10, 10).0, 23);
        // Three recordings each: 18 of 20 orders, at best.
        assert_eq!(cut(3, 3), (0, 0.9));
        assert_eq!(cut(1, 1), (0, 0.0));
    }

    #[test]
    fn a_ratio_lies_in_the_middle_of_all_pairs() {
        let ratio = change(&[100, 102, 98], &[110, 112, 108]).ratio().expect("both have values");
        assert!(
            (ratio.estimate - 1.1).abs() < 0.01 && ratio.least > 1.05 && ratio.most < 1.15,
            "{ratio:?}"
        );
        let noise = change(&[100, 130, 90], &[95, 125, 105]).ratio().expect("both have values");
        assert!(noise.least < 1.0 && noise.most > 1.0, "{noise:?}");
        assert_eq!(change(&[0], &[5]).ratio(), None);
        let one = change(&[200], &[100]).ratio().expect("both have values");
        assert_eq!((one.estimate, one.least, one.most, one.coverage), (0.5, 0.5, 0.5, 0.0));
    }

    #[test]
    fn a_median_is_a_value_and_a_constant_needs_no_range() {
        let sample = Sample::new([3, 1, 2]);
        assert_eq!((sample.median(), sample.range(), sample.is_constant()), (2, (1, 3), false));
        assert!(Sample::new([7, 7]).is_constant() && Sample::default().is_constant());
        assert_eq!(change(&[5], &[3]).difference(), -2);
    }
}
