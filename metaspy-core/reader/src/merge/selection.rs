//! Copy of a part of a recording as a recording: the events that pass a filter, or its whole
//! present state.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

use super::output::OutputMemory;
use super::watch::Watch;
use super::{MergeError, TRIES, merge};
use crate::Store;
use crate::filter::Filter;
use crate::open::Mapped;
use crate::ring::blocks::{Block, Head};
use crate::store::Medium;
use metaspy_format::slot;
use metaspy_format::summary::{SUMMARY_WORDS, Summary};
use metaspy_format::superblock as sb;

/// Number of words that are written at once.
const WORDS: usize = 1 << 13;

impl Store {
    /// Writes a recording of the events that pass the filter: a closed `.spy` file, with the names,
    /// labels and relations of this recording. A cause that does not pass counts as an event that
    /// left the window. The copy has new ids.
    ///
    /// A filter that selects everything also keeps calls that were counted without an event, and
    /// the tables of method profilers. Then the copy counts the same as this recording does now;
    /// otherwise it counts the selected events. If events leave the window during the copying, the
    /// copy shows a moment between two folds. If no such moment is found, a note of the copy states
    /// it. `note` becomes a sentence of the recording ([`Store::notes`]).
    ///
    /// `watch` repeatedly receives the completed part, from 0 to 1; each step begins again at 0. If
    /// it returns false, the copy stops, and the error is [`MergeError::Stopped`].
    ///
    /// Returns the number of events. The outer error means that the copy found no room.
    pub fn write_selection(
        &self,
        filter: &Filter,
        note: &str,
        watch: &dyn Fn(f64) -> bool,
        out: &mut dyn Write,
    ) -> Result<io::Result<u64>, MergeError> {
        let source = self.path().map_or_else(String::new, |path| path.display().to_string());
        let only = (!filter.is_all()).then_some(filter);
        let sources = [(source, self.clone())];
        let watch = Watch::new(watch);
        let mut copy = merge(&sources, only, Some(note), &watch)?;
        for _ in 1..TRIES {
            if copy.1.has_room {
                break;
            }
            copy = merge(&sources, only, Some(note), &watch)?;
        }
        let written = write(&copy.0, &watch, out);
        if watch.is_stopped() { Err(MergeError::Stopped) } else { Ok(written) }
    }
}

fn write(output: &OutputMemory, watch: &Watch<'_>, out: &mut dyn Write) -> io::Result<u64> {
    let mut bytes = Vec::with_capacity(WORDS * 8);
    let chunks = output.cells().chunks(WORDS);
    let all = chunks.len();
    for (_, words) in (0..).zip(chunks).take_while(|(at, _)| watch.report(*at, all)) {
        bytes.clear();
        words.iter().for_each(|word| bytes.extend_from_slice(&word.load(Relaxed).to_le_bytes()));
        out.write_all(&bytes)?;
    }
    out.flush()?;
    Ok(output.cells()[sb::SEALED_EVENTS].load(Relaxed))
}

/// Counts the blocks and events of a copy, and writes the summaries of the chunks that blocks of
/// one lap fill. The summaries of a selection, and of a recording that was being written, differ
/// from the original.
pub(super) fn summarise(output: &OutputMemory) {
    let store = Store::mapped(Mapped::memory(output.region()), Medium::Memory)
        .expect("it was written as recordings are");
    let ring = store.ring();
    let layout = store.layout();
    let mut blocks = 0;
    let mut events = 0;
    let mut block = Block::boxed();
    for chunk in 0..ring.chunk_count() {
        let mut sum = Summary::EMPTY;
        let mut laps = BTreeSet::new();
        let places = ring.places_of(chunk);
        let mut missing = places.end - places.start;
        for place in places {
            if !ring.load(place, &mut block) {
                continue;
            }
            let Head { sequence, lane, epoch, base, .. } = block.head;
            laps.insert(sequence / layout.blocks);
            sum.add_block(sequence, lane, epoch, base);
            sum.marks += block.marks().count() as u32;
            block.events().for_each(|slot| {
                sum.add_event(slot.site, base + slot.start, slot::is_running(slot.end))
            });
            missing -= 1;
            blocks += 1;
        }
        events += u64::from(sum.events);
        if laps.len() == 1 && missing == 0 {
            output.write(layout.summaries.at + chunk as usize * SUMMARY_WORDS, sum.pack());
        }
    }
    output.set(sb::SEALED_BLOCKS, blocks);
    output.set(sb::SEALED_EVENTS, events);
}
