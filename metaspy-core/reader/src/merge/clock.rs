//! Common clock of several recordings: their ticks become nanoseconds of the first recording's
//! monotonic clock.
//!
//! Recordings of one machine and boot share a *domain*: they have the same clock, so the order of
//! their events is certain. Domains are aligned by their wall clocks, and by messages between them:
//! no message is received before it is sent.

use crate::Store;
use crate::event::time::{Pair, Time};
use metaspy_format::superblock as sb;

/// Minimum distance of two pairs. Closer pairs give a less exact rate than the average.
const APART_NS: u64 = 100_000_000;
/// Rate of one ns per tick. Rates have 40 fractional bits.
const ONE: u128 = 1 << 40;
/// Maximum rate. Faster rates would overflow.
const RATE_MAX: u128 = 1_000_000 * ONE;
/// Maximum difference of two wall clocks of one boot. A user may have set the clock between the two
/// recordings.
const SAME_WALL_NS: u128 = 1_000_000_000;
/// Maximum difference of two wall clocks for recordings that do not name their boot.
const SURELY_SAME_WALL_NS: u128 = 10_000_000;

/// Conversion of ticks to nanoseconds. The result never decreases.
#[derive(Clone, Debug)]
pub(super) struct ClockLine {
    /// Tick, nanoseconds at this tick, and nanoseconds per tick after it; in rising order.
    knots: Vec<(i128, i128, i128)>,
    /// Nanoseconds to add for the clock of the first recording.
    pub shift: i128,
}

impl ClockLine {
    /// Draws the line through the calibration pairs that rise.
    fn new(mut pairs: Vec<Pair>, ticks_per_s: u64) -> Self {
        pairs.sort_by_key(|pair| pair.tick);
        let mut kept: Vec<Pair> = Vec::new();
        for pair in pairs {
            let rises = kept.last().is_none_or(|last| {
                pair.tick > last.tick
                    && pair.monotonic_ns >= last.monotonic_ns.saturating_add(APART_NS)
            });
            if rises {
                kept.push(pair);
            }
        }
        let rate = |ticks: u64, ns: u64| {
            ((u128::from(ns) * ONE) / u128::from(ticks.max(1))).min(RATE_MAX) as i128
        };
        let usual = match (kept.first(), kept.last()) {
            (Some(first), Some(last)) if last.tick > first.tick => {
                rate(last.tick - first.tick, last.monotonic_ns - first.monotonic_ns)
            }
            _ => rate(ticks_per_s, 1_000_000_000),
        };
        let rates = kept
            .windows(2)
            .map(|two| rate(two[1].tick - two[0].tick, two[1].monotonic_ns - two[0].monotonic_ns));
        let rates: Vec<i128> = rates.chain([usual]).collect();
        let knots = kept
            .iter()
            .zip(rates)
            .map(|(pair, rate)| (pair.tick.into(), pair.monotonic_ns.into(), rate));
        ClockLine { knots: knots.collect(), shift: 0 }
    }

    /// Returns the nanoseconds at a tick.
    pub fn ns(&self, tick: u64) -> i128 {
        let tick = i128::from(tick);
        let after = self.knots.partition_point(|(at, ..)| *at <= tick);
        let (at, ns, rate) = self.knots[after.saturating_sub(1)];
        ns + ((tick - at) * rate).div_euclid(ONE as i128) + self.shift
    }
}

/// Alignment of a recording with the common clock.
#[derive(Clone, Debug)]
pub(super) struct AlignedClock {
    pub line: ClockLine,
    /// Domain of the recording; 0 = the domain of the first recording.
    pub domain: usize,
}

/// Clock of a recording.
struct ClockReading {
    kind: u64,
    boot: String,
    ticks_per_s: u64,
    pairs: Vec<Pair>,
}

impl ClockReading {
    fn of(store: &Store) -> ClockReading {
        let time: &Time = store.time();
        let mut pairs = time.pairs.clone();
        if pairs.is_empty() {
            // Only the wall clock is known.
            pairs.push(Pair {
                tick: time.first_tick,
                monotonic_ns: time.started_ns,
                real_ns: time.started_ns,
            });
        }
        ClockReading {
            kind: store.words().get(sb::CLOCK),
            boot: store.program().boot.clone(),
            ticks_per_s: time.ticks_per_s,
            pairs,
        }
    }

    /// Returns the difference of wall clock and monotonic clock, at the pair nearest to this time
    /// of the wall clock.
    fn wall(&self, near_real_ns: u64) -> i128 {
        let pair = self
            .pairs
            .iter()
            .min_by_key(|pair| pair.real_ns.abs_diff(near_real_ns))
            .expect("there is a pair");
        i128::from(pair.real_ns) - i128::from(pair.monotonic_ns)
    }

    /// Returns true if both recordings have the same clock of the same machine.
    fn is_with(&self, other: &ClockReading) -> bool {
        let known = !self.boot.is_empty() && !other.boot.is_empty();
        if self.kind == 0 || self.kind != other.kind || known && self.boot != other.boot {
            return false;
        }
        let (Some(mine), Some(theirs)) = (self.pairs.first(), other.pairs.first()) else {
            return false;
        };
        let apart = (self.wall(theirs.real_ns) - other.wall(theirs.real_ns)).unsigned_abs();
        let line = ClockLine::new(self.pairs.clone(), self.ticks_per_s);
        let off = (line.ns(theirs.tick) - i128::from(theirs.monotonic_ns)).unsigned_abs();
        // In the first second of a recording the rate is exact to a thousandth.
        let allowed = 1_000_000 + u128::from(mine.monotonic_ns.abs_diff(theirs.monotonic_ns)) / 500;
        apart <= if known { SAME_WALL_NS } else { SURELY_SAME_WALL_NS } && off <= allowed
    }
}

/// Aligns recordings by their clocks alone.
pub(super) fn place(stores: &[Store]) -> Vec<AlignedClock> {
    let readings: Vec<ClockReading> = stores.iter().map(ClockReading::of).collect();
    let mut founders: Vec<usize> = Vec::new();
    let mut domains = Vec::new();
    for (at, this) in readings.iter().enumerate() {
        match founders.iter().position(|&founder| readings[founder].is_with(this)) {
            Some(domain) => domains.push(domain),
            None => {
                domains.push(founders.len());
                founders.push(at);
            }
        }
    }
    let first = &readings[0];
    let lines: Vec<ClockLine> = (founders.iter().enumerate())
        .map(|(domain, &founder)| {
            let of_domain = readings.iter().zip(&domains).filter(|(_, of)| **of == domain);
            let pairs =
                of_domain.flat_map(|(readings, _)| readings.pairs.iter().copied()).collect();
            let mut line = ClockLine::new(pairs, readings[founder].ticks_per_s);
            if domain != 0 {
                let near = readings[founder].pairs[0].real_ns;
                line.shift = readings[founder].wall(near) - first.wall(near);
            }
            line
        })
        .collect();
    domains.into_iter().map(|domain| AlignedClock { line: lines[domain].clone(), domain }).collect()
}

/// Message from one recording to another, with the ticks of sending and receipt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    pub from: usize,
    pub sent: u64,
    pub to: usize,
    pub received: u64,
}

/// Bounds of a domain's clock relative to the clock of the first domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Least and greatest shift by which no message is received before it is sent.
    pub least: Option<i128>,
    pub most: Option<i128>,
    /// Shift that was applied.
    pub moved: i128,
}

/// Shifts each domain relative to earlier domains, so that no message is received before it is
/// sent. Returns the bounds by domain.
pub(super) fn settle(placed: &mut [AlignedClock], crossings: &[Crossing]) -> Vec<Bounds> {
    let domains = placed.iter().map(|placed| placed.domain + 1).max().unwrap_or(0);
    let mut all = vec![Bounds::default(); domains];
    for (domain, all) in all.iter_mut().enumerate().skip(1) {
        let mut bounds = Bounds::default();
        for crossing in crossings {
            let from = &placed[crossing.from];
            let to = &placed[crossing.to];
            // Nanoseconds from sending to receipt.
            let later = to.line.ns(crossing.received) - from.line.ns(crossing.sent);
            if to.domain == domain && from.domain < domain {
                bounds.least = Some(bounds.least.map_or(-later, |least| least.max(-later)));
            } else if from.domain == domain && to.domain < domain {
                bounds.most = Some(bounds.most.map_or(later, |most| most.min(later)));
            }
        }
        bounds.moved = match (bounds.least, bounds.most) {
            // At least one of the clocks drifts. The middle has the smallest error.
            (Some(least), Some(most)) if least > most => least + (most - least) / 2,
            (least, most) => 0.max(least.unwrap_or(0)).min(most.unwrap_or(i128::MAX)),
        };
        for placed in placed.iter_mut().filter(|placed| placed.domain == domain) {
            placed.line.shift += bounds.moved;
        }
        *all = bounds;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pairs: &[(u64, u64)]) -> ClockLine {
        let pair = |&(tick, monotonic_ns): &(u64, u64)| Pair { tick, monotonic_ns, real_ns: 0 };
        ClockLine::new(pairs.iter().map(pair).collect(), 2_000_000_000)
    }

    #[test]
    fn time_never_runs_backwards_with_any_pairs() {
        let second = 1_000_000_000;
        for pairs in [
            &[(5, 7)][..],
            &[
                (1_000, 0),
                (1_000 + 2 * second, second),
                (1_000 + 6 * second, 2 * second),
                (7 * second, 2 * second + 5),
            ],
            &[(0, 0), (u64::MAX, u64::MAX)],
            &[(0, 0), (1, u64::MAX)],
        ] {
            let line = line(pairs);
            let ticks = (0..2_000_u64).map(|at| at * 5_000_003).chain([
                u64::MAX / 2,
                u64::MAX - 1,
                u64::MAX,
            ]);
            let ns: Vec<i128> = ticks.map(|tick| line.ns(tick)).collect();
            assert!(ns.is_sorted(), "{pairs:?}");
        }
        let line = line(&[(1_000, 0), (1_000 + 2 * second, second)]);
        assert_eq!((line.ns(1_000), line.ns(1_000 + second)), (0, i128::from(second / 2)));
    }

    fn two(crossings: &[(usize, u64, u64)]) -> (Bounds, Vec<AlignedClock>) {
        let mut placed: Vec<AlignedClock> = (0..2)
            .map(|domain| AlignedClock { line: self::line(&[(0, 0), (1 << 40, 1 << 40)]), domain })
            .collect();
        let crossing = |&(from, sent, received): &(usize, u64, u64)| Crossing {
            from,
            sent,
            to: 1 - from,
            received,
        };
        let crossings: Vec<Crossing> = crossings.iter().map(crossing).collect();
        let bounds = settle(&mut placed, &crossings);
        (bounds[1], placed)
    }

    #[test]
    fn no_receipt_precedes_its_sending() {
        let (bounds, _) = two(&[]);
        assert_eq!(bounds, Bounds { least: None, most: None, moved: 0 });
        let (bounds, _) = two(&[(0, 100, 150)]);
        assert_eq!(bounds, Bounds { least: Some(-50), most: None, moved: 0 });
        // The second clock is behind by 900 at least, and by 950 at most.
        let (bounds, placed) = two(&[(0, 1_000, 100), (1, 200, 1_150)]);
        assert_eq!(bounds, Bounds { least: Some(900), most: Some(950), moved: 900 });
        assert_eq!(placed[1].line.ns(100), 1_000);
        // Bounds that contradict each other are met in the middle.
        let (bounds, _) = two(&[(0, 1_000, 100), (1, 200, 1_000)]);
        assert_eq!(bounds.moved, 850);
    }
}
