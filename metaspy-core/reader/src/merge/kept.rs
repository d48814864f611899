//! The part of a recording that is copied when only some of its events are selected.
//!
//! A block that holds a selected event, or a mark about one, is kept; in it, everything else becomes a mark of no kind. So
//! events keep their slots, and ids change by arithmetic as in every merge.

use crate::Store;
use crate::event::EventId;
use crate::filter::Filter;
use crate::merge::watch::Watch;
use crate::scan;
use crate::scan::blocks::{Block, Head, Record, Ring};
use crate::tally::folds::Folds;
use metaspy_format::header;
use metaspy_format::slot::{DETAIL_MAX, Mark, detail_slots};
use metaspy_format::slot_set::SlotSet;

/// The kept slots of a recording.
pub(super) struct Kept {
    /// By place.
    slots: Vec<SlotSet>,
    /// The number of kept blocks before each place, and behind the last one.
    before: Vec<u32>,
    blocks: u64,
}

/// The selected events and their remote causes, as a thread found them: place and slot.
type Found = Vec<(u64, usize)>;

impl Kept {
    /// The events that pass the filter, with the marks about them.
    pub fn select(store: &Store, filter: &Filter, folds: &Folds, watch: &Watch<'_>) -> Kept {
        let ring = store.ring();
        let matcher = store.compile(filter, 0..=0);
        let mut kept = Kept { slots: vec![SlotSet::default(); ring.places() as usize], before: Vec::new(), blocks: 0 };
        let chunks: Vec<u64> =
            ring.chunks().into_iter().filter(|it| matcher.wants_chunk(it)).map(|it| it.index).collect();
        let state = || (Found::new(), matcher.memory(store));
        let (threads, watch) = (scan::threads_for(chunks.len()), |at| watch.report(at, chunks.len()));
        let select = |(found, memory): &mut (Found, _), &chunk: &u64| {
            each_record(ring, folds, chunk, |place, head, record, at| {
                if let Record::Event(slot) = record
                    && matcher.matches(ring, head, &slot, memory)
                {
                    found.push((place, at));
                    let remote = EventId::from_raw(slot.cause).filter(|cause| ring.peek(*cause).is_none());
                    if let Some(cause) = remote.filter(|cause| ring.remote(*cause).is_some()) {
                        found.push((header::place(cause.sequence(), ring.layout.blocks), cause.slot()));
                    }
                }
            });
        };
        let found = scan::each_watched(&chunks, threads, state, select, &watch);
        found
            .into_iter()
            .flat_map(|(found, _)| found)
            .for_each(|(place, slot)| kept.slots[place as usize].insert(slot));
        kept.add_marks(ring, folds);
        kept.number();
        kept
    }

    /// Adds the marks about kept events, which may be in other blocks.
    fn add_marks(&mut self, ring: Ring<'_>, folds: &Folds) {
        let chunks: Vec<u64> = ring.chunks().into_iter().filter(|it| it.may_hold_marks()).map(|it| it.index).collect();
        let found = scan::each(&chunks, scan::threads_for(chunks.len()), Found::new, |found, &chunk| {
            each_record(ring, folds, chunk, |place, _, record, at| {
                let Record::Mark(mark) = record else { return };
                let of = EventId::from_raw(mark.event).filter(|_| mark.mark != Mark::Remote);
                if of.is_some_and(|of| self.contains_event(ring, of)) {
                    found.push((place, at));
                }
            });
        });
        found.into_iter().flatten().for_each(|(place, slot)| self.slots[place as usize].insert(slot));
    }

    fn number(&mut self) {
        self.before = Vec::with_capacity(self.slots.len() + 1);
        for slots in &self.slots {
            self.before.push(self.blocks as u32);
            self.blocks += u64::from(!slots.is_empty());
        }
    }

    /// The number of kept blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// The place of a block among the kept ones; `None` if it is not kept.
    pub fn place(&self, place: u64) -> Option<u64> {
        let slots = self.slots.get(place as usize)?;
        (!slots.is_empty()).then(|| self.before[place as usize].into())
    }

    /// True if the record at this slot is kept.
    pub fn contains(&self, place: u64, slot: usize) -> bool {
        self.slots.get(place as usize).is_some_and(|slots| slots.contains(slot))
    }

    fn contains_event(&self, ring: Ring<'_>, id: EventId) -> bool {
        let place = header::place(id.sequence(), ring.layout.blocks);
        self.contains(place, id.slot()) && ring.head(place).is_some_and(|head| head.sequence == id.sequence())
    }
}

/// Calls `each` with the place, the header, the record and its slot.
fn each_record(ring: Ring<'_>, folds: &Folds, chunk: u64, mut each: impl FnMut(u64, &Head, Record<'_>, usize)) {
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
                each(place, &block.head, record, records.slot() - slots);
            }
        }
    }
}
