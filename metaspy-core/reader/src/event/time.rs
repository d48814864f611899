//! Conversion of ticks to time, by the calibration pairs that the recorder writes each second.

use metaspy_format::Words;
use metaspy_format::layout::Layout;
use metaspy_format::superblock::calibration::{MONOTONIC_NS, REAL_NS, TICK, WORDS};
use metaspy_format::superblock::{self as sb};

/// One instant on three clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub tick: u64,
    pub monotonic_ns: u64,
    pub real_ns: u64,
}

/// Calibration of a recording.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    /// Calibration pairs, in rising order of tick and of monotonic time.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) first_tick: u64,
    pub(crate) ticks_per_s: u64,
    pub(crate) started_ns: u64,
    /// Monotonic clock at the first tick.
    first_ns: i128,
}

impl Time {
    /// Reads the pairs. Pairs that run backwards are ignored.
    pub fn read(words: Words<'_>, layout: &Layout) -> Self {
        let table = layout.calibration.of(words);
        let used = words.acquire(sb::CALIBRATION_USED).min((table.len() / WORDS) as u64) as usize;
        let mut pairs: Vec<Pair> = (0..used)
            .map(|at| Pair {
                tick: table.get(at * WORDS + TICK),
                monotonic_ns: table.get(at * WORDS + MONOTONIC_NS),
                real_ns: table.get(at * WORDS + REAL_NS),
            })
            .filter(|pair| pair.monotonic_ns != 0 || pair.tick != 0)
            .collect();
        pairs.sort_by_key(|pair| pair.tick);
        let mut newest = None::<Pair>;
        pairs.retain(|pair| {
            let rises = newest.is_none_or(|newest| {
                pair.tick > newest.tick && pair.monotonic_ns > newest.monotonic_ns
            });
            if rises {
                newest = Some(*pair);
            }
            rises
        });
        let ticks_per_s = match words.get(sb::TICKS_PER_S) {
            0 => 1_000_000_000,
            rate => rate,
        };
        Time::new(pairs, words.get(sb::FIRST_TICK), ticks_per_s, words.get(sb::STARTED_NS))
    }

    fn new(pairs: Vec<Pair>, first_tick: u64, ticks_per_s: u64, started_ns: u64) -> Self {
        let time = Time { pairs, first_tick, ticks_per_s, started_ns, first_ns: 0 };
        Time { first_ns: time.monotonic_ns(first_tick), ..time }
    }

    /// Returns the nanoseconds from the beginning of the recording to `tick`; 0 for earlier ticks.
    pub(crate) fn since_start_ns(&self, tick: u64) -> u64 {
        clamp(self.monotonic_ns(tick) - self.first_ns)
    }

    /// Returns the nanoseconds since 1970, by the wall clock as it was set then.
    pub fn real_ns(&self, tick: u64) -> u64 {
        let after = self.pairs.partition_point(|pair| pair.tick <= tick);
        match self.pairs.get(after.saturating_sub(1)) {
            Some(pair) => clamp(
                i128::from(pair.real_ns) + self.monotonic_ns(tick) - i128::from(pair.monotonic_ns),
            ),
            None => self.started_ns.saturating_add(self.since_start_ns(tick)),
        }
    }

    /// Returns the length of `ticks` ticks in nanoseconds.
    pub fn span_ns(&self, ticks: u64) -> u64 {
        let (ticks_wide, ns_wide) = self.whole();
        clamp(scaled(i128::from(ticks), ns_wide, ticks_wide))
    }

    /// Converts `ns` nanoseconds to ticks, rounded up, so that a filter with `>=` matches a
    /// duration that is shown as equal.
    pub fn ticks(&self, ns: u64) -> u64 {
        let (ticks_wide, ns_wide) = self.whole();
        clamp(i128::from(ns).saturating_mul(ticks_wide).saturating_add(ns_wide - 1) / ns_wide)
    }

    /// Returns the tick at which the monotonic clock is `ns` after the beginning.
    pub fn tick_at_ns(&self, ns: u64) -> u64 {
        // Rates hardly differ. The average rate gives a near tick, and one step with the local rate
        // corrects it.
        let near = self.first_tick.saturating_add(self.ticks(ns));
        let off = i128::from(ns) - i128::from(self.since_start_ns(near));
        let step = self.ticks(off.unsigned_abs().min(u128::from(u64::MAX)) as u64);
        if off < 0 { near.saturating_sub(step) } else { near.saturating_add(step) }
    }

    /// Returns the tick at a moment of the monotonic clock.
    pub fn tick_at_monotonic_ns(&self, ns: u64) -> u64 {
        self.tick_at_ns(clamp(i128::from(ns) - self.first_ns))
    }

    /// Returns true if the rate was measured over a tenth of a second.
    pub fn is_calibrated(&self) -> bool {
        let first = self.pairs.first();
        let last = self.pairs.last();
        first
            .zip(last)
            .is_some_and(|(first, last)| last.monotonic_ns - first.monotonic_ns > 100_000_000)
    }

    /// Returns ticks and nanoseconds of the longest calibrated time; both are above 0.
    fn whole(&self) -> (i128, i128) {
        match (self.pairs.first(), self.pairs.last()) {
            // Pairs less than a tenth of a second apart are less exact than the rate from before
            // the recording.
            (Some(first), Some(last)) if last.monotonic_ns - first.monotonic_ns > 100_000_000 => (
                i128::from(last.tick - first.tick),
                i128::from(last.monotonic_ns - first.monotonic_ns),
            ),
            _ => (i128::from(self.ticks_per_s), 1_000_000_000),
        }
    }

    /// Returns the monotonic clock at `tick`: interpolated between two pairs, extrapolated at the
    /// average rate.
    fn monotonic_ns(&self, tick: u64) -> i128 {
        let after = self.pairs.partition_point(|pair| pair.tick <= tick);
        let from = self.pairs.get(after.saturating_sub(1));
        let Some(from) = from else {
            return i128::from(tick) * 1_000_000_000 / i128::from(self.ticks_per_s);
        };
        let (ticks_wide, ns_wide) = match self.pairs.get(after) {
            Some(to) if after > 0 && to.monotonic_ns - from.monotonic_ns > 100_000_000 => {
                (i128::from(to.tick - from.tick), i128::from(to.monotonic_ns - from.monotonic_ns))
            }
            _ => self.whole(),
        };
        let ticks = i128::from(tick) - i128::from(from.tick);
        i128::from(from.monotonic_ns) + scaled(ticks, ns_wide, ticks_wide)
    }
}

/// Computes `ticks * to / from`. Most products fit into 64 bits, which divide several times faster
/// than 128.
fn scaled(ticks: i128, to: i128, from: i128) -> i128 {
    let narrow = |number: i128| u64::try_from(number).ok();
    let product = narrow(ticks).zip(narrow(to)).and_then(|(ticks, to)| ticks.checked_mul(to));
    match product.zip(narrow(from)) {
        Some((product, from)) => i128::from(product / from),
        None => ticks.saturating_mul(to) / from,
    }
}

fn clamp(ns: i128) -> u64 {
    ns.clamp(0, i128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(pairs: &[(u64, u64, u64)]) -> Time {
        let pair = |&(tick, monotonic_ns, real_ns)| Pair { tick, monotonic_ns, real_ns };
        Time::new(pairs.iter().map(pair).collect(), 1_000, 2_000_000_000, 5)
    }

    #[test]
    fn without_pairs_the_rate_measured_before_counts() {
        let time = time(&[]);
        assert_eq!(
            (time.since_start_ns(3_000), time.since_start_ns(0), time.span_ns(10)),
            (1_000, 0, 5)
        );
        assert_eq!(time.real_ns(3_000), 1_005);
    }

    #[test]
    fn between_two_pairs_time_runs_at_their_rate() {
        let second = 1_000_000_000;
        let time = time(&[
            (1_000, 0, 7),
            (1_000 + 2 * second, second, second + 7),
            (1_000 + 6 * second, 2 * second, 90 * second),
        ]);
        assert_eq!(time.since_start_ns(1_000 + second), second / 2);
        assert_eq!(time.since_start_ns(1_000 + 4 * second), second * 3 / 2);
        assert_eq!(time.real_ns(1_000 + 6 * second + 3), 90 * second + 1);
        let ns = second * 3 / 2;
        assert!(time.since_start_ns(time.tick_at_ns(ns)).abs_diff(ns) < second / 2);
    }

    #[test]
    fn absurd_pairs_neither_overflow_nor_divide_by_zero() {
        let time = time(&[(0, 0, u64::MAX), (u64::MAX, u64::MAX, 0)]);
        for tick in [0, 1, u64::MAX / 2, u64::MAX] {
            let _ = (
                time.since_start_ns(tick),
                time.real_ns(tick),
                time.span_ns(tick),
                time.ticks(tick),
            );
            let _ = time.tick_at_ns(tick);
        }
    }
}
