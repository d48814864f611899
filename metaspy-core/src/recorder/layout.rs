//! The places of all tables in a recording of a given budget.

use crate::format::Policy;
use crate::format::arena::Entry;
use crate::format::superblock as sb;
use crate::format::{BLOCK_BYTES, CHUNK_BLOCKS, CHUNK_BYTES, row, summary};

const _: () = assert!(Entry::Site as u8 == 1);

/// A table: byte offset and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub offset: usize,
    pub bytes: usize,
}

impl Table {
    /// The table's first word.
    pub fn word(self) -> usize {
        self.offset / 8
    }
}

/// The tables of a recording, and how many blocks follow them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub calibration: Table,
    pub summaries: Table,
    pub journal: Table,
    pub lanes: Table,
    pub arena: Table,
    pub pages: Table,
    pub tally: Table,
    pub profiles: Table,
    pub chunks: Table,
    pub blocks: u64,
    pub total_bytes: usize,
}

/// The smallest budget. With less, the tables would leave no room for events.
pub(crate) const SMALLEST: u64 = 1 << 20;
/// The largest budget: 1 TiB.
pub(crate) const LARGEST: u64 = 1 << 40;

/// A note for a budget that is out of range.
pub(crate) fn other_budget(wanted: u64) -> Option<String> {
    match wanted {
        ..SMALLEST => Some(format!("The budget of {wanted} bytes is below the minimum; this recording takes 1 MiB.")),
        SMALLEST..=LARGEST => None,
        _ => Some(format!("The budget of {wanted} bytes is above the maximum; this recording takes 1 TiB.")),
    }
}

/// Blocks folded at once at most: the journal has room for a row of each of their events.
pub(crate) const FOLD_BLOCKS: usize = 32;

impl Layout {
    /// The layout for `budget` bytes. A growing log has `budget` bytes of blocks beside tables of a fixed size.
    /// Other logs fit into their budget as a whole.
    pub fn new(budget: u64, policy: Policy) -> Self {
        let budget = budget.clamp(SMALLEST, LARGEST) as usize;
        // Tables are sized for the part of a growing log that stays in use.
        let tables = budget.min(256 << 20);
        let lanes = (tables / BLOCK_BYTES / 2).clamp(64, 16 * 1024);
        // Half the table stays free, because it uses open addressing.
        let tally_rows = (tables / 8 / (row::ROW_WORDS * 8)).next_power_of_two() / 2;
        let fold_events = FOLD_BLOCKS * 127;
        let journal = (sb::journal::HEADER_WORDS + FOLD_BLOCKS + fold_events * (1 + row::ROW_WORDS)) * 8;
        let mut end = sb::BYTES;
        let mut table = |bytes: usize| after(&mut end, bytes);
        let calibration = table(sb::calibration::CAPACITY.min(tables / 2048) * sb::calibration::WORDS * 8);
        let journal = table(journal.min(tables / 4));
        let lanes = table(lanes * sb::lane::WORDS * 8);
        // Labels and relations do not shrink with the budget, but the smallest recordings must still hold events.
        let arena = table(if tables < 4 << 20 { tables / 16 } else { tables / 10 });
        let pages = table(tables / 16);
        let tally = table(tally_rows * row::ROW_WORDS * 8);
        let profiles = table(if tables < 4 << 20 { tables / 32 } else { tables / 16 });
        // Each chunk costs its summary too; a growing log spends the whole budget on chunks.
        let room = if policy == Policy::Grow { budget } else { budget.saturating_sub(end) };
        let chunks = (room / (CHUNK_BYTES + summary::SUMMARY_WORDS * 8)).max(1);
        let summaries = after(&mut end, chunks * summary::SUMMARY_WORDS * 8);
        let offset = end.next_multiple_of(CHUNK_BYTES.min(budget / 8).max(4096));
        let bytes = chunks * CHUNK_BYTES;
        Layout {
            calibration,
            summaries,
            journal,
            lanes,
            arena,
            pages,
            tally,
            profiles,
            chunks: Table { offset, bytes },
            blocks: (chunks * CHUNK_BLOCKS) as u64,
            total_bytes: offset + bytes,
        }
    }

    /// Bytes before the first block.
    pub fn table_bytes(&self) -> usize {
        self.chunks.offset
    }

    /// The first word of the block at `place`.
    #[inline(always)]
    pub fn block_word(&self, place: u64) -> usize {
        self.chunks.word() + place as usize * (BLOCK_BYTES / 8)
    }

    /// Each table with the superblock word that holds its offset.
    pub fn tables(&self) -> [(usize, Table); 9] {
        [
            (sb::CALIBRATION, self.calibration),
            (sb::SUMMARIES, self.summaries),
            (sb::JOURNAL, self.journal),
            (sb::LANES, self.lanes),
            (sb::ARENA, self.arena),
            (sb::PAGES, self.pages),
            (sb::TALLY, self.tally),
            (sb::PROFILES, self.profiles),
            (sb::CHUNKS, self.chunks),
        ]
    }
}

/// A table after the ones before it.
fn after(end: &mut usize, bytes: usize) -> Table {
    let table = Table { offset: *end, bytes: bytes.next_multiple_of(4096) };
    *end += table.bytes;
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_fits_its_budget_and_spends_most_of_it_on_events() {
        for budget in [1 << 20, 4 << 20, 16 << 20, 256 << 20, 1 << 30] {
            let layout = Layout::new(budget, Policy::KeepNewest);
            assert!(layout.total_bytes as u64 <= budget + (64 << 10), "{budget}: {layout:?}");
            assert!(layout.chunks.bytes as u64 * 2 >= budget, "{budget}: {layout:?}");
        }
    }

    #[test]
    fn two_thousand_threads_find_a_block_each_in_sixteen_mebibytes() {
        let layout = Layout::new(16 << 20, Policy::KeepNewest);
        assert!(layout.blocks > 2_000, "{layout:?}");
        assert!(layout.lanes.bytes / (sb::lane::WORDS * 8) >= 2_000, "{layout:?}");
    }
}
