//! Part of a recording that is copied when only some of its events are selected.
//!
//! A block that holds a selected event, or a mark about a selected event, is kept, and all other
//! slots in it become marks of no kind. So events keep their slots, and ids change by arithmetic as
//! in every merge.

use crate::Store;
use crate::event::EventId;
use crate::filter::Filter;
use crate::merge::watch::Watch;
use crate::parallel;
use crate::ring::blocks::{Block, Head, Record, Ring};
use crate::ring::folds::Folds;
use metaspy_format::header;
use metaspy_format::slot::{DETAIL_MAX, Mark, detail_slots};
use metaspy_format::slot_set::SlotSet;

/// Kept slots of a recording.
pub(super) struct Kept {
    /// Kept slots by place. In a recording that is being written, a place may hold another block
    /// later.
    blocks: Vec<KeptBlock>,
    /// Number of places in the ring.
    ring: u64,
    /// Number of kept blocks before each place, and after the last place.
    before: Vec<u32>,
    kept: u64,
}

#[derive(Clone, Default)]
struct KeptBlock {
    sequence: u64,
    slots: SlotSet,
}

/// Selected events and their remote causes, as a thread found them: the sequence of the block, and
/// the slot.
type SelectedSlots = Vec<(u64, usize)>;

impl Kept {
    /// Selects the events that pass the filter, with the marks about them.
    pub fn select(store: &Store, filter: &Filter, folds: &Folds, watch: &Watch<'_>) -> Kept {
        let ring = store.ring();
        let matcher = store.compile(filter, 0..=0);
        let blocks = vec![KeptBlock::default(); ring.places() as usize];
        let mut kept = Kept { blocks, ring: ring.layout.blocks, before: Vec::new(), kept: 0 };
        let chunks: Vec<u64> = ring
            .chunks()
            .into_iter()
            .filter(|it| matcher.wants_chunk(it))
            .map(|it| it.index)
            .collect();
        let state = || (SelectedSlots::new(), matcher.memory(store));
        let (threads, watch) =
            (parallel::threads_for(chunks.len()), |at| watch.report(at, chunks.len()));
        let select = |(found, memory): &mut (SelectedSlots, _), &chunk: &u64| {
            each_record(ring, folds, chunk, |head, record, at| {
                if let Record::Event(slot) = record
                    && matcher.matches(ring, head, &slot, memory)
                {
                    found.push((head.sequence, at));
                    let remote =
                        EventId::from_raw(slot.cause).filter(|cause| ring.peek(*cause).is_none());
                    if let Some(cause) = remote.filter(|cause| ring.remote(*cause).is_some()) {
                        found.push((cause.sequence(), cause.slot()));
                    }
                }
            });
        };
        let found = parallel::each_watched(&chunks, threads, state, select, &watch);
        found
            .into_iter()
            .flat_map(|(found, _)| found)
            .for_each(|(sequence, slot)| kept.insert(sequence, slot));
        kept.add_marks(ring, folds);
        kept.number();
        kept
    }

    /// Adds the marks about kept events, which may be in other blocks.
    fn add_marks(&mut self, ring: Ring<'_>, folds: &Folds) {
        let chunks: Vec<u64> =
            ring.chunks().into_iter().filter(|it| it.may_hold_marks()).map(|it| it.index).collect();
        let found = parallel::each(
            &chunks,
            parallel::threads_for(chunks.len()),
            SelectedSlots::new,
            |found, &chunk| {
                each_record(ring, folds, chunk, |head, record, at| {
                    let Record::Mark(mark) = record else { return };
                    let of = EventId::from_raw(mark.event).filter(|_| mark.mark != Mark::Remote);
                    if of.is_some_and(|of| self.contains(of.sequence(), of.slot())) {
                        found.push((head.sequence, at));
                    }
                });
            },
        );
        found.into_iter().flatten().for_each(|(sequence, slot)| self.insert(sequence, slot));
    }

    /// Keeps a slot. Slots of an earlier block at its place have left the window.
    fn insert(&mut self, sequence: u64, slot: usize) {
        let Some(block) = self.blocks.get_mut(header::place(sequence, self.ring) as usize) else {
            return;
        };
        if sequence > block.sequence {
            *block = KeptBlock { sequence, slots: SlotSet::default() };
        }
        if sequence == block.sequence {
            block.slots.insert(slot);
        }
    }

    fn number(&mut self) {
        self.before = Vec::with_capacity(self.blocks.len() + 1);
        for block in &self.blocks {
            self.before.push(self.kept as u32);
            self.kept += u64::from(!block.slots.is_empty());
        }
    }

    /// Returns the number of kept blocks.
    pub fn blocks(&self) -> u64 {
        self.kept
    }

    /// Returns the index of a block among the kept blocks; `None` if it is not kept.
    pub fn place(&self, place: u64) -> Option<u64> {
        let block = self.blocks.get(place as usize)?;
        (!block.slots.is_empty()).then(|| self.before[place as usize].into())
    }

    /// Returns true if any slot of this block is kept.
    pub fn holds(&self, sequence: u64) -> bool {
        let block = self.blocks.get(header::place(sequence, self.ring) as usize);
        block.is_some_and(|block| block.sequence == sequence && !block.slots.is_empty())
    }

    /// Returns true if the record at this slot of a block is kept.
    pub fn contains(&self, sequence: u64, slot: usize) -> bool {
        let block = self.blocks.get(header::place(sequence, self.ring) as usize);
        block.is_some_and(|block| block.sequence == sequence && block.slots.contains(slot))
    }
}

/// Calls `each` with the header, the record and its slot.
fn each_record(
    ring: Ring<'_>,
    folds: &Folds,
    chunk: u64,
    mut each: impl FnMut(&Head, Record<'_>, usize),
) {
    let mut block = Block::boxed();
    for place in ring.places_of(chunk) {
        if ring.load_stored(place, folds, &mut block) {
            let mut records = block.records();
            while let Some(record) = records.next() {
                let slots = match &record {
                    Record::Mark(mark) if mark.mark == Mark::Detail => {
                        detail_slots((mark.start as usize).min(DETAIL_MAX))
                    }
                    _ => 1,
                };
                each(&block.head, record, records.slot() - slots);
            }
        }
    }
}
