//! A folder adds the events of blocks to rows, one event after another.
//!
//! The collector has one, and the lanes share the others. Each has rows and a record of its own, so that folders never
//! wait for each other. A lane that finds none free loses its event, as it does if it finds no block. [`crate::format::folder`] describes the record, which makes a fold safe against a kill at any
//! instruction.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::event::Outcome;
use crate::format::folder::{self, ALL, Cursor, NOTE_WORDS};
use crate::format::layout::Layout;
use crate::format::row::{self, ROW_WORDS, Who};
use crate::format::slot::{self, FIRST_MARK, Mark, SPAN_MAX};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, Words, header, superblock as sb};
use crate::recorder::boundaries::{Boundaries, merged_epoch};
use crate::recorder::fold_rows::FoldRows;
use crate::recorder::merged_rows::merge_epochs;
use crate::recorder::protocol::{begin_step, evict};
use crate::recorder::tables::Tables;

/// Rows are prefetched this many slots ahead.
const AHEAD: usize = 8;

/// Rows, and the position in the recording.
pub(super) struct Folder {
    /// The first word of the record.
    record: usize,
    rows: FoldRows,
    /// The note that is written next.
    note: usize,
    folded: u64,
    /// Rows merged so far.
    merged: u64,
}

/// What an event adds to its row.
#[derive(Clone, Copy, Default)]
struct Addition {
    count: u64,
    failed_panicked: u64,
    cancelled_running: u64,
    /// Timed calls, 0 or 1.
    timed: u64,
    ticks: u64,
    /// The length of the whole call.
    longest: u64,
}

impl Folder {
    /// The folder with this number. Number 0 has the fold table.
    pub fn new(layout: &Layout, number: usize) -> Self {
        let rows = if number == 0 { FoldRows::of_table(layout.tally) } else { FoldRows::in_pages() };
        Folder { record: layout.folders.at + number * folder::WORDS, rows, note: 0, folded: 0, merged: 0 }
    }

    /// True if it has rows, or room to make some.
    pub fn begin(&mut self, tables: Tables<'_>) -> bool {
        self.rows.begin(tables)
    }

    /// Events folded so far.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Merges rows of epochs that no view distinguishes, before a block is folded.
    fn merge_epochs(&mut self, tables: Tables<'_>) {
        let Some((first, rows)) = self.rows.to_merge() else { return };
        let Some(boundaries) = Boundaries::now() else { return };
        // Only a folder adds to its rows, so those that the first turn empties are freed at once.
        merge_epochs(tables, self, &boundaries, first, rows);
        let merged = merge_epochs(tables, self, &boundaries, first, rows);
        self.rows.merged(tables, &merged);
    }

    /// Adds the events of a block to the rows, and moves running ones out of the window. Returns true if the block holds
    /// bytes that a later lap could mistake for a commit word.
    pub fn fold(&mut self, tables: Tables<'_>, block: &[AtomicU64]) -> bool {
        self.merge_epochs(tables);
        if self.rows.are_many() {
            self.fold_slots::<true>(tables, block)
        } else {
            self.fold_slots::<false>(tables, block)
        }
    }

    #[inline(always)]
    fn fold_slots<const PREFETCHED: bool>(&mut self, tables: Tables<'_>, block: &[AtomicU64]) -> bool {
        let slots: &[[AtomicU64; SLOT_WORDS]; BLOCK_SLOTS] =
            block.as_chunks().0.try_into().expect("a block has its size");
        let sequence = slots[0][header::SEQUENCE].load(Relaxed);
        let epoch = merged_epoch(header::epoch(slots[0][header::LANE_EPOCH].load(Relaxed)));
        let lap = header::lap_byte(sequence, tables.layout.blocks);
        let mut holds_text = false;
        let mut at = 1;
        while at < BLOCK_SLOTS {
            let slot = &slots[at];
            let commit = slot[0].load(Acquire);
            if slot::lap(commit) != lap {
                break;
            }
            let cursor = Cursor { sequence, slot: at, note: self.note };
            let site = slot::site(commit);
            if site >= FIRST_MARK {
                if site == Mark::Detail as u32 {
                    holds_text = true;
                    at += slot::detail_slots(slot::Commit::unpack(commit).start as usize);
                    continue;
                }
                let span = slot[2].load(Relaxed);
                if site == Mark::End as u32 && span > SPAN_MAX {
                    self.add_rest(tables, cursor, slot[1].load(Relaxed), span);
                }
                at += 1;
                continue;
            }
            if PREFETCHED && at + AHEAD < BLOCK_SLOTS {
                let [commit, _, key, last] = slots[at + AHEAD].each_ref().map(|word| word.load(Relaxed));
                let who = Who::of_event(slot::site(commit), epoch, last).pack();
                Words::from_slice(tables.cells).prefetch(self.rows.probably(key, who));
            }
            let last = evict(&slot[3]);
            let key = slot[2].load(Relaxed);
            let who = Who::of_event(site, epoch, last).pack();
            self.add(tables, cursor, key, who, addition(last));
            if slot::is_running(last) {
                tables.count(sb::MOVED, 1);
            } else if slot::span(last) == SPAN_MAX {
                tables.cut_spans.note(sequence * BLOCK_SLOTS as u64 + at as u64, (key, who));
            }
            at += 1;
        }
        self.step(tables, Cursor { sequence, slot: ALL, note: self.note }, [0; NOTE_WORDS]);
        holds_text
    }

    /// Adds an event to its row.
    #[inline(always)]
    fn add(&mut self, tables: Tables<'_>, cursor: Cursor, key: u64, who: u64, more: Addition) {
        let mut found = self.rows.find(tables, key, who);
        if more.failed_panicked | more.cancelled_running != 0 && found.is_some_and(|word| !has_room(tables.words(word)))
        {
            found = self.rows.search(tables, key, who);
        }
        let Some(word) = found else {
            // Without a row, not even the site's others row, the event counts as folded only.
            self.step(tables, cursor, [0; NOTE_WORDS]);
            self.folded += more.count;
            return;
        };
        let row = tables.words::<ROW_WORDS>(word);
        let [_, _, count, failed_panicked, cancelled_running, timed, total, max] =
            row.each_ref().map(|word| word.load(Relaxed));
        let note = [word as u64, 0, count, failed_panicked, cancelled_running, timed, total, max];
        self.step(tables, cursor, note);
        self.folded += more.count;
        row[row::COUNT].store(count.wrapping_add(more.count), Relaxed);
        if more.failed_panicked | more.cancelled_running != 0 {
            row[row::FAILED_PANICKED].store(failed_panicked.wrapping_add(more.failed_panicked), Relaxed);
            row[row::CANCELLED_RUNNING].store(cancelled_running.wrapping_add(more.cancelled_running), Relaxed);
        }
        row[row::TIMED].store(timed.wrapping_add(more.timed), Relaxed);
        row[row::TOTAL].store(total.wrapping_add(more.ticks), Relaxed);
        if more.longest > max {
            row[row::MAX].store(more.longest, Relaxed);
        }
    }

    /// Adds a row to another one, and empties it. Only the caller writes to the two.
    pub fn merge(&mut self, tables: Tables<'_>, from: usize, to: usize) {
        let (source, target) = (tables.words::<ROW_WORDS>(from), tables.words::<ROW_WORDS>(to));
        let merged = &tables.cells[self.record + folder::MERGED];
        let [_, _, before @ ..] = target.each_ref().map(|word| word.load(Relaxed));
        let [_, _, more @ ..] = source.each_ref().map(|word| word.load(Relaxed));
        self.merged += 1;
        let sequence = folder::merge_sequence(self.merged);
        let mut note = [to as u64; NOTE_WORDS];
        note[folder::BEFORE..].copy_from_slice(&before);
        self.step(tables, Cursor { sequence, slot: 1, note: self.note }, note);
        merged.store(from as u64, Release);
        for (at, (before, more)) in (row::COUNT..).zip(before.into_iter().zip(more)) {
            let sum = if at == row::MAX { before.max(more) } else { before.wrapping_add(more) };
            target[at].store(sum, Relaxed);
        }
        // From here on the other row has its counts.
        self.step(tables, Cursor { sequence, slot: ALL, note: self.note }, [0; NOTE_WORDS]);
        source[row::COUNT..].iter().for_each(|word| word.store(0, Relaxed));
        merged.store(0, Release);
    }

    /// Moves the cursor, with a note of the row that changes next.
    #[inline(always)]
    fn step(&mut self, tables: Tables<'_>, cursor: Cursor, mut note: [u64; NOTE_WORDS]) {
        note[folder::FOLDED] = self.folded;
        let record = tables.words::<{ folder::WORDS }>(self.record);
        let at = folder::note(self.note);
        let cells = record[at..].first_chunk().expect("a record has two notes");
        begin_step(&record[folder::CURSOR], cursor.pack(), cells, note);
        self.note ^= 1;
    }

    /// Adds the part of a span that did not fit, if the event was folded before.
    #[cold]
    fn add_rest(&mut self, tables: Tables<'_>, cursor: Cursor, event: u64, span: u64) {
        let Some((key, who)) = tables.cut_spans.take(event) else { return };
        self.add(tables, cursor, key, who, Addition { ticks: span - SPAN_MAX, longest: span, ..Addition::default() });
    }
}

/// True if a row takes more outcomes.
fn has_room(row: &[AtomicU64; ROW_WORDS]) -> bool {
    row::has_room(row[row::FAILED_PANICKED].load(Relaxed), row[row::CANCELLED_RUNNING].load(Relaxed))
}

/// What an event with this last word adds.
#[inline(always)]
fn addition(last: u64) -> Addition {
    let mut more = Addition { count: 1, ..Addition::default() };
    if slot::is_running(last) {
        more.cancelled_running = row::ONE_RUNNING;
        return more;
    }
    let outcome = slot::outcome(last);
    (more.failed_panicked, more.cancelled_running) = row::outcome_words(outcome);
    // An instant has no duration.
    if slot::is_timed(last) && outcome != Outcome::Instant {
        (more.timed, more.ticks, more.longest) = (1, slot::span(last), slot::span(last));
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Policy;
    use crate::recorder::cut_spans::CutSpans;

    #[test]
    fn a_row_that_takes_no_more_outcomes_is_followed_by_another_one() {
        let layout = Layout::new(1 << 20, Policy::KeepNewest);
        let cells: Vec<AtomicU64> = (0..layout.total_bytes() / 8).map(|_| AtomicU64::new(0)).collect();
        let tables = Tables { cells: &cells, layout: &layout, cut_spans: &CutSpans::new() };
        let who = Who { site: 1, kind: 1, epoch: 1, meta: false, lost: false }.pack();
        for number in [0, 1] {
            let mut folder = Folder::new(&layout, number);
            assert!(folder.begin(tables));
            let cursor = |folder: &Folder| Cursor { sequence: 1, slot: 1, note: folder.note };
            let outcome = |outcome| {
                let (failed_panicked, cancelled_running) = row::outcome_words(outcome);
                Addition { count: 1, failed_panicked, cancelled_running, ..Addition::default() }
            };
            let at = cursor(&folder);
            folder.add(tables, at, 7, who, outcome(Outcome::Failed));
            let first = folder.rows.find(tables, 7, who).expect("it was made");
            // As after 2^31 failed calls.
            cells[first + row::FAILED_PANICKED].store(1 << 31, Relaxed);
            for more in [Outcome::Failed, Outcome::Returned, Outcome::Panicked] {
                let at = cursor(&folder);
                folder.add(tables, at, 7, who, outcome(more));
            }
            let second = folder.rows.search(tables, 7, who).expect("it was made");
            let words = |row: usize| [row::COUNT, row::FAILED_PANICKED].map(|word| cells[row + word].load(Relaxed));
            assert_eq!((words(first), words(second)), ([2, 1 << 31], [2, 1 << 32 | 1]), "folder {number}");
        }
    }
}
