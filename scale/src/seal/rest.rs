//! What a sealed recording needs, beside its table of events, to be a recording again: its file without these events.
//!
//! Blocks keep their headers, their marks, and the events that the table does not hold exactly, such as running ones. The
//! rest of them is zeros, which take no room when they are compressed.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_core::format::slot::{self, Flags};
use metaspy_core::format::slot_set::SlotSet;
use metaspy_core::format::{BLOCK_SLOTS, SLOT_WORDS, header};
use metaspy_probe::{KindId, Subject};
use metaspy_reader::blocks::Ring;
use metaspy_reader::{Event, EventId, Store};
use zstd::stream::write::Encoder;

use super::LEVEL;

/// The name of the file in its partition.
pub const REST: &str = "rest.spy.zst";
/// Words that are compressed at once.
const PIECE: usize = 1 << 16;

/// The slots of a block at a place that the table of events restores.
pub type Restored = (u64, SlotSet);

/// Finds the slots that the table restores.
pub struct Restorable {
    store: Store,
    /// The kinds with names, by number.
    kinds: Vec<bool>,
}

impl Restorable {
    /// For the events of a recording.
    pub fn new(store: &Store) -> Self {
        let mut kinds = vec![false; usize::from(u16::MAX) + 1];
        store.kinds().for_each(|kind| kinds[usize::from(kind.id.0)] = true);
        Restorable { store: store.clone(), kinds }
    }

    /// The slots of some events, block by block.
    pub fn slots(&self, events: &[Event]) -> Vec<Restored> {
        let ring = self.store.ring();
        let mut all: Vec<Restored> = Vec::new();
        for event in events.iter().filter(|event| self.is_exact(ring, event)) {
            let place = header::place(event.id.sequence(), ring.layout.blocks);
            if all.last().is_none_or(|(last, _)| *last != place) {
                all.push((place, SlotSet::default()));
            }
            all.last_mut().expect("one was added").1.insert(event.id.slot());
        }
        all
    }

    /// True if the slot of an event holds nothing but what the table has. Times are the table's, in ns.
    fn is_exact(&self, ring: Ring<'_>, event: &Event) -> bool {
        let Some((_, slot)) = ring.peek(event.id) else { return false };
        let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
        (kind == KindId(0) || self.kinds[usize::from(kind.0)])
            && slot.site == event.site.0
            && slot.key == key
            && slot.cause == event.cause.map_or(0, EventId::raw)
            && event.span.is_none_or(|span| span < slot::SPAN_MAX)
            && slot.end == slot::ended(event.span.unwrap_or(0), flags(kind, event))
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
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = BufWriter::new(Encoder::new(file, LEVEL)?);
    let mut words = Vec::with_capacity(PIECE);
    let blocks = ring.layout.block_word(0);
    let mut at = 0;
    while at < blocks {
        words.extend((at..blocks.min(at + PIECE)).map(|at| ring.words.acquire(at)));
        at += words.len();
        write_words(&mut out, &mut words)?;
    }
    for (place, slots) in slots.iter().enumerate() {
        let block = ring.block(place as u64);
        for at in 0..BLOCK_SLOTS {
            let words_of = at * SLOT_WORDS..(at + 1) * SLOT_WORDS;
            words.extend(words_of.map(|word| if slots.contains(at) { 0 } else { block.acquire(word) }));
        }
        write_words(&mut out, &mut words)?;
    }
    out.into_inner().map_err(|error| error.into_error())?.finish()?;
    Ok(())
}

fn write_words(out: &mut impl Write, words: &mut Vec<u64>) -> std::io::Result<()> {
    words.drain(..).try_for_each(|word| out.write_all(&word.to_le_bytes()))
}
