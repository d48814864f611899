//! [`Borders`]: the events of a recording with causes or effects in other processes.

use metaspy_core::format::slot::Mark;
use metaspy_core::format::slot_set::SlotSet;
use metaspy_core::format::{header, span, superblock as sb};
use metaspy_reader::blocks::{Block, Record, Ring};
use metaspy_reader::{Event, EventId, Store};

/// The events of a recording with causes or effects in other processes, found in one pass over its
/// marks.
///
/// The slots of a block are 16 bytes, so a recording of 100 million events takes 13 MB, and a test
/// of an event is one load. Recordings without marks are not read.
#[derive(Debug, Default)]
pub struct Borders {
    /// Events that were sent to other processes, and the first events of their chains of causes, by
    /// the place of their block.
    sent: Vec<SlotSet>,
    /// Slots that note a cause in another process, by the place of the block.
    received: Vec<SlotSet>,
    /// Spans of these causes with their slots, sorted.
    spans: Vec<(u64, EventId)>,
}

/// Numbers of an event in W3C `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Border {
    /// Number of the trace.
    pub trace: u128,
    /// Number of the event.
    pub span: u64,
    /// Number of the cause, if the cause is in another process.
    pub remote_parent: Option<u64>,
}

impl Borders {
    /// Reads the marks of a recording, and finds its events with causes or effects in other
    /// processes.
    pub fn of(store: &Store) -> Self {
        let ring = store.ring();
        let mut borders = Borders::default();
        let mut block = Block::boxed();
        for chunk in ring.chunks().into_iter().filter(|chunk| chunk.may_hold_marks()) {
            for place in ring.places_of(chunk.index) {
                if ring.load(place, &mut block) {
                    borders.add(ring, &block);
                }
            }
        }
        borders.spans.sort_unstable();
        borders
    }

    fn add(&mut self, ring: Ring<'_>, block: &Block) {
        let mut records = block.records();
        while let Some(record) = records.next() {
            let Record::Mark(mark) = record else { continue };
            match mark.mark {
                Mark::Sent => {
                    let Some(event) = EventId::from_raw(mark.event) else { continue };
                    insert(&mut self.sent, ring, event);
                    if let Some(entry) = ring.trace_of(event).entry {
                        insert(&mut self.sent, ring, entry);
                    }
                }
                Mark::Remote => {
                    // The mark is in the slot before.
                    let slot = block.head.id(records.slot() - 1);
                    insert(&mut self.received, ring, slot);
                    self.spans.push((mark.words[0], slot));
                }
                _ => {}
            }
        }
    }

    /// True if no event has causes or effects in other processes.
    pub fn is_empty(&self) -> bool {
        self.sent.is_empty() && self.received.is_empty()
    }

    /// True if the cause of an event is in another process.
    pub fn is_caused_from_outside(&self, store: &Store, event: &Event) -> bool {
        let may_be = event.cause.is_some_and(|cause| contains(&self.received, store.ring(), cause));
        may_be && store.remote_cause(event).is_some()
    }

    /// The numbers of an event; `None` if it has neither causes nor effects in other processes.
    pub fn numbers(&self, store: &Store, event: &Event) -> Option<Border> {
        let ring = store.ring();
        let remote = if self.is_caused_from_outside(store, event) {
            store.remote_cause(event)
        } else {
            None
        };
        if remote.is_none() && !contains(&self.sent, ring, event.id) {
            return None;
        }
        Some(Border {
            trace: remote.map_or_else(|| ring.trace_of(event.id).trace, |remote| remote.trace),
            span: span_of(store, event.id),
            remote_parent: remote.map(|remote| remote.span),
        })
    }

    /// The slots that note this span of another process as a cause.
    pub fn receipts(&self, span: u64) -> impl Iterator<Item = EventId> {
        let from = self.spans.partition_point(|(of, _)| *of < span);
        self.spans[from..].iter().take_while(move |(of, _)| *of == span).map(|(_, slot)| *slot)
    }
}

/// Returns the span of an event, which is its number in other processes.
pub fn span_of(store: &Store, event: EventId) -> u64 {
    span::of_event(event.raw(), store.ring().words.get(sb::SPAN_WORD))
}

fn place_of(ring: Ring<'_>, slot: EventId) -> usize {
    header::place(slot.sequence(), ring.layout.blocks) as usize
}

fn insert(sets: &mut Vec<SlotSet>, ring: Ring<'_>, slot: EventId) {
    if sets.is_empty() {
        sets.resize(ring.places() as usize, SlotSet::default());
    }
    if let Some(set) = sets.get_mut(place_of(ring, slot)) {
        set.insert(slot.slot());
    }
}

fn contains(sets: &[SlotSet], ring: Ring<'_>, slot: EventId) -> bool {
    sets.get(place_of(ring, slot)).is_some_and(|set| set.contains(slot.slot()))
}
