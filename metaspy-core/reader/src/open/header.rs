//! The first page of a recording as values, and the places of its tables.

use serde::Serialize;

use metaspy_format::Policy;
use metaspy_format::superblock as sb;
use metaspy_format::{BLOCK_BYTES, CHUNK_BLOCKS, Words, high, low};

/// How a recording ended, or that it has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndState {
    /// It has not ended: its process still records.
    Live,
    /// Its process closed it.
    Closed,
    /// Its process is gone and did not close it.
    Killed,
    /// This is a copy that was made while the recording was being written. The copy does not change.
    Snapshot,
}

/// The first page of a recording (the superblock) by value.
///
/// Each field has the name and the meaning of a word in [`metaspy_format::superblock`].
#[derive(Clone, Copy, Debug, Serialize)]
#[allow(missing_docs, reason = "`format::superblock` documents each word")]
pub struct Header {
    pub major: u32,
    pub minor: u32,
    pub state: u64,
    pub total_bytes: u64,
    pub blocks: u64,
    pub grown: u64,
    pub fresh: u64,
    pub policy: Policy,
    pub budget: u64,
    pub pid: u32,
    pub started_ns: u64,
    pub clock: u64,
    pub ticks_per_s: u64,
    pub first_tick: u64,
    pub last_tick: u64,
    pub process_start: u64,
    pub epoch: u32,
    pub lanes_used: u64,
    pub tally_used: u64,
    pub folded: u64,
    pub reentrant: u64,
    pub unnamed: u64,
    pub clock_behind: u64,
    pub arena_lost: u64,
    pub details_cut: u64,
    pub handler_panics: u64,
    pub out_of_order: u64,
    pub marks_lost: u64,
    pub fold_done: u64,
    pub moved: u64,
    pub late_ends: u64,
    pub others: u64,
    pub remote_malformed: u64,
    pub profiles_lost: u64,
    /// The exit status of the process. `None` if the recording was not closed by the exit of its process, or if the
    /// system does not report the status.
    pub exit: Option<u8>,
}

impl Header {
    /// Reads the first page.
    pub fn read(words: Words<'_>) -> Self {
        let word = |at| words.get(at);
        let version = word(sb::VERSION);
        Header {
            major: high(version),
            minor: low(version),
            state: words.acquire(sb::STATE),
            total_bytes: word(sb::TOTAL_BYTES),
            blocks: word(sb::BLOCKS),
            grown: word(sb::GROWN),
            fresh: words.acquire(sb::FRESH),
            policy: match word(sb::POLICY) {
                1 => Policy::KeepOldest,
                2 => Policy::Grow,
                _ => Policy::KeepNewest,
            },
            budget: word(sb::BUDGET),
            pid: word(sb::PID) as u32,
            started_ns: word(sb::STARTED_NS),
            clock: word(sb::CLOCK),
            ticks_per_s: word(sb::TICKS_PER_S),
            first_tick: word(sb::FIRST_TICK),
            last_tick: word(sb::LAST_TICK),
            process_start: word(sb::PROCESS_START),
            epoch: word(sb::EPOCH) as u32,
            lanes_used: word(sb::LANES_USED),
            tally_used: word(sb::TALLY_USED),
            folded: word(sb::FOLDED),
            reentrant: word(sb::REENTRANT),
            unnamed: word(sb::UNNAMED),
            clock_behind: word(sb::CLOCK_BEHIND),
            arena_lost: word(sb::ARENA_LOST),
            details_cut: word(sb::DETAILS_CUT),
            handler_panics: word(sb::HANDLER_PANICS),
            out_of_order: word(sb::OUT_OF_ORDER),
            marks_lost: word(sb::MARKS_LOST),
            fold_done: word(sb::FOLD_DONE),
            moved: word(sb::MOVED),
            late_ends: word(sb::LATE_ENDS),
            others: word(sb::OTHERS),
            remote_malformed: word(sb::REMOTE_MALFORMED),
            profiles_lost: word(sb::PROFILES_LOST),
            exit: word(sb::EXIT).checked_sub(1).map(|status| status as u8),
        }
    }
}

/// The place of a table in words, clipped to the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its first word.
    pub at: usize,
    /// Its words.
    pub len: usize,
}

impl Table {
    /// Reads the byte offset and the length at the words `at` and `at + 1`. The part outside the region is cut off.
    fn read(words: Words<'_>, at: usize) -> Self {
        let (offset, bytes) = (words.get(at), words.get(at + 1));
        let from = usize::try_from(offset / 8).unwrap_or(usize::MAX).min(words.len());
        let len = usize::try_from(bytes / 8).unwrap_or(usize::MAX).min(words.len() - from);
        match offset % 8 {
            0 => Table { at: from, len },
            _ => Table { at: from, len: 0 },
        }
    }

    /// The table's words.
    pub fn of(self, words: Words<'_>) -> Words<'_> {
        words.slice(self.at, self.len)
    }
}

/// The places of all tables. They never change while a recording grows; only the used part of each table does.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Calibration pairs.
    pub calibration: Table,
    /// Chunk summaries.
    pub summaries: Table,
    /// The fold's journal.
    pub journal: Table,
    /// Lanes.
    pub lanes: Table,
    /// The arena.
    pub arena: Table,
    /// Tally pages.
    pub pages: Table,
    /// The fold table.
    pub tally: Table,
    /// Pages of profile tables.
    pub profiles: Table,
    /// The blocks.
    pub chunks: Table,
    /// Places of the ring; never 0.
    pub blocks: u64,
}

/// The largest accepted number of places. Larger numbers would overflow the arithmetic of ids.
const BLOCKS_MAX: u64 = 1 << 40;

impl Layout {
    /// Reads the places of the tables; `None` if the number of blocks is impossible.
    pub fn read(words: Words<'_>) -> Option<Self> {
        let blocks = words.get(sb::BLOCKS);
        (1..=BLOCKS_MAX).contains(&blocks).then(|| Layout {
            calibration: Table::read(words, sb::CALIBRATION),
            summaries: Table::read(words, sb::SUMMARIES),
            journal: Table::read(words, sb::JOURNAL),
            lanes: Table::read(words, sb::LANES),
            arena: Table::read(words, sb::ARENA),
            pages: Table::read(words, sb::PAGES),
            tally: Table::read(words, sb::TALLY),
            profiles: Table::read(words, sb::PROFILES),
            chunks: Table::read(words, sb::CHUNKS),
            blocks,
        })
    }

    /// Sentences about the tables and blocks that the first page announces and the region does not hold.
    pub fn missing(&self, words: Words<'_>) -> Vec<String> {
        let tables = [
            ("calibration pairs", sb::CALIBRATION, self.calibration),
            ("chunk summaries", sb::SUMMARIES, self.summaries),
            ("journal of the fold", sb::JOURNAL, self.journal),
            ("lanes", sb::LANES, self.lanes),
            ("names and labels", sb::ARENA, self.arena),
            ("tallies of the lanes", sb::PAGES, self.pages),
            ("tallies of folded events", sb::TALLY, self.tally),
            ("tables of profilers", sb::PROFILES, self.profiles),
        ];
        let mut missing = Vec::new();
        for (name, at, table) in tables {
            let bytes = words.get(at + 1);
            let held = table.len as u64 * 8;
            if held < bytes / 8 * 8 {
                missing.push(format!("the {name}: {held} of {bytes} bytes are there"));
            }
        }
        let (taken, held) = (words.get(sb::FRESH).min(self.blocks), self.whole_blocks());
        if held < taken {
            let bytes = taken.saturating_mul(BLOCK_BYTES as u64).saturating_sub(self.chunks.len as u64 * 8);
            missing.push(format!(
                "{} of {taken} blocks of events are not there, or not whole: the file ends {bytes} bytes too early",
                taken - held
            ));
        }
        missing
    }

    /// Missing bytes behind the last used block.
    pub fn unused_cut(&self, words: Words<'_>) -> u64 {
        let taken = words.get(sb::FRESH).min(self.blocks);
        let allocated = words.get(sb::GROWN).min(self.blocks);
        if self.whole_blocks() < taken {
            return 0;
        }
        allocated.saturating_mul(BLOCK_BYTES as u64).saturating_sub(self.chunks.len as u64 * 8)
    }

    /// Whole blocks in the region.
    fn whole_blocks(&self) -> u64 {
        self.chunks.len as u64 / (BLOCK_BYTES as u64 / 8)
    }

    /// Places that may hold a block now: the used places, as far as the region reaches.
    pub fn places(&self, words: Words<'_>) -> u64 {
        let held = (self.chunks.len as u64).div_ceil(BLOCK_BYTES as u64 / 8);
        words.acquire(sb::FRESH).min(self.blocks).min(held)
    }

    /// Chunks that may hold events now.
    pub fn chunks(&self, words: Words<'_>) -> u64 {
        self.places(words).div_ceil(CHUNK_BLOCKS as u64)
    }
}
