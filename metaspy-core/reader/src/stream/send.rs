//! Sending side of a stream: in each round, it sends the words that changed.

use std::io::{self, Write};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use crate::ring::blocks::BLOCK_WORDS;
use crate::ring::folds::FoldState;
use crate::{EndState, Layout, Ring, Store};
use metaspy_format::hash::scatter;
use metaspy_format::row::ROW_WORDS;
use metaspy_format::stream::{self, Frame, Head};
use metaspy_format::superblock::{self as sb, calibration, journal, lane};
use metaspy_format::{CHUNK_BLOCKS, SLOT_WORDS, header, summary};

/// Words of a page, the unit of comparison and sending.
const PAGE: usize = BLOCK_WORDS;
/// Digest of a block that was emptied.
const EMPTY: u64 = 1;

/// Sender of a recording and all of its changes into a pipe.
pub struct Sender<W> {
    store: Store,
    out: W,
    /// Digests of the pages of tables as they were sent, by page from the start of the recording; 0
    /// = not sent.
    tables: Vec<u64>,
    /// Digests of the blocks as they were sent.
    blocks: Vec<u64>,
    /// Stamps of the summaries of chunks that do not change.
    stamps: Vec<u64>,
    /// Number of words of the arena that were sent. The arena only grows.
    arena: usize,
    /// Words of the first page about the statements that were sent.
    stated: [u64; 3],
    fold: Option<FoldState>,
    page: Box<[u64; PAGE]>,
}

impl<W: Write> Sender<W> {
    /// Sends the header of a stream.
    pub fn new(store: Store, mut out: W) -> io::Result<Self> {
        let total = (store.words().get(sb::TOTAL_BYTES) / 8).max(store.words().len() as u64);
        write_words(&mut out, &[stream::MAGIC_WORD, stream::version(), total, 0])?;
        let chunks = store.layout().chunks.at;
        Ok(Sender {
            tables: vec![0; chunks.div_ceil(PAGE)],
            blocks: Vec::new(),
            stamps: Vec::new(),
            arena: 0,
            stated: [0; 3],
            fold: None,
            page: Box::new([0; PAGE]),
            store,
            out,
        })
    }

    /// Sends a round each `every`, until the recording ends or the reading side closes the pipe.
    pub fn run(mut self, every: Duration) -> io::Result<EndState> {
        loop {
            // The state is read before the round, so the last round is complete.
            let ended = self.store.end_state();
            self.round()?;
            if ended != EndState::Live {
                let closed = if ended == EndState::Closed { 1 } else { 2 };
                self.frame(Head { kind: Frame::End as u8, words: 0, span: 0 }, closed, &[])?;
                self.out.flush()?;
                return Ok(ended);
            }
            std::thread::sleep(every);
        }
    }

    /// Sends the changes since the last round.
    pub fn round(&mut self) -> io::Result<()> {
        // If the file cannot be mapped again, the mapped part stays readable.
        let _ = self.store.refresh();
        let store = self.store.clone();
        let words = store.words();
        let layout = *store.layout();
        if words.get(sb::MAGIC) != sb::MAGIC_WORD {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the recording is gone: its file was cut",
            ));
        }
        let before = store.ring().fold_state();
        // Counters are read before the rows that they count, and arrive after them.
        let mut first: Vec<u64> = (0..PAGE).map(|at| words.acquire(at)).collect();
        if self.fold.is_none() {
            // A receiver needs the places of all tables, even if the stream ends in this round.
            self.words(Frame::Words, 0, &first)?;
        }
        self.send_tables(&store, &layout, &first, &before)?;
        let stated = &mut first[sb::STATEMENTS_TURN..][..3];
        if words.acquire(sb::STATEMENTS_TURN) == stated[0] {
            self.stated.copy_from_slice(stated);
        } else {
            // The half that was sent may have been overwritten meanwhile. The receiver still has
            // the previous half.
            stated.copy_from_slice(&self.stated);
        }
        self.send_blocks(store.ring())?;
        self.words(Frame::Words, 0, &first)?;
        let settled = store.ring().fold_state() == before;
        self.fold = Some(before);
        self.frame(Head { kind: Frame::Round as u8, words: 0, span: 0 }, settled.into(), &[])?;
        self.out.flush()
    }

    fn send_tables(
        &mut self,
        store: &Store,
        layout: &Layout,
        first: &[u64],
        fold: &FoldState,
    ) -> io::Result<()> {
        let used = |word: usize, each: usize| {
            usize::try_from(first[word]).unwrap_or(usize::MAX).saturating_mul(each)
        };
        let arena = used(sb::ARENA_USED, 1).min(layout.arena.len);
        let turn = first[sb::STATEMENTS_TURN];
        let used_half = sb::STATEMENTS_USED + (turn % 2) as usize;
        let stated =
            if turn == self.stated[0] { self.stated[used_half - sb::STATEMENTS_TURN] } else { 0 };
        let chunks = store.ring().chunk_count() as usize;
        let folded = self.fold.as_ref() != Some(fold);
        let tables = [
            (layout.calibration, 0, used(sb::CALIBRATION_USED, calibration::WORDS)),
            (layout.summaries, 0, chunks * summary::SUMMARY_WORDS),
            (layout.journal, 0, if folded { journal_words(store, layout) } else { 0 }),
            (layout.folders, 0, if folded { layout.folders.len } else { 0 }),
            (layout.lanes, 0, used(sb::LANES_USED, lane::WORDS)),
            (layout.arena, self.arena, arena),
            (
                layout.half(turn),
                usize::try_from(stated).unwrap_or(0).min(layout.half(turn).len),
                used(used_half, 1),
            ),
            (layout.pages, 0, used(sb::PAGES_USED, 1) / 8),
            (
                layout.tally,
                0,
                if folded && first[sb::TALLY_USED] != 0 { layout.tally.len } else { 0 },
            ),
            (layout.profiles, 0, used(sb::PROFILES_USED, 1) / 8),
            (layout.kept, 0, used(sb::KEPT_USED, sb::kept::WORDS)),
        ];
        self.arena = arena;
        for (table, from, to) in tables {
            let end = table.at + to.min(table.len);
            let mut at = (table.at + from) / PAGE * PAGE;
            while at < end {
                let length = PAGE.min(end - at);
                for (word, to) in self.page[..length].iter_mut().enumerate() {
                    *to = store.words().acquire(at + word);
                }
                let digest = digest(&self.page[..length]);
                // A page can belong to two tables, if these do not fill whole pages.
                let known =
                    self.tables.get_mut(at / PAGE).filter(|_| table.at.is_multiple_of(PAGE));
                if known.as_ref().is_none_or(|known| **known != digest) {
                    if let Some(known) = known {
                        *known = digest;
                    }
                    let page = *self.page;
                    self.words(Frame::Words, at, &page[..length])?;
                }
                at += PAGE;
            }
        }
        Ok(())
    }

    fn send_blocks(&mut self, ring: Ring<'_>) -> io::Result<()> {
        let chunks = ring.chunk_count();
        self.stamps.resize(self.stamps.len().max(chunks as usize), 0);
        self.blocks.resize(self.blocks.len().max(chunks as usize * CHUNK_BLOCKS), 0);
        for chunk in 0..chunks {
            let summary = ring.summary(chunk);
            let stamp = summary.map_or(0, |summary| summary.stamp);
            if stamp != 0 && self.stamps[chunk as usize] == stamp {
                continue;
            }
            for place in ring.places_of(chunk) {
                self.send_block(ring, place)?;
            }
            // No event runs in the chunk, so none can end: the chunk does not change.
            let is_still = summary.is_some_and(|summary| summary.running == 0)
                && ring.summary(chunk) == summary;
            self.stamps[chunk as usize] = if is_still { stamp } else { 0 };
        }
        Ok(())
    }

    fn send_block(&mut self, ring: Ring<'_>, place: u64) -> io::Result<()> {
        let words = ring.block(place);
        let at = ring.layout.chunks.at + place as usize * BLOCK_WORDS;
        let sequence = words.acquire(header::SEQUENCE);
        let known = self.blocks[place as usize];
        if sequence == 0 {
            if known > EMPTY {
                self.blocks[place as usize] = EMPTY;
                let head = Head { kind: Frame::Block as u8, words: 0, span: SLOT_WORDS as u32 };
                return self.frame(head, at as u64, &[]);
            }
            return Ok(());
        }
        let mut page = [0; PAGE];
        for (slot, to) in page.chunks_exact_mut(SLOT_WORDS).enumerate() {
            // The commit word is loaded first: the words that it commits must not be older.
            to[0] = words.acquire(slot * SLOT_WORDS);
            (1..SLOT_WORDS).for_each(|word| to[word] = words.get(slot * SLOT_WORDS + word));
        }
        fence(Ordering::Acquire);
        if words.get(header::SEQUENCE) != sequence {
            // The block changed during the copy. The next round sends it.
            return Ok(());
        }
        let digest = digest(&page).max(EMPTY + 1);
        if digest != known {
            self.blocks[place as usize] = digest;
            self.words(Frame::Block, at, &page)?;
        }
        Ok(())
    }

    /// Sends words, without the zeros at their end.
    fn words(&mut self, frame: Frame, at: usize, words: &[u64]) -> io::Result<()> {
        let used = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        let head = Head { kind: frame as u8, words: used as u32, span: words.len() as u32 };
        self.frame(head, at as u64, &words[..used])
    }

    fn frame(&mut self, head: Head, second: u64, words: &[u64]) -> io::Result<()> {
        write_words(&mut self.out, &[head.pack(), second])?;
        write_words(&mut self.out, words)
    }
}

/// Returns the number of words of the journal in use.
fn journal_words(store: &Store, layout: &Layout) -> usize {
    let words = layout.journal.of(store.words());
    if words.acquire(journal::COMMIT) == 0 {
        return 0;
    }
    let count = |at| usize::try_from(words.get(at)).unwrap_or(usize::MAX).min(words.len());
    journal::HEADER_WORDS
        + count(journal::BLOCKS)
        + count(journal::ROWS).saturating_mul(1 + ROW_WORDS)
}

fn write_words(out: &mut impl Write, words: &[u64]) -> io::Result<()> {
    let mut bytes = [0; 4096];
    for part in words.chunks(bytes.len() / 8) {
        for (to, word) in bytes.chunks_exact_mut(8).zip(part) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        out.write_all(&bytes[..part.len() * 8])?;
    }
    Ok(())
}

/// Hashes words to a number that other words hardly ever have; never 0.
fn digest(words: &[u64]) -> u64 {
    let mix =
        |mixed: u64, &word: &u64| scatter(mixed.rotate_left(23) ^ word).rotate_left(31) ^ word;
    words.iter().fold(words.len() as u64, mix).max(1)
}
