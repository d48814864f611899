//! The areas of a recording: their names, their places, and their shares of a budget.

use crate::row::ROW_WORDS;
use crate::superblock::{self as sb, Policy};
use crate::{BLOCK_BYTES, CHUNK_BLOCKS, CHUNK_BYTES, Words, folder, summary};

/// The smallest budget. With less, the tables would leave no room for events.
pub const SMALLEST: u64 = 1 << 20;
/// The largest budget: 1 TiB.
pub const LARGEST: u64 = 1 << 40;

/// The share of the budget for the table of kept units: a row for each block.
const KEPT_SHARE: usize = BLOCK_BYTES / (sb::kept::WORDS * 8);

/// Words of a memory page. Each area begins at one.
const PAGE: usize = 4096 / 8;
/// Words of a block.
const BLOCK_WORDS: usize = BLOCK_BYTES / 8;
/// The largest accepted number of places. Larger numbers would overflow the arithmetic of ids.
const BLOCKS_MAX: u64 = 1 << 40;

/// An area: its place in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The first word.
    pub at: usize,
    /// The number of words.
    pub len: usize,
}

impl Area {
    /// An area behind the ones before it.
    pub fn after(end: &mut usize, len: usize) -> Self {
        let at = *end;
        *end = (at + len).next_multiple_of(PAGE);
        Area { at, len }
    }

    /// Reads the byte offset and the length at the words `at` and `at + 1`. The part outside the
    /// recording is cut off.
    fn read(words: Words<'_>, at: usize) -> Self {
        let offset = words.get(at);
        let bytes = words.get(at + 1);
        let from = usize::try_from(offset / 8).unwrap_or(usize::MAX).min(words.len());
        let len = usize::try_from(bytes / 8).unwrap_or(usize::MAX).min(words.len() - from);
        match offset % 8 {
            0 => Area { at: from, len },
            _ => Area { at: from, len: 0 },
        }
    }

    /// Its words.
    pub fn of(self, words: Words<'_>) -> Words<'_> {
        words.slice(self.at, self.len)
    }

    /// Its byte offset.
    pub fn offset(self) -> usize {
        self.at * 8
    }

    /// Its bytes.
    pub fn bytes(self) -> usize {
        self.len * 8
    }
}

macro_rules! areas {
    ($($(#[$doc:meta])* $area:ident: $word:ident, $name:literal;)*) => {
        /// The places of all areas. They never change while a recording grows; only the used part
        /// of each area does. When it is closed, another file with other places may take the place
        /// of its file.
        #[derive(Clone, Copy, Debug)]
        pub struct Layout {
            $($(#[$doc])* pub $area: Area,)*
            /// Places of the ring; never 0.
            pub blocks: u64,
        }

        impl Layout {
            /// Reads the places of the areas; `None` if the number of blocks is impossible.
            pub fn read(words: Words<'_>) -> Option<Self> {
                let blocks = words.get(sb::BLOCKS);
                (1..=BLOCKS_MAX).contains(&blocks).then(|| Layout { $($area: Area::read(words, sb::$word),)* blocks })
            }

            /// Each area, with the word of the superblock that holds its offset, and its name.
            pub fn areas(&self) -> impl Iterator<Item = (usize, &'static str, Area)> {
                [$((sb::$word, $name, self.$area)),*].into_iter()
            }
        }
    };
}

areas! {
    /// Calibration pairs.
    calibration: CALIBRATION, "calibration pairs";
    /// The fold's journal, in recordings before version 1.5.
    journal: JOURNAL, "journal of the fold";
    /// Records of folders, from version 1.5 on.
    folders: FOLDERS, "records of folders";
    /// Lanes.
    lanes: LANES, "lanes";
    /// The arena.
    arena: ARENA, "names";
    /// Statements about subjects, two halves.
    statements: STATEMENTS, "labels and relations";
    /// Tally pages.
    pages: PAGES, "tallies of the lanes";
    /// The fold table.
    tally: TALLY, "tallies of folded events";
    /// Pages of profile tables.
    profiles: PROFILES, "tables of profilers";
    /// Units of kept events; empty without rules.
    kept: KEPT, "kept units";
    /// Chunk summaries.
    summaries: SUMMARIES, "chunk summaries";
    /// The blocks.
    chunks: CHUNKS, "blocks of events";
}

impl Layout {
    /// The layout for `budget` bytes. A growing log has `budget` bytes of blocks beside tables of a
    /// fixed size. Other logs fit into their budget as a whole.
    pub fn new(budget: u64, policy: Policy) -> Self {
        Layout::with_room(budget, policy, 0)
    }

    /// The same with room for this many bytes of names beside those that come while the program
    /// runs. They take at most a quarter of the budget.
    pub fn with_room(budget: u64, policy: Policy, bytes: usize) -> Self {
        let budget = budget.clamp(SMALLEST, LARGEST) as usize;
        // Tables are sized for the part of a growing log that stays in use.
        let tables = budget.min(256 << 20);
        let lanes = (tables / BLOCK_BYTES / 2).clamp(64, 16 * 1024);
        // Half the table stays free, because it uses open addressing.
        let tally_rows = (tables / 8 / (ROW_WORDS * 8)).next_power_of_two() / 2;
        let mut end = sb::BYTES / 8;
        let mut area = |bytes: usize| Area::after(&mut end, bytes.next_multiple_of(4096) / 8);
        let journal = area(0);
        let folders = area(folder::RECORDS * folder::WORDS * 8);
        // With room for the smallest page of threads without a lane. Records of folders refer to
        // rows by their place in the file, so the areas before the pages never move. The smallest
        // recordings have a page for as many threads as others, each with rows of as many sites.
        let pages = area(if tables < 2 << 20 { tables / 8 } else { tables / 16 } + 8192);
        let calibration =
            area(sb::calibration::CAPACITY.min(tables / 2048) * sb::calibration::WORDS * 8);
        let lanes = area(lanes * sb::lane::WORDS * 8);
        // Names and labels do not shrink with the budget, but the smallest recordings must still
        // hold events.
        let (names, half) =
            if tables < 4 << 20 { (tables / 32, tables / 64) } else { (tables / 20, tables / 28) };
        // Other entries than names leave a quarter of the area to names.
        let arena = area(names + bytes.div_ceil(3).saturating_mul(4).min(tables / 4));
        let statements = area(2 * half.next_multiple_of(4096));
        let tally = area(tally_rows * ROW_WORDS * 8);
        let profiles = area(if tables < 4 << 20 { tables / 32 } else { tables / 16 });
        // Each chunk costs its summary too; a growing log spends the whole budget on chunks.
        let kept = area(tables / KEPT_SHARE);
        let room = if policy == Policy::Grow { budget } else { budget.saturating_sub(end * 8) };
        let chunks = (room / (CHUNK_BYTES + summary::SUMMARY_WORDS * 8)).max(1);
        let summaries = Area::after(&mut end, chunks * summary::SUMMARY_WORDS);
        let at = end.next_multiple_of(CHUNK_BYTES.min(budget / 8).max(4096) / 8);
        let (chunks, blocks) =
            (Area { at, len: chunks * CHUNK_BYTES / 8 }, (chunks * CHUNK_BLOCKS) as u64);
        Layout {
            calibration,
            journal,
            folders,
            lanes,
            arena,
            statements,
            pages,
            tally,
            profiles,
            kept,
            summaries,
            chunks,
            blocks,
        }
    }

    /// The half of the statements after this many turns.
    pub fn half(&self, turn: u64) -> Area {
        let len = self.statements.len / 2 / PAGE * PAGE;
        Area { at: self.statements.at + len * (turn % 2) as usize, len }
    }

    /// Bytes of the whole recording.
    pub fn total_bytes(&self) -> usize {
        self.chunks.offset() + self.chunks.bytes()
    }

    /// The first word of the block at `place`.
    #[inline(always)]
    pub fn block_word(&self, place: u64) -> usize {
        self.chunks.at + place as usize * BLOCK_WORDS
    }

    /// Whole blocks in the recording.
    pub fn whole_blocks(&self) -> u64 {
        (self.chunks.len / BLOCK_WORDS) as u64
    }

    /// Places that may hold a block now: the used places, as far as the recording reaches.
    pub fn places(&self, words: Words<'_>) -> u64 {
        let held = self.chunks.len.div_ceil(BLOCK_WORDS) as u64;
        words.acquire(sb::FRESH).min(self.blocks).min(held)
    }

    /// Chunks that may hold events now.
    pub fn chunks(&self, words: Words<'_>) -> u64 {
        self.places(words).div_ceil(CHUNK_BLOCKS as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_fits_its_budget_and_spends_most_of_it_on_events() {
        for budget in [1 << 20, 4 << 20, 16 << 20, 256 << 20, 1 << 30] {
            let layout = Layout::new(budget, Policy::KeepNewest);
            assert!(layout.total_bytes() as u64 <= budget + (64 << 10), "{budget}: {layout:?}");
            assert!(layout.chunks.bytes() as u64 * 2 >= budget, "{budget}: {layout:?}");
        }
    }

    #[test]
    fn names_take_at_most_a_quarter_of_the_budget_more() {
        for (bytes, budget) in
            [(2_500_000, 64 << 20), (usize::MAX, 64 << 20), (usize::MAX, 1 << 20)]
        {
            let plain = Layout::new(budget, Policy::KeepNewest);
            let named = Layout::with_room(budget, Policy::KeepNewest, bytes);
            assert!(named.kept.len as u64 / sb::kept::WORDS as u64 >= named.blocks, "{named:?}");
            let more = named.arena.bytes() - plain.arena.bytes();
            assert!(
                more >= bytes.min(budget as usize / 4)
                    && more <= bytes.saturating_mul(2).min(budget as usize / 4 + 4096)
            );
            assert!(named.total_bytes() as u64 <= budget + (64 << 10), "{named:?}");
            assert!(named.blocks > 0, "{named:?}");
        }
    }

    #[test]
    fn no_area_overlaps_another() {
        for budget in [1 << 20, 16 << 20, 256 << 20] {
            let layout = Layout::with_room(budget, Policy::KeepNewest, 100_000);
            let mut areas: Vec<Area> = layout.areas().map(|(_, _, area)| area).collect();
            areas.sort_by_key(|area| area.at);
            assert!(
                areas.windows(2).all(|pair| pair[0].at + pair[0].len <= pair[1].at),
                "{budget}: {layout:?}"
            );
        }
    }

    #[test]
    fn two_thousand_threads_find_a_block_each_in_sixteen_mebibytes() {
        let layout = Layout::new(16 << 20, Policy::KeepNewest);
        assert!(layout.blocks > 2_000, "{layout:?}");
        assert!(layout.lanes.len / sb::lane::WORDS >= 2_000, "{layout:?}");
    }

    #[test]
    fn the_places_of_areas_are_read_as_they_were_written() {
        use std::sync::atomic::AtomicU64;

        let layout = Layout::new(SMALLEST, Policy::KeepNewest);
        let mut words = vec![0; layout.total_bytes() / 8];
        words[sb::BLOCKS] = layout.blocks;
        for (word, _, area) in layout.areas() {
            (words[word], words[word + 1]) = (area.offset() as u64, area.bytes() as u64);
        }
        let read = |words: &[u64]| {
            let cells: Vec<AtomicU64> = words.iter().copied().map(AtomicU64::new).collect();
            Layout::read(Words::from_slice(&cells))
        };
        let areas =
            |layout: Option<Layout>| layout.map(|layout| layout.areas().collect::<Vec<_>>());
        assert_eq!(areas(read(&words)), areas(Some(layout)));
        // A recording that was cut has the part of an area before the cut.
        let cut = layout.tally.at + 5;
        let short = read(&words[..cut]).expect("the number of blocks is there");
        assert_eq!((short.pages, short.tally.len, short.chunks.len), (layout.pages, 5, 0));
        words[sb::TALLY] += 1;
        assert_eq!(read(&words).map(|layout| layout.tally.len), Some(0), "no word begins there");
        words[sb::BLOCKS] = 0;
        assert!(read(&words).is_none());
    }

    #[test]
    fn statements_take_turns_in_two_halves() {
        let layout = Layout::new(16 << 20, Policy::KeepNewest);
        let first = layout.half(0);
        let second = layout.half(1);
        assert_eq!((first.at, first.len), (layout.statements.at, second.len));
        assert!(first.at + first.len <= second.at);
        assert!(second.at + second.len <= layout.statements.at + layout.statements.len);
        assert_eq!((layout.half(6), layout.half(7)), (first, second));
    }
}
