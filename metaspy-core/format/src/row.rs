//! A row of a tally: counts, outcomes and times of one subject at one site in one epoch.
//!
//! The pages of lanes have rows for calls that were counted without an event, and for ends that
//! came after their event had been folded. The fold table and the pages of folders have rows for
//! events that left the window. A row can be in several tables; its value is the sum. A page can
//! also be an [array](mod@array): short rows of one site, kind and epoch.
//!
//! A row whose outcomes fill half of their 32 bits gets a second row, instead of wider rows from
//! the start. Readers add rows up anyway, and no half of a word overflows into the other.
//!
//! Rows and pages keep 25 bits of their epoch and a bit for calls at meta level, rather than 26
//! bits of the epoch. Calls at meta level are left out by default, also after they left the window.
//!
//! Time that rows count already is in rows of its own, by site and by subject ([`Again`]). Rows are
//! too full for a second time in each, and only recursive sites and subjects with nested calls need
//! it.

use metaspy_probe::Outcome;
use metaspy_probe::hash::scatter;

use crate::slot;

/// 64-bit words of a row.
pub const ROW_WORDS: usize = 8;
/// The subject's key.
pub const KEY: usize = 0;
/// Site, kind and epoch of the row ([`Who`]); 0 = an empty row. Stored last when a row is made.
pub const WHO: usize = 1;
/// Calls that began.
pub const COUNT: usize = 2;
/// Failed calls (low 32 bits) and panicked calls (high 32 bits).
pub const FAILED_PANICKED: usize = 3;
/// Cancelled calls (low 32 bits). The high 32 bits of a row in the fold table count events that
/// were running when they were folded. In a page they count ends that came after that; outcome and
/// time of these are in the page's row. The difference is the number of running events.
pub const CANCELLED_RUNNING: usize = 4;
/// Calls with a measured time.
pub const TIMED: usize = 5;
/// Ticks of these calls together.
pub const TOTAL: usize = 6;
/// Ticks of the longest call.
pub const MAX: usize = 7;

/// In [`FAILED_PANICKED`] and [`CANCELLED_RUNNING`]: a row with one of these bits takes no more
/// outcomes, so that no half of a word overflows into the other. They are counted in another row of
/// the same subject.
const FULL: u64 = 1 << 31 | 1 << 63;

/// The [`WHO`] of a row that counts nothing and that a later row may replace.
pub const FREED: u64 = 1 << 63;

/// True if a row with these words takes more outcomes.
#[inline(always)]
pub const fn has_room(failed_panicked: u64, cancelled_running: u64) -> bool {
    (failed_panicked | cancelled_running) & FULL == 0
}

/// The kind of the row for all subjects of a site without a row of their own.
pub const OTHERS: u16 = u16::MAX;

/// Time of folded calls that rows of a report must not count again, because they ran inside another
/// call of the same row ([`nesting`](crate::nesting)). Such a row has ticks in [`TOTAL`] and counts
/// no calls; one of these numbers is in the place of its site.
///
/// [`TOTAL`] of a row of calls leaves out those inside a call at the same site *and* on the same
/// subject already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Again {
    /// Ticks of calls inside another call at the same site. The key is the site's number.
    InSite = 0xF_FFF0,
    /// Ticks of calls inside another call on the same subject. Key and kind are the subject's.
    InSubject = 0xF_FFF1,
    /// Ticks of calls that may be inside another call at the same site. The key is the site's
    /// number.
    MaybeInSite = 0xF_FFF2,
    /// Ticks of calls that may be inside another call on the same subject. The key is 0.
    MaybeInSubject = 0xF_FFF3,
}

impl Again {
    /// The kind of a row with this number in the place of its site; `None` for a row of calls.
    #[inline(always)]
    pub const fn from_site(site: u32) -> Option<Self> {
        match site {
            0xF_FFF0 => Some(Again::InSite),
            0xF_FFF1 => Some(Again::InSubject),
            0xF_FFF2 => Some(Again::MaybeInSite),
            0xF_FFF3 => Some(Again::MaybeInSubject),
            _ => None,
        }
    }

    /// Key and [`WHO`] of the row that takes ticks of a call in this row.
    #[inline(always)]
    pub const fn row(self, key: u64, who: u64) -> (u64, u64) {
        let site = who & 0xF_FFFF;
        let of = Who { site: self as u32, kind: 0, ..Who::unpack(who) };
        match self {
            Again::InSite | Again::MaybeInSite => (site, of.pack()),
            Again::InSubject => (key, Who { kind: Who::unpack(who).kind, ..of }.pack()),
            Again::MaybeInSubject => (0, of.pack()),
        }
    }
}

/// Bits of an epoch that a row keeps.
const EPOCH_MASK: u64 = 0x1FF_FFFF;
/// One running event, or one late end, in [`CANCELLED_RUNNING`].
pub const ONE_RUNNING: u64 = 1 << 32;

/// The number of epochs that rows distinguish.
pub const EPOCHS: u32 = EPOCH_MASK as u32 + 1;

/// The distance between two epochs, modulo 2^25.
#[inline(always)]
pub const fn epochs_between(from: u32, to: u32) -> u32 {
    epoch(to.wrapping_sub(from))
}

/// An epoch as rows keep it: modulo 2^25.
#[inline(always)]
pub const fn epoch(epoch: u32) -> u32 {
    (epoch as u64 & EPOCH_MASK) as u32
}

/// Site, kind of subject, epoch, and two flags of the calls in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Who {
    /// The site's number.
    pub site: u32,
    /// The subject's kind; 0 = none, [`OTHERS`] = the other subjects of the site.
    pub kind: u16,
    /// The epoch in which the calls began, modulo 2^25.
    pub epoch: u32,
    /// True for calls at a meta level: by a handler, or by metaspy itself.
    pub meta: bool,
    /// True for calls that found no block as events, and are lost.
    pub lost: bool,
}

impl Who {
    /// The row as a word; never 0.
    #[inline(always)]
    pub const fn pack(self) -> u64 {
        1 << 63
            | (self.lost as u64) << 62
            | (self.meta as u64) << 61
            | (self.epoch as u64 & EPOCH_MASK) << 36
            | (self.kind as u64) << 20
            | self.site as u64 & 0xF_FFFF
    }

    /// The row of an event with this last word.
    #[inline(always)]
    pub const fn of_event(site: u32, epoch: u32, last: u64) -> Self {
        Who { site, kind: slot::kind(last), epoch, meta: slot::level(last) != 0, lost: false }
    }

    /// Adds site and kind of an event at level 0 with this last word to the word of a row without
    /// them.
    #[inline(always)]
    pub const fn with_event(word: u64, site: u32, last: u64) -> u64 {
        Self::with_kind(word, slot::kind(last)) | site as u64
    }

    /// True if the calls of a row began in this epoch.
    #[inline(always)]
    pub const fn began_in(word: u64, epoch: u32) -> bool {
        word >> 36 & EPOCH_MASK == epoch as u64 & EPOCH_MASK
    }

    /// Adds the kind to the word of a row without a subject.
    #[inline(always)]
    pub const fn with_kind(word: u64, kind: u16) -> u64 {
        metaspy_probe::with_kind(word, kind)
    }

    /// True if two words are of one site and epoch; the kinds of their subjects may differ.
    pub const fn are_of_site(one: u64, other: u64) -> bool {
        (one ^ other) & !Self::with_kind(0, u16::MAX) == 0
    }

    /// Unpacks a word that is not 0.
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

/// The index at which the search for a row begins, in a table of `1 << bits` rows.
///
/// The index is the high bits of a product. Dense keys then get neighbouring rows without
/// collisions, and addresses, whose low bits are zero, spread as well.
#[inline(always)]
pub const fn first(key: u64, who: u64, bits: u32) -> usize {
    (product(key, who) >> (64 - bits)) as usize
}

/// The product whose high bits are the index of the first row.
#[inline(always)]
pub const fn product(key: u64, who: u64) -> u64 {
    scatter(key ^ who.rotate_left(29))
}

/// The increments of [`FAILED_PANICKED`] and [`CANCELLED_RUNNING`] for an outcome.
#[inline(always)]
pub const fn outcome_words(outcome: Outcome) -> (u64, u64) {
    match outcome {
        Outcome::Failed => (1, 0),
        Outcome::Panicked => (crate::join(0, 1), 0),
        Outcome::Cancelled => (0, 1),
        _ => (0, 0),
    }
}

/// The header of a page, before its rows.
pub mod page {
    /// Words of a page's header.
    pub const HEADER_WORDS: usize = 8;
    /// Capacity in rows, a power of two; of an array, the length behind the header in units of a
    /// row. Stored first.
    pub const ROWS: usize = 1;
    /// The lane.
    pub const LANE: usize = 2;
    /// Rows in use.
    pub const USED: usize = 3;
    /// Of an array: site, kind and epoch of its rows ([`super::Who`]); else 0. Stored before
    /// anything behind the header.
    pub const WHO: usize = 4;
    /// Of an array: rows whose index is the key; 0 = it is made of buckets.
    pub const LENGTH: usize = 5;
    /// Of an array: its buckets, a power of two.
    pub const BUCKETS: usize = 6;
    /// 1 if the page belongs to a folder: its rows count events that left the window.
    pub const FOLDED: usize = 7;
}

/// Arrays: rows of two words, [`COUNT`] and [`FAILED_PANICKED`], for calls that are only counted.
///
/// A row is found without a search: its key is its index, or one of the few in a bucket. Rows with
/// a count of 0 are unused.
pub mod array {
    use super::{ROW_WORDS, first};

    /// Words of a row.
    pub const WORDS: usize = 2;
    /// Keys of a bucket; as many rows follow them.
    pub const KEYS: usize = 4;
    /// Words of a bucket.
    pub const BUCKET_WORDS: usize = KEYS * (1 + WORDS);

    /// How the rows of an array are found.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Shape {
        /// By their index: that many rows, for the keys from 0 on.
        Dense(usize),
        /// By the key's bucket: that many, a power of two.
        Buckets(usize),
    }

    impl Shape {
        /// From the words of a header; `None` if the page is no array.
        pub fn read(length: u64, buckets: u64) -> Option<Self> {
            match (usize::try_from(length).ok()?, usize::try_from(buckets).ok()?) {
                (0, 0) => None,
                (0, buckets) => Some(Shape::Buckets(buckets)),
                (length, _) => Some(Shape::Dense(length)),
            }
        }

        /// Returns its length in units of the words of a row; `None` if no page is as large.
        pub fn units(self) -> Option<usize> {
            let words = match self {
                Shape::Dense(length) => length.checked_mul(WORDS),
                Shape::Buckets(buckets) => buckets.checked_mul(BUCKET_WORDS),
            };
            Some(words?.div_ceil(ROW_WORDS))
        }

        /// Its rows, each with its key: places behind the header.
        pub fn rows(self) -> impl Iterator<Item = (Key, usize)> {
            let (rows, keys, words) = match self {
                Shape::Dense(length) => (length, 1, WORDS),
                Shape::Buckets(buckets) => (buckets, KEYS, BUCKET_WORDS),
            };
            let first = words - keys * WORDS;
            let all = (0..rows)
                .flat_map(move |row| (0..keys).map(move |key| row * words + first + key * WORDS));
            all.filter_map(move |at| Some((self.key_of(at)?, at)))
        }

        /// The key of the row at a place behind the header.
        pub fn key_of(self, row: usize) -> Option<Key> {
            match self {
                Shape::Dense(_) => Some(Key::Is((row / WORDS) as u64)),
                Shape::Buckets(_) => {
                    let place = (row % BUCKET_WORDS).checked_sub(KEYS)? / WORDS;
                    Some(Key::At(row / BUCKET_WORDS * BUCKET_WORDS + place))
                }
            }
        }
    }

    /// The key of a row in an array.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Key {
        /// This one.
        Is(u64),
        /// The word at this place.
        At(usize),
    }

    /// The bucket of a key, in an array of `1 << bits` buckets, at least two.
    #[inline(always)]
    pub const fn bucket(key: u64, who: u64, bits: u32) -> usize {
        first(key, who, bits)
    }

    /// The word of a free place in a bucket: a key that belongs to another one. In a new array,
    /// only the bucket of key 0 must be written.
    pub fn free_key(bucket_at: usize, who: u64, bits: u32) -> u64 {
        (0..).find(|&key| bucket(key, who, bits) != bucket_at).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_its_key() {
        let who = Who { site: 0xF_FFFF, kind: 9, epoch: 0x1FF_FFFF, meta: true, lost: true };
        assert_eq!(Who::unpack(who.pack()), who);
        assert_eq!(Who::with_kind(Who { kind: 0, ..who }.pack(), 9), who.pack());
        assert_eq!(Who::unpack(Who { epoch: epoch(u32::MAX), ..who }.pack()), who);
        let last = slot::ended(7, slot::flags(3, true));
        let of_block = Who::of_event(0, 5, 0).pack();
        assert_eq!(Who::with_event(of_block, 9, last), Who::of_event(9, 5, last).pack());
        assert_ne!(Who { site: 0, kind: 0, epoch: 0, meta: false, lost: false }.pack(), 0);
    }

    #[test]
    fn a_free_place_has_a_key_of_another_bucket() {
        for bits in 1..8 {
            let taken = (0..1 << bits)
                .filter(|&at| array::bucket(array::free_key(at, 7, bits), 7, bits) == at);
            assert_eq!(taken.count(), 0);
            let not_zero = (0..1 << bits).filter(|&at| array::free_key(at, 7, bits) != 0);
            assert_eq!(
                not_zero.collect::<Vec<_>>(),
                [array::bucket(0, 7, bits)],
                "others need no write"
            );
        }
    }

    #[test]
    fn rows_of_arrays_do_not_overlap() {
        use array::{Key, Shape};
        for shape in [Shape::Dense(16), Shape::Buckets(4)] {
            let mut words: Vec<usize> = Vec::new();
            for (key, row) in shape.rows() {
                words.extend(if let Key::At(at) = key { Some(at) } else { None });
                words.extend(row..row + array::WORDS);
            }
            words.sort_unstable();
            assert!(words.windows(2).all(|pair| pair[0] < pair[1]), "{words:?}");
            assert!(words.last() < shape.units().map(|units| units * ROW_WORDS).as_ref());
        }
    }

    #[test]
    fn outcomes_are_counted_apart_until_a_half_is_full() {
        let outcomes = [
            Outcome::Failed,
            Outcome::Panicked,
            Outcome::Cancelled,
            Outcome::Returned,
            Outcome::Succeeded,
        ];
        let mut row = (0, 0);
        let mut model = [0_u32; 3];
        for (number, outcome) in outcomes.into_iter().cycle().take(53).enumerate() {
            let more = outcome_words(outcome);
            row = (row.0 + more.0, row.1 + more.1);
            if let Some(count) = model.get_mut(number % outcomes.len()) {
                *count += 1;
            }
            assert!(has_room(row.0, row.1));
        }
        let [failed, panicked, cancelled] = model;
        assert_eq!(row, (crate::join(failed, panicked), crate::join(cancelled, 0)));
        let half = 1 << 31;
        for (low, high) in [(half, 0), (0, half)] {
            let full = crate::join(low, high);
            assert!(!has_room(full, 0) && !has_room(0, full));
            assert!(has_room(crate::join(half - 1, half - 1), crate::join(half - 1, half - 1)));
        }
    }

    #[test]
    fn each_part_of_a_row_distinguishes_it() {
        let who = Who { site: 5, kind: 9, epoch: 3, meta: false, lost: false };
        let others = [
            Who { site: 4, ..who },
            Who { epoch: 2, ..who },
            Who { meta: true, ..who },
            Who { lost: true, ..who },
        ];
        for other in others {
            assert!(!Who::are_of_site(who.pack(), other.pack()), "{other:?}");
            assert_eq!(Who::unpack(other.pack()), other);
        }
        assert!(Who::are_of_site(who.pack(), Who { kind: 1, ..who }.pack()));
        for epoch in [0, 2, 3, EPOCHS - 1] {
            assert_eq!(Who::began_in(who.pack(), epoch), epoch == 3);
        }
        assert!(Who::began_in(who.pack(), 3 + EPOCHS), "a row knows its epoch modulo their number");
        assert_eq!(
            (epochs_between(EPOCHS - 2, 3), epochs_between(7, 7), epochs_between(3, 9)),
            (5, 0, 6)
        );
        let meta = Who::of_event(5, 3, slot::flags_at_level(1));
        assert_eq!((meta.meta, meta.kind, Who::of_event(5, 3, 9)), (true, 0, who));
    }

    #[test]
    fn time_that_is_counted_once_has_rows_of_its_own() {
        let key = 77;
        let who = Who { site: 5, kind: 9, epoch: 3, meta: true, lost: false };
        for again in [Again::InSite, Again::InSubject, Again::MaybeInSite, Again::MaybeInSubject] {
            let (of, word) = again.row(key, who.pack());
            let (expected, kind) = match again {
                Again::InSite | Again::MaybeInSite => (5, 0),
                Again::InSubject => (77, 9),
                Again::MaybeInSubject => (0, 0),
            };
            assert_eq!(
                (of, Who::unpack(word)),
                (expected, Who { site: again as u32, kind, ..who })
            );
            assert_eq!(Again::from_site(Who::unpack(word).site), Some(again));
        }
        assert_eq!([0, 5, 0xF_FFEF, 0xF_FFF4].map(Again::from_site), [None; 4]);
    }

    #[test]
    fn the_search_for_a_row_begins_inside_the_table() {
        for bits in 1..16 {
            let mut begun = vec![false; 1 << bits];
            (0..16 << bits).for_each(|key| begun[first(key, 7, bits)] = true);
            assert!(
                begun.iter().all(|is| *is),
                "every row of {bits} bits is found without a search by some key"
            );
        }
        assert_ne!(first(1, 7, 16), first(1, 8, 16));
    }
}
