//! The summaries: one for each chunk, side by side. Opening a recording reads only these.
//!
//! A summary is written when every block of its chunk is full. Its stamp is set to 0 before the
//! first of these blocks is reused.

use metaspy_probe::hash::bucket;

use crate::{high, join, low};

/// 64-bit words of a summary.
pub const SUMMARY_WORDS: usize = 8;
/// Not 0 while the summary is valid. It changes with every writing, so it is the seqlock of the
/// summary.
pub const STAMP: usize = 0;
/// Smallest base tick of the chunk's blocks.
pub const FIRST_TICK: usize = 1;
/// Largest start tick of its events.
pub const LAST_TICK: usize = 2;
/// Events (low 32 bits) and marks (high 32 bits).
pub const EVENTS_MARKS: usize = 3;
/// One bit for each site, hashed by [`bit`]. A clear bit excludes the site from the chunk.
pub const SITES: usize = 4;
/// One bit for each lane, hashed by [`bit`].
pub const LANES: usize = 5;
/// Smallest epoch (low 32 bits) and largest epoch (high 32 bits).
pub const EPOCHS: usize = 6;
/// Events that were running when the summary was written.
pub const RUNNING: usize = 7;

/// The bit of a number in the filters of a summary.
#[inline(always)]
pub const fn bit(number: u32) -> u64 {
    1 << bucket(number as u64, 6)
}

/// The stamp of a chunk whose newest block has this sequence; never 0.
#[inline(always)]
pub const fn stamp(sequence: u64) -> u64 {
    sequence << 1 | 1
}

/// A summary by value. It also adds up the blocks of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The stamp; 0 = no block was added.
    pub stamp: u64,
    /// Smallest base tick of the blocks.
    pub first: u64,
    /// Largest start tick of the events.
    pub last: u64,
    /// Number of events.
    pub events: u32,
    /// Number of marks.
    pub marks: u32,
    /// The filter of the sites.
    pub sites: u64,
    /// The filter of the lanes.
    pub lanes: u64,
    /// Smallest and largest epoch.
    pub epochs: (u32, u32),
    /// Events that were running when the summary was written.
    pub running: u64,
}

impl Summary {
    /// The summary of no block.
    pub const EMPTY: Summary = Summary {
        stamp: 0,
        first: u64::MAX,
        last: 0,
        events: 0,
        marks: 0,
        sites: 0,
        lanes: 0,
        epochs: (u32::MAX, 0),
        running: 0,
    };

    /// Adds the header of a block.
    pub const fn add_block(&mut self, sequence: u64, lane: u32, epoch: u32, base: u64) {
        let of_block = stamp(sequence);
        self.stamp = if self.stamp > of_block { self.stamp } else { of_block };
        self.first = if self.first < base { self.first } else { base };
        self.lanes |= bit(lane);
        let (low, high) = self.epochs;
        self.epochs =
            (if low < epoch { low } else { epoch }, if high > epoch { high } else { epoch });
    }

    /// Adds an event that began at this tick.
    pub const fn add_event(&mut self, site: u32, start: u64, is_running: bool) {
        self.events += 1;
        self.sites |= bit(site);
        self.last = if self.last > start { self.last } else { start };
        self.running += is_running as u64;
    }

    /// The words, in the order of a summary.
    pub const fn pack(&self) -> [u64; SUMMARY_WORDS] {
        let Summary {
            stamp,
            first,
            last,
            events,
            marks,
            sites,
            lanes,
            epochs: (low, high),
            running,
        } = *self;
        [stamp, first, last, join(events, marks), sites, lanes, join(low, high), running]
    }

    /// The summary with these words.
    pub const fn unpack(words: [u64; SUMMARY_WORDS]) -> Self {
        let [stamp, first, last, events_marks, sites, lanes, epochs, running] = words;
        let events = low(events_marks);
        let marks = high(events_marks);
        Summary {
            stamp,
            first,
            last,
            events,
            marks,
            sites,
            lanes,
            epochs: (low(epochs), high(epochs)),
            running,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_adds_up_its_blocks_and_keeps_its_words_in_order() {
        let mut sum = Summary::EMPTY;
        sum.add_block(9, 2, 5, 100);
        sum.add_block(8, 3, 4, 90);
        sum.add_event(7, 120, true);
        sum.add_event(6, 110, false);
        sum.marks += 3;
        let words = sum.pack();
        assert_eq!((words[STAMP], words[FIRST_TICK], words[LAST_TICK]), (stamp(9), 90, 120));
        assert_eq!(
            (words[EVENTS_MARKS], words[EPOCHS], words[RUNNING]),
            (join(2, 3), join(4, 5), 1)
        );
        assert_eq!((words[SITES], words[LANES]), (bit(6) | bit(7), bit(2) | bit(3)));
        assert_eq!(Summary::unpack(words), sum);
    }
}
