//! A row of a tally: counts, outcomes and times of one subject at one site in one epoch.
//!
//! Rows stand in the pages of lanes (calls that were counted without an event, and ends that came after their event
//! had been folded) and in the fold table (events that left the window). The same row may stand in several places;
//! what it counts is the sum.

use metaspy_probe::Outcome;
use metaspy_probe::hash::scatter;

/// 64-bit words of a row.
pub const ROW_WORDS: usize = 8;
/// The subject's key.
pub const KEY: usize = 0;
/// Whose row it is ([`Who`]); 0 = an empty row. Stored last when a row is made.
pub const WHO: usize = 1;
/// Calls begun.
pub const COUNT: usize = 2;
/// Failed (low 32 bits) and panicked (high) calls.
pub const FAILED_PANICKED: usize = 3;
/// Cancelled calls (low 32 bits). High 32 bits: in the fold table, events that were still running when they were
/// folded; in a page, ends that came after that (their outcome and time are in the page's row). The difference is
/// what still runs.
pub const CANCELLED_RUNNING: usize = 4;
/// Calls whose time was measured.
pub const TIMED: usize = 5;
/// Ticks of those together.
pub const TOTAL: usize = 6;
/// Ticks of the longest.
pub const MAX: usize = 7;

/// The kind that stands for "all subjects of this site that found no row of their own".
pub const OTHERS: u16 = u16::MAX;

/// Bits of an epoch that a row keeps.
const EPOCH_MASK: u64 = 0x1FF_FFFF;
/// One running event, or one late end, in [`CANCELLED_RUNNING`].
pub const ONE_RUNNING: u64 = 1 << 32;

/// The number of epochs that rows can tell apart.
pub const EPOCHS: u32 = EPOCH_MASK as u32 + 1;

/// Epochs from one to another, as far as rows can tell them apart.
#[inline(always)]
pub const fn epochs_between(from: u32, to: u32) -> u32 {
    epoch(to.wrapping_sub(from))
}

/// An epoch as rows keep it: modulo 2^25.
#[inline(always)]
pub const fn epoch(epoch: u32) -> u32 {
    (epoch as u64 & EPOCH_MASK) as u32
}

/// Site, kind of subject, epoch, and whether the calls were lost as events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// The site's number.
    pub site: u32,
    /// The subject's kind; 0 = none, [`OTHERS`] = the rest of the site.
    pub kind: u16,
    /// The epoch in which the calls began, modulo 2^25.
    pub epoch: u32,
    /// The calls were made at a meta level: by a handler, or by metaspy itself.
    pub meta: bool,
    /// The calls should have been events, but no block was ready: they count as lost.
    pub lost: bool,
}

impl Who {
    /// As a word; never 0.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        1 << 63
            | (self.lost as u64) << 62
            | (self.meta as u64) << 61
            | (self.epoch as u64 & EPOCH_MASK) << 36
            | (self.kind as u64) << 20
            | self.site as u64 & 0xF_FFFF
    }

    /// Whether the calls of a word began in this epoch.
    #[inline(always)]
    pub const fn began_in(word: u64, epoch: u32) -> bool {
        word >> 36 & EPOCH_MASK == epoch as u64 & EPOCH_MASK
    }

    /// The word of a row of subjects of this kind, from that of the row without a subject.
    #[inline(always)]
    pub const fn with_kind(word: u64, kind: u16) -> u64 {
        word | (kind as u64) << 20
    }

    /// From a word that is not 0.
    #[inline(always)]
    pub const fn unpack(word: u64) -> Self {
        Who {
            site: word as u32 & 0xF_FFFF,
            kind: (word >> 20) as u16,
            epoch: (word >> 36 & EPOCH_MASK) as u32,
            meta: word >> 61 & 1 == 1,
            lost: word >> 62 & 1 == 1,
        }
    }
}

/// Where a row of this subject is looked for first, in a table of `1 << bits` rows.
///
/// The high bits of a product: keys that are dense fall beside each other without meeting, and addresses, whose low
/// bits are zero, spread as well.
#[inline(always)]
pub const fn first(key: u64, who: u64, bits: u32) -> usize {
    (product(key, who) >> (64 - bits)) as usize
}

/// The product whose high bits are the index of the first row.
#[inline(always)]
pub const fn product(key: u64, who: u64) -> u64 {
    scatter(key ^ who.rotate_left(29))
}

/// What an outcome adds to the words [`FAILED_PANICKED`] and [`CANCELLED_RUNNING`].
#[inline(always)]
pub const fn outcome_words(outcome: Outcome) -> (u64, u64) {
    match outcome {
        Outcome::Failed => (1, 0),
        Outcome::Panicked => (crate::join(0, 1), 0),
        Outcome::Cancelled => (0, 1),
        _ => (0, 0),
    }
}

/// Words of the header before the rows of a lane's page: next page, capacity in rows, lane, rows in use.
pub mod page {
    /// Words of a page's header.
    pub const HEADER_WORDS: usize = 8;
    /// Byte offset of the lane's next (older) page from the start of the recording; 0 = none.
    pub const NEXT: usize = 0;
    /// Capacity in rows, a power of two.
    pub const ROWS: usize = 1;
    /// The lane.
    pub const LANE: usize = 2;
    /// Rows in use.
    pub const USED: usize = 3;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_knows_whose_it_is() {
        let who = Who { site: 0xF_FFFF, kind: 9, epoch: 0x1FF_FFFF, meta: true, lost: true };
        assert_eq!(Who::unpack(who.pack()), who);
        assert_eq!(Who::with_kind(Who { kind: 0, ..who }.pack(), 9), who.pack());
        assert_eq!(Who::unpack(Who { epoch: epoch(u32::MAX), ..who }.pack()), who);
        assert_ne!(Who { site: 0, kind: 0, epoch: 0, meta: false, lost: false }.pack(), 0);
    }
}
