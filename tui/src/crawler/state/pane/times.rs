//! Tab with the durations of the listed events: percentiles, a histogram, the slowest events, and
//! the number of events over time.
//!
//! ```text
//! 1,204 calls  in the window
//! p50 1.10 ms  p90 2.00 ms  p99 9.70 ms  max 41.2 ms
//!  524 µs ███████                    120
//! 1.05 ms ██████████████████████   1,020
//! over time  ▁▂▂▅█▇▃▁    ▁▂
//! the slowest
//! 12.405 113 commit #38          41.2 ms
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use metaspy_reader::{Event, EventId, Filter, Outcome, Position, Store};
use metaspy_report::text::{counted, duration, grouped, pad_left, width};

use super::row::{Content, PaneRow};
use crate::crawler::jobs::Progress;
use crate::crawler::state::lanes;

/// Number of events that are tested between two checks for a stop.
const STRIDE: usize = 1 << 18;
/// Parts of an octave of the histogram. Percentiles are exact to a sixteenth. As in Tene's
/// HdrHistogram, each octave has the same number of parts, so that the error is a share of the
/// value.
const PARTS: u64 = 16;
/// Maximum number of slow events that are listed.
const SLOWEST: usize = 12;
/// Number of parts of the time.
const BUCKETS: usize = 120;

/// Durations of the events that pass a filter, and their number over time.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Text of the filter.
    pub filter: String,
    /// Number of events that pass.
    pub events: u64,
    /// Number of timed events among them.
    timed: u64,
    max_ns: u64,
    /// Number of timed events in each part of an octave.
    parts: Vec<u64>,
    /// Number of events in each part of the window.
    buckets: Vec<u64>,
    /// Slowest events, in descending order of duration.
    slowest: Vec<Event>,
    /// True if events left the window.
    is_window: bool,
}

/// Reads the durations in the window; `None` if the job is stopped.
pub fn read(store: &Store, filter: Filter, progress: &Progress) -> Option<Times> {
    let mut times = Times {
        filter: filter.text().to_owned(),
        parts: vec![0; 64 * PARTS as usize],
        buckets: vec![0; BUCKETS],
        is_window: store.totals().folded > 0,
        ..Times::default()
    };
    let filter = filter.and(lanes::newest());
    let all = lanes::newest();
    let edge = |page: metaspy_reader::Page| page.events.first().map(|event| event.start);
    let first = edge(store.forward(Position::Start, &all, 1, STRIDE)).unwrap_or(0);
    let last = edge(store.backward(Position::End, &all, 1, STRIDE)).unwrap_or(0);
    let ticks = last.saturating_sub(first) + 1;
    let mut slowest: BinaryHeap<Reverse<(u64, EventId)>> = BinaryHeap::new();
    let mut next = Some(Position::Start);
    while let Some(from) = next {
        let page = store.forward(from, &filter, STRIDE, STRIDE);
        for event in &page.events {
            times.events += 1;
            let bucket =
                event.start.saturating_sub(first) as u128 * BUCKETS as u128 / ticks as u128;
            times.buckets[(bucket as usize).min(BUCKETS - 1)] += 1;
            let Some(span) =
                event.span.filter(|_| event.timed && event.outcome != Outcome::Instant)
            else {
                continue;
            };
            let ns = store.span_ns(span);
            times.timed += 1;
            times.max_ns = times.max_ns.max(ns);
            times.parts[part(ns)] += 1;
            if slowest.len() < SLOWEST
                || slowest.peek().is_some_and(|Reverse((least, _))| ns > *least)
            {
                slowest.push(Reverse((ns, event.id)));
                if slowest.len() > SLOWEST {
                    slowest.pop();
                }
            }
        }
        if !progress.goes_on(page.looked_at) {
            return None;
        }
        next = page.more;
    }
    let slowest = slowest.into_sorted_vec();
    times.slowest = slowest.into_iter().filter_map(|Reverse((_, id))| store.event(id)).collect();
    Some(times)
}

/// Returns the part of an octave for a duration.
fn part(ns: u64) -> usize {
    if ns < PARTS {
        return ns as usize;
    }
    let octave = u64::from(ns.ilog2() - PARTS.ilog2());
    (PARTS + octave * PARTS + (ns >> octave) - PARTS) as usize
}

/// Returns the least duration of a part.
fn least(part: usize) -> u64 {
    let part = part as u64;
    if part < PARTS {
        return part;
    }
    let octave = part / PARTS - 1;
    (part % PARTS + PARTS) << octave
}

impl Times {
    /// Returns the number of events in each part of the window.
    pub fn buckets(&self) -> &[u64] {
        &self.buckets
    }

    /// Returns the duration that a share of the timed events does not exceed. The share is in
    /// thousandths.
    fn percentile(&self, per_mille: u64) -> u64 {
        let rank = (self.timed * per_mille).div_ceil(1000).max(1);
        let mut before = 0;
        let found = self.parts.iter().position(|count| {
            before += count;
            before >= rank
        });
        found.map_or(self.max_ns, |part| least(part + 1).saturating_sub(1).min(self.max_ns))
    }

    /// Returns the octaves with their numbers of events, from the first to the last octave that is
    /// not empty.
    fn octaves(&self) -> Vec<(u64, u64)> {
        let octave = |at: usize| {
            self.parts[at..(at + PARTS as usize).min(self.parts.len())].iter().sum::<u64>()
        };
        let all: Vec<(u64, u64)> = (0..self.parts.len())
            .step_by(PARTS as usize)
            .map(|at| (least(at), octave(at)))
            .collect();
        let has_some = |(_, count): &(u64, u64)| *count > 0;
        match (all.iter().position(has_some), all.iter().rposition(has_some)) {
            (Some(first), Some(last)) => all[first..=last].to_vec(),
            _ => Vec::new(),
        }
    }
}

/// Builds the rows of the tab.
pub fn rows(store: &Store, times: Option<&Times>, columns: usize) -> Vec<PaneRow> {
    let Some(times) = times else {
        return vec![PaneRow::plain(Content::Note("reading durations …".into()))];
    };
    let reach = if times.is_window { "in the window" } else { "all of them" };
    let mut rows = vec![Content::Title(format!("{}  {reach}", counted(times.events, "event")))];
    if times.events > 0 {
        rows.push(Content::Note("over time".into()));
        rows.push(Content::Spark(spark(&times.buckets, columns.saturating_sub(2))));
    }
    if times.timed == 0 {
        rows.push(Content::Note("none of them has a duration".into()));
        return rows.into_iter().map(PaneRow::plain).collect();
    }
    rows.push(Content::Blank);
    rows.push(Content::Title(format!("durations of {}", grouped(times.timed))));
    let text = |ns| duration(ns).trim_start().to_owned();
    let percentiles = [(500, "p50"), (900, "p90"), (990, "p99"), (999, "p99.9")];
    for (per_mille, name) in percentiles {
        rows.push(Content::Fact(name, text(times.percentile(per_mille))));
    }
    rows.push(Content::Fact("max", text(times.max_ns)));
    rows.push(Content::Blank);
    let octaves = times.octaves();
    let largest = octaves.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let numbers = octaves.iter().map(|(_, count)| width(&grouped(*count))).max().unwrap_or(0);
    let room = columns.saturating_sub(numbers + 12).max(4);
    for (from, count) in octaves {
        let eighths = (count as u128 * room as u128 * 8 / largest as u128) as usize;
        rows.push(Content::Bar {
            name: pad_left(duration(from).trim_start(), 7),
            eighths: if count > 0 { eighths.max(1) } else { 0 },
            number: grouped(count),
        });
    }
    rows.push(Content::Blank);
    rows.push(Content::Title("the slowest: Enter goes there".into()));
    rows.extend(times.slowest.iter().map(|event| match store.event(event.id) {
        Some(event) => Content::Event(event),
        None => Content::Note("left the window".into()),
    }));
    rows.into_iter().map(PaneRow::plain).collect()
}

/// Draws numbers as heights, in at most `columns` columns.
pub fn spark(buckets: &[u64], columns: usize) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = columns.clamp(1, buckets.len().max(1));
    let mut joined = vec![0; columns];
    for (at, count) in buckets.iter().enumerate() {
        joined[at * columns / buckets.len()] += count;
    }
    let largest = joined.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| match count {
        0 => ' ',
        count => HEIGHTS[(count as u128 * 7).div_ceil(largest as u128) as usize],
    };
    joined.into_iter().map(height).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_begins_where_the_one_before_ends() {
        for part_of in 1..600 {
            let from = least(part_of);
            assert_eq!((part(from), part(from - 1)), (part_of, part_of - 1), "{from}");
        }
        assert!(part(u64::MAX) < 64 * PARTS as usize);
    }

    #[test]
    fn percentiles_are_exact_to_a_sixteenth() {
        let mut times = Times { parts: vec![0; 64 * PARTS as usize], ..Times::default() };
        for ns in 1..=10_000 {
            times.parts[part(ns)] += 1;
            (times.timed, times.max_ns) = (times.timed + 1, ns);
        }
        for (per_mille, exact) in [(500, 5_000_u64), (900, 9_000), (990, 9_900), (1000, 10_000)] {
            let found = times.percentile(per_mille);
            assert!(found.abs_diff(exact) <= exact / PARTS, "{per_mille}: {found}");
        }
        assert_eq!(times.octaves().iter().map(|(_, count)| count).sum::<u64>(), 10_000);
    }

    #[test]
    fn a_spark_keeps_its_columns_and_shows_any_number_above_0() {
        assert_eq!(spark(&[0, 1, 100, 50], 4), " ▂█▅");
        assert_eq!(spark(&[1, 1, 0, 0], 2), "█ ");
        assert_eq!(spark(&[], 4).chars().count(), 1);
    }
}
