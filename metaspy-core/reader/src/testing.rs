//! Writer for tests. It builds a recording word by word, from [`metaspy_format`] alone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use memmap2::MmapOptions;

use crate::Store;
use crate::event::{EventId, Outcome};
use crate::ring::blocks::BLOCK_WORDS;
use metaspy_format::arena::{Entry, head, push_text};
use metaspy_format::folder::{self, Cursor};
use metaspy_format::row::{COUNT, ROW_WORDS, page};
use metaspy_format::slot::{self, Commit, Flags, Mark};
use metaspy_format::superblock as sb;
use metaspy_format::{BLOCK_SLOTS, CHUNK_BLOCKS, Region, SLOT_WORDS, header, join, summary};
use metaspy_probe::{SiteKind, Subject};

/// Number of words of each small table.
const TABLE: usize = 4096;

/// Recording under construction.
pub struct Writer {
    region: Region,
    blocks: u64,
    /// Block of each lane: sequence and next slot.
    lanes: HashMap<u32, (u64, usize)>,
    next: u64,
    /// Epoch of the blocks that are begun.
    pub epoch: u32,
}

/// Event to write.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "each field is that of an event")]
pub struct Draft {
    pub lane: u32,
    pub site: u32,
    pub subject: Subject,
    pub start: u64,
    /// Duration; `None` = the event still runs.
    pub span: Option<u64>,
    pub cause: Option<EventId>,
    pub outcome: Outcome,
    pub level: u8,
    pub timed: bool,
}

impl Default for Draft {
    fn default() -> Self {
        Draft {
            lane: 0,
            site: 1,
            subject: Subject::NONE,
            start: 0,
            span: Some(1),
            cause: None,
            outcome: Outcome::Returned,
            level: 0,
            timed: true,
        }
    }
}

impl Writer {
    /// Creates a recording with room for this many chunks.
    pub fn new(chunks: u64) -> Self {
        let blocks = chunks * CHUNK_BLOCKS as u64;
        let tables = 512 + 8 * TABLE;
        let words = tables + blocks as usize * BLOCK_WORDS;
        let map = MmapOptions::new().len(words * 8).map_anon().expect("memory").into();
        let writer = Writer {
            region: Region::writable(map),
            blocks,
            lanes: HashMap::new(),
            next: blocks,
            epoch: 1,
        };
        let mut at = 512;
        for table in [
            sb::CALIBRATION,
            sb::SUMMARIES,
            sb::JOURNAL,
            sb::LANES,
            sb::ARENA,
            sb::PAGES,
            sb::TALLY,
        ] {
            writer.set(table, at as u64 * 8);
            writer.set(table + 1, TABLE as u64 * 8);
            at += TABLE;
        }
        // Only some recordings have the table of folders' records.
        at += TABLE;
        writer.set(sb::CHUNKS, at as u64 * 8);
        writer.set(sb::CHUNKS + 1, blocks * 4096);
        writer.set(sb::BLOCKS, blocks);
        writer.set(sb::GROWN, blocks);
        writer.set(sb::TOTAL_BYTES, words as u64 * 8);
        writer.set(sb::VERSION, join(0, sb::MAJOR));
        writer.set(sb::STATE, sb::STATE_CLOSED);
        writer.set(sb::TICKS_PER_S, 1_000_000_000);
        writer.set(sb::MAGIC, sb::MAGIC_WORD);
        writer
    }

    fn cells(&self) -> &[AtomicU64] {
        self.region.cells().expect("it is writable")
    }

    /// Sets a word of the recording.
    pub fn set(&self, at: usize, word: u64) {
        self.cells()[at].store(word, Relaxed);
    }

    /// Reads a word of the recording.
    pub fn get(&self, at: usize) -> u64 {
        self.cells()[at].load(Relaxed)
    }

    /// Returns the first word of a table.
    pub fn table(&self, table: usize) -> usize {
        self.get(table) as usize / 8
    }

    /// Returns all words, as in a file.
    pub fn bytes(&self) -> Vec<u8> {
        self.cells().iter().flat_map(|cell| cell.load(Relaxed).to_le_bytes()).collect()
    }

    /// Opens the recording for reading.
    pub fn store(&self) -> Store {
        Store::from_region(self.region.clone()).expect("a sound recording")
    }

    /// Appends an entry to the arena.
    pub fn entry(&self, entry: Entry, a: u32, words: &[u64], texts: &[&str]) {
        let mut all = vec![0];
        all.extend(words);
        texts.iter().for_each(|text| push_text(&mut all, text));
        all[0] = head(entry, all.len(), a);
        let used = self.get(sb::ARENA_USED) as usize;
        for (at, word) in all.iter().enumerate() {
            self.set(self.table(sb::ARENA) + used + at, *word);
        }
        self.set(sb::ARENA_USED, (used + all.len()) as u64);
    }

    /// Names a method.
    pub fn site(&self, id: u32, path: &str) {
        self.site_of_kind(id, path, SiteKind::Method);
    }

    /// Names a site of a kind.
    pub fn site_of_kind(&self, id: u32, path: &str, kind: SiteKind) {
        self.site_in("", id, path, kind);
    }

    /// Names a site of a kind in a module, with which its path begins.
    pub fn site_in(&self, module: &str, id: u32, path: &str, kind: SiteKind) {
        let words = [join(kind as u32, 7), join(9, module.len() as u32)];
        self.entry(Entry::Site, id, &words, &[path, "src/lib.rs", ""]);
    }

    /// Names a lane.
    pub fn lane(&self, id: u32, name: &str) {
        let at = self.table(sb::LANES) + id as usize * sb::lane::WORDS;
        self.set(at + sb::lane::STATE, 1);
        let mut bytes = [0; 8];
        bytes[..name.len().min(8)].copy_from_slice(&name.as_bytes()[..name.len().min(8)]);
        self.set(at + sb::lane::NAME, u64::from_le_bytes(bytes));
        self.set(sb::LANES_USED, self.get(sb::LANES_USED).max(u64::from(id) + 1));
    }

    /// Returns the first word of a block.
    pub fn block(&self, sequence: u64) -> usize {
        self.table(sb::CHUNKS) + header::place(sequence, self.blocks) as usize * BLOCK_WORDS
    }

    /// Moves a lane to a new block.
    pub fn turn(&mut self, lane: u32, base: u64) {
        let sequence = self.next;
        self.next += 1;
        self.turn_to(sequence, lane, base);
    }

    /// Moves a lane to the block with this sequence.
    pub fn turn_to(&mut self, sequence: u64, lane: u32, base: u64) {
        let block = self.block(sequence);
        for slot in 1..BLOCK_SLOTS {
            self.set(block + slot * SLOT_WORDS, 0);
        }
        self.set(block + header::LANE_EPOCH, header::lane_epoch(lane, self.epoch));
        self.set(block + header::BASE, base);
        self.set(block + header::SEQUENCE, sequence);
        self.set(sb::FRESH, self.get(sb::FRESH).max(header::place(sequence, self.blocks) + 1));
        self.lanes.insert(lane, (sequence, 1));
    }

    /// Returns the next `slots` slots of a lane: their first word, sequence and slot.
    fn room(&mut self, lane: u32, slots: usize, tick: u64) -> (usize, u64, usize) {
        if self.lanes.get(&lane).is_none_or(|(_, slot)| slot + slots > BLOCK_SLOTS) {
            self.turn(lane, tick);
        }
        let (sequence, slot) = self.lanes[&lane];
        self.lanes.insert(lane, (sequence, slot + slots));
        (self.block(sequence) + slot * SLOT_WORDS, sequence, slot)
    }

    fn commit(&self, at: usize, sequence: u64, start: u64, site: u32) {
        let lap = header::lap_byte(sequence, self.blocks);
        self.set(at, Commit { start, site, lap }.pack());
    }

    /// Writes an event.
    pub fn event(&mut self, draft: Draft) -> EventId {
        let (at, sequence, slot) = self.room(draft.lane, 1, draft.start);
        let base = self.get(self.block(sequence) + header::BASE);
        let Draft { outcome, level, timed, .. } = draft;
        let outcome = if draft.span.is_some() { outcome } else { Outcome::Running };
        let flags = Flags { kind: draft.subject.kind.0, outcome, level, timed, details: 0 }.pack();
        self.set(at + 1, draft.cause.map_or(0, EventId::raw));
        self.set(at + 2, draft.subject.key);
        self.set(
            at + 3,
            draft
                .span
                .map_or_else(|| slot::running(sequence, flags), |span| slot::ended(span, flags)),
        );
        self.commit(at, sequence, draft.start - base, draft.site);
        EventId::new(sequence, slot as u64).expect("no sequence is 0")
    }

    /// Ends an event that was written as running.
    pub fn end(&self, id: EventId, span: u64, outcome: Outcome) {
        let at = self.block(id.sequence()) + id.slot() * SLOT_WORDS + 3;
        let flags = Flags { outcome, ..Flags::unpack(self.get(at)) };
        self.set(at, slot::ended(span, flags.pack()));
    }

    /// States that a mark belongs to the end of an event.
    #[cfg(test)]
    pub fn has_mark_at_end(&self, id: EventId) {
        let at = self.block(id.sequence()) + id.slot() * SLOT_WORDS + 3;
        let word = self.get(at);
        let flags = Flags { details: slot::DETAILS_AT_END, ..Flags::unpack(word) };
        self.set(at, slot::ended(slot::span(word), flags.pack()));
    }

    /// Writes a mark other than a detail.
    pub fn mark(&mut self, lane: u32, tick: u64, mark: Mark, words: [u64; 3]) {
        let (at, sequence, _) = self.room(lane, 1, tick);
        let base = self.get(self.block(sequence) + header::BASE);
        (1..).zip(words).for_each(|(word, value)| self.set(at + word, value));
        self.commit(at, sequence, tick - base, mark as u32);
    }

    /// Writes details.
    pub fn details(&mut self, lane: u32, tick: u64, event: EventId, bytes: &[u8]) {
        let slots = slot::detail_slots(bytes.len());
        let (at, sequence, _) = self.room(lane, slots, tick);
        self.set(at + 1, event.raw());
        for (word, chunk) in bytes.chunks(8).enumerate() {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            self.set(at + 2 + word, u64::from_le_bytes(eight));
        }
        self.commit(at, sequence, bytes.len() as u64, Mark::Detail as u32);
    }

    /// Writes the summaries of all chunks except those that a lane is filling.
    pub fn summarise(&mut self) {
        let fresh = self.get(sb::FRESH);
        let store = self.store();
        for chunk in 0..fresh / CHUNK_BLOCKS as u64 {
            let places = chunk * CHUNK_BLOCKS as u64..(chunk + 1) * CHUNK_BLOCKS as u64;
            if self
                .lanes
                .values()
                .any(|(sequence, _)| places.contains(&header::place(*sequence, self.blocks)))
            {
                continue;
            }
            let ring = store.ring();
            let amount = ring.count(chunk, &Default::default());
            let mut words = [0; summary::SUMMARY_WORDS];
            let mut epochs = (u32::MAX, 0);
            let mut first = u64::MAX;
            let mut last = 0;
            let mut newest = 0;
            let mut block = crate::ring::blocks::Block::boxed();
            for place in places {
                assert!(ring.load(place, &mut block), "the chunk is full");
                first = first.min(block.head.base);
                newest = newest.max(summary::stamp(block.head.sequence));
                epochs = (epochs.0.min(block.head.epoch), epochs.1.max(block.head.epoch));
                words[summary::LANES] |= summary::bit(block.head.lane);
                for slot in block.events() {
                    last = last.max(block.head.base + slot.start);
                    words[summary::SITES] |= summary::bit(slot.site);
                }
            }
            words[summary::STAMP] = newest;
            words[summary::FIRST_TICK] = first;
            words[summary::LAST_TICK] = last;
            words[summary::EVENTS_MARKS] = join(amount.events as u32, amount.marks as u32);
            words[summary::EPOCHS] = join(epochs.0, epochs.1);
            let at = self.table(sb::SUMMARIES) + chunk as usize * summary::SUMMARY_WORDS;
            (at..).zip(words).for_each(|(at, word)| self.set(at, word));
        }
    }

    /// Adds a page with these rows.
    pub fn page(&self, rows: &[[u64; ROW_WORDS]]) {
        let used = self.get(sb::PAGES_USED) as usize / 8;
        let at = self.table(sb::PAGES) + used;
        let capacity = rows.len().next_power_of_two();
        self.set(at + page::ROWS, capacity as u64);
        let first = at + page::HEADER_WORDS;
        (first..).zip(rows.iter().flatten()).for_each(|(at, word)| self.set(at, *word));
        self.set(sb::PAGES_USED, ((used + page::HEADER_WORDS + capacity * ROW_WORDS) * 8) as u64);
    }

    /// Sets a row of the fold table.
    pub fn fold_row(&self, index: usize, row: [u64; ROW_WORDS]) {
        let first = self.table(sb::TALLY) + index * ROW_WORDS;
        self.set(sb::TALLY_USED, self.get(sb::TALLY_USED) + 1);
        (first..).zip(row).for_each(|(at, word)| self.set(at, word));
    }
}

impl Writer {
    /// Puts a folder at a slot, with `folded` events before it and the row at this word as it was
    /// then.
    pub fn folder(
        &self,
        number: usize,
        cursor: Cursor,
        folded: u64,
        row: Option<(usize, [u64; ROW_WORDS])>,
    ) {
        let table = self.table(sb::CHUNKS) - TABLE;
        self.set(sb::FOLDERS, table as u64 * 8);
        self.set(sb::FOLDERS + 1, TABLE as u64 * 8);
        let record = table + number * folder::WORDS;
        let note = record + folder::note_at(cursor.note);
        self.set(note + folder::FOLDED, folded);
        self.set(note + folder::ROW, row.map_or(0, |(word, _)| word as u64));
        if let Some((_, words)) = row {
            (note + folder::BEFORE..)
                .zip(&words[COUNT..])
                .for_each(|(at, word)| self.set(at, *word));
        }
        self.set(record + folder::CURSOR, cursor.pack());
    }

    /// Lets a folder merge the row at this word; 0 = none.
    pub fn merged(&self, number: usize, row: usize) {
        let table = self.table(sb::CHUNKS) - TABLE;
        self.set(table + number * folder::WORDS + folder::MERGED, row as u64);
    }

    /// Assigns the page at this word of the pages' area to a folder.
    pub fn page_of_folder(&self, at: usize) {
        self.set(self.table(sb::PAGES) + at + page::FOLDED, 1);
    }
}

/// Opens bytes as a recording.
pub fn store_of(bytes: &[u8]) -> Result<Store, crate::OpenError> {
    let mut map = MmapOptions::new().len(bytes.len().max(8)).map_anon().expect("memory");
    map[..bytes.len()].copy_from_slice(bytes);
    Store::from_region(Region::writable(map.into()))
}
