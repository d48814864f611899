//! Exact one-dimensional k-means: the classes whose values differ least from their means.
//!
//! In one dimension clusters are ranges of the sorted values, so dynamic programming finds the
//! optimum (Wang and Song, *Ckmeans.1d.dp*, The R Journal 3/2, 2011). *Augmenting Static Source
//! Views in IDEs with Dynamic Metrics*, section 3.3, maps its metrics to classes by k-means.

/// Returns the least value of each cluster except the first, in ascending order.
///
/// There are at most `clusters - 1` of them, and fewer if there are fewer distinct values. Equal
/// values are in the same cluster. Between two equally good cuts, the larger upper cluster wins.
pub fn breaks(values: impl IntoIterator<Item = f64>, clusters: usize) -> Vec<f64> {
    let points = distinct(values);
    let clusters = clusters.min(points.len());
    if clusters < 2 {
        return Vec::new();
    }
    let sums = Sums::new(&points);
    let n = points.len();
    // These are the costs of the first `end` points in as many clusters as there are rows. The rows
    // have the start of the last cluster.
    let mut costs: Vec<f64> = (0..=n).map(|end| sums.cost(0, end)).collect();
    let mut begins: Vec<Vec<usize>> = Vec::with_capacity(clusters);
    for row in 1..clusters {
        let mut next = vec![f64::INFINITY; n + 1];
        let mut begin_of = vec![row; n + 1];
        fill(&sums, &costs, (&mut next, &mut begin_of), (row + 1, n), (row, n - 1));
        costs = next;
        begins.push(begin_of);
    }
    let mut found = Vec::with_capacity(clusters - 1);
    let mut end = n;
    for begin_of in begins.iter().rev() {
        end = begin_of[end];
        found.push(points[end].0);
    }
    found.reverse();
    found
}

/// Finds the best start of the last cluster for each end in a range.
///
/// The best start never falls as the end rises, so the middle end divides the candidates: a row
/// takes n log n steps.
fn fill(
    sums: &Sums,
    before: &[f64],
    (costs, begins): (&mut [f64], &mut [usize]),
    (first, last): (usize, usize),
    (low, high): (usize, usize),
) {
    if first > last {
        return;
    }
    let end = first.midpoint(last);
    let candidates =
        (low..=high.min(end - 1)).map(|begin| (begin, before[begin] + sums.cost(begin, end)));
    let best = candidates.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((low, f64::INFINITY));
    (begins[end], costs[end]) = best;
    fill(sums, before, (costs, begins), (first, end - 1), (low, best.0));
    fill(sums, before, (costs, begins), (end + 1, last), (best.0, high));
}

/// Returns the distinct values in ascending order, each with its number of occurrences.
fn distinct(values: impl IntoIterator<Item = f64>) -> Vec<(f64, f64)> {
    let mut values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let mut points: Vec<(f64, f64)> = Vec::new();
    for value in values {
        match points.last_mut() {
            Some((known, count)) if *known == value => *count += 1.0,
            _ => points.push((value, 1.0)),
        }
    }
    points
}

/// Prefix sums of the points. Values are centred, so that squares of large values lose no
/// precision.
struct Sums {
    counts: Vec<f64>,
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn new(points: &[(f64, f64)]) -> Sums {
        let middle = points[points.len() / 2].0;
        let running = |of: fn(f64, f64) -> f64| {
            let mut sum = 0.0;
            let sums = points.iter().map(move |(value, count)| {
                sum += of(value - middle, *count);
                sum
            });
            std::iter::once(0.0).chain(sums).collect()
        };
        Sums {
            counts: running(|_, n| n),
            values: running(|x, n| x * n),
            squares: running(|x, n| x * x * n),
        }
    }

    /// Returns the sum of the squared distances of these points to their mean.
    fn cost(&self, begin: usize, end: usize) -> f64 {
        let of = |sums: &[f64]| sums[end] - sums[begin];
        let count = of(&self.counts);
        let sum = of(&self.values);
        if count == 0.0 { 0.0 } else { (of(&self.squares) - sum * sum / count).max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the least cost of any division into clusters, by trying all of them.
    fn best(points: &[(f64, f64)], sums: &Sums, begin: usize, clusters: usize) -> f64 {
        if clusters == 1 {
            return sums.cost(begin, points.len());
        }
        let ends = begin + 1..=points.len() + 1 - clusters;
        ends.map(|end| sums.cost(begin, end) + best(points, sums, end, clusters - 1))
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn no_other_division_is_better() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        for round in 0..300 {
            let values: Vec<f64> =
                (0..=round % 12).map(|_| (random() % 40) as f64 * 0.25).collect();
            let clusters = 1 + round % 6;
            let points = distinct(values.iter().copied());
            let sums = Sums::new(&points);
            let found = breaks(values.iter().copied(), clusters);
            let cuts: Vec<usize> = found
                .iter()
                .map(|value| points.partition_point(|point| point.0 < *value))
                .collect();
            let ends = cuts.iter().copied().chain([points.len()]);
            let cost: f64 = std::iter::once(0)
                .chain(cuts.iter().copied())
                .zip(ends)
                .map(|(a, b)| sums.cost(a, b))
                .sum();
            let clusters = clusters.min(points.len());
            assert_eq!(found.len(), clusters - 1);
            assert!(
                (cost - best(&points, &sums, 0, clusters)).abs() < 1e-9,
                "{values:?} {found:?}"
            );
        }
    }

    #[test]
    fn groups_that_are_apart_are_found() {
        assert_eq!(breaks([1.0, 2.0, 1.0, 50.0, 52.0, 900.0], 3), [50.0, 900.0]);
        assert_eq!(breaks([1.0, 1.0, f64::NAN, 2.0, f64::INFINITY], 6), [2.0]);
        assert_eq!((breaks([], 3), breaks([4.0; 9], 3)), (vec![], vec![]));
    }
}
