//! What a sealed recording needs, beside its table of events, to be a recording again: its file
//! without these events.
//!
//! Blocks keep their headers, their marks, and the events that the table does not hold exactly,
//! such as running ones. The rest of them is zeros, which take no room when they are compressed.
//!
//! A restored recording is one that every reader takes as it is, so no crawler of Parquet is
//! needed. The rest takes a tenth of a byte an event.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_core::format::slot::{self, Flags};
use metaspy_core::format::slot_set::SlotSet;
use metaspy_core::format::{BLOCK_BYTES, SLOT_BYTES, SLOT_WORDS, Words, header};
use metaspy_probe::{KindId, Subject};
use metaspy_reader::blocks::Ring;
use metaspy_reader::{Event, EventId, Store};

use super::LEVEL;
use super::in_order::in_order;
use crate::recordings::Recording;

/// Words in front of the blocks that are compressed at once.
const PIECE_WORDS: usize = 1 << 20;
/// Blocks that are compressed at once.
const PIECE_BLOCKS: usize = 1 << 11;

/// The slots of a block at a place that the table of events restores.
pub type Restored = (u64, SlotSet);

/// Finds the slots that the table restores.
pub struct Restorable {
    recording: Recording,
    /// The kinds with names, by number.
    kinds: Vec<bool>,
}

impl Restorable {
    /// For the events of a recording.
    pub fn new(recording: &Recording) -> Self {
        let mut kinds = vec![false; usize::from(u16::MAX) + 1];
        recording.store.kinds().for_each(|kind| kinds[usize::from(kind.id.0)] = true);
        Restorable { recording: recording.clone(), kinds }
    }

    /// The slots of some events, block by block.
    pub fn slots(&self, events: &[Event]) -> Vec<Restored> {
        let of_blocks = events.chunk_by(|one, other| one.id.sequence() == other.id.sequence());
        of_blocks.map(|events| self.slots_of_block(events)).collect()
    }

    /// The slots of some events of one block.
    fn slots_of_block(&self, events: &[Event]) -> Restored {
        let ring = self.recording.store.ring();
        let sequence = events[0].id.sequence();
        let place = header::place(sequence, ring.layout.blocks);
        let block = ring.block(place);
        let mut slots = SlotSet::default();
        if block.acquire(header::SEQUENCE) == sequence {
            let exact = events.iter().filter(|event| self.is_exact(block, event));
            exact.for_each(|event| slots.insert(event.id.slot()));
        }
        (place, slots)
    }

    /// True if the slot of an event holds nothing but what the table has. Times are the table's, in
    /// ns.
    fn is_exact(&self, block: Words<'_>, event: &Event) -> bool {
        let at = event.id.slot() * SLOT_WORDS;
        let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
        (kind == KindId(0) || self.kinds[usize::from(kind.0)])
            && slot::site(block.get(at)) == event.site.0
            && block.get(at + 1) == event.cause.map_or(0, EventId::raw)
            && !self.recording.borders().is_caused_from_outside(&self.recording.store, event)
            && block.get(at + 2) == key
            && event.span.is_none_or(|span| span < slot::SPAN_MAX)
            && block.get(at + 3) == slot::ended(event.span.unwrap_or(0), flags(kind, event))
    }
}

fn flags(kind: KindId, event: &Event) -> u64 {
    Flags { kind: kind.0, outcome: event.outcome, level: 0, timed: event.timed, details: 0 }.pack()
}

/// Writes the file of a recording without the slots that the table restores.
pub fn write(store: &Store, restored: Vec<Restored>, path: &Path) -> Result<()> {
    let ring = store.ring();
    let mut slots = vec![SlotSet::default(); ring.places() as usize];
    for (place, found) in restored {
        if let Some(known) = slots.get_mut(place as usize) {
            *known = known.union(found);
        }
    }
    let mut file =
        File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let before = ring.layout.block_word(0).div_ceil(PIECE_WORDS);
    let blocks: Vec<&[SlotSet]> = slots.chunks(PIECE_BLOCKS).collect();
    // Each piece is a frame of its own. Readers read frames one after the other.
    let piece = |piece: usize| {
        let bytes = match piece.checked_sub(before) {
            None => words(
                ring,
                piece * PIECE_WORDS..ring.layout.block_word(0).min((piece + 1) * PIECE_WORDS),
            ),
            Some(at) => blocks_without(ring, at * PIECE_BLOCKS, blocks[at]),
        };
        Ok(zstd::bulk::compress(&bytes, LEVEL)?)
    };
    in_order(before + blocks.len(), piece, |compressed| Ok(file.write_all(&compressed)?))
}

/// The bytes of some words.
fn words(ring: Ring<'_>, words: Range<usize>) -> Vec<u8> {
    words.flat_map(|at| ring.words.acquire(at).to_le_bytes()).collect()
}

/// The bytes of the blocks from a place on, without the slots that the table restores.
fn blocks_without(ring: Ring<'_>, first: usize, restored: &[SlotSet]) -> Vec<u8> {
    let mut bytes = vec![0; restored.len() * BLOCK_BYTES];
    for ((place, slots), bytes) in (first..).zip(restored).zip(bytes.chunks_exact_mut(BLOCK_BYTES))
    {
        let block = ring.block(place as u64);
        for (at, bytes) in
            bytes.chunks_exact_mut(SLOT_BYTES).enumerate().filter(|(at, _)| !slots.contains(*at))
        {
            for (word, bytes) in bytes.chunks_exact_mut(8).enumerate() {
                bytes.copy_from_slice(&block.acquire(at * SLOT_WORDS + word).to_le_bytes());
            }
        }
    }
    bytes
}
