//! Index from events to their effects.
//!
//! Most effects are in the block of their cause, so only the others are indexed: sorted pairs of a
//! cause and a block with an effect of it, eight bytes each. A recording of 100 million nested
//! calls takes a fraction of a byte for each event. If all causes are in other blocks, it takes
//! eight bytes.

use crate::Store;
use crate::event::EventId;
use crate::ring::blocks::{Block, Record, Ring};
use crate::ring::chunk_index::ChunkIndex;
use metaspy_format::slot::Mark;
use metaspy_format::{BLOCK_SLOTS, header};

/// Index of the effects of each event, links included.
///
/// ```no_run
/// use metaspy_reader::{EffectsIndex, EventId, Store};
///
/// /// Prints the tree of effects of an event.
/// fn print(store: &Store, index: &EffectsIndex, id: EventId, depth: usize) {
///     for effect in index.effects(id).into_iter().filter_map(|effect| store.event(effect)) {
///         println!("{:depth$}{}", "", store.site_path(effect.site));
///         print(store, index, effect.id, depth + 1);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open("run.spy".as_ref())?;
/// let index = EffectsIndex::build(&store, |done, all| {
///     eprintln!("{done} of {all} chunks");
///     true
/// });
/// if let (Some(index), Some(root)) = (index, EventId::new(1_000, 1)) {
///     print(&store, &index, root, 0);
/// }
/// # Ok(())
/// # }
/// ```
pub struct EffectsIndex {
    store: Store,
    pairs: ChunkIndex<u64>,
}

/// Maximum number of effects in a result.
const EFFECTS_MAX: usize = 1 << 16;
/// Number of low bits of a pair that hold the place of the block. Place and slot of the cause are
/// above them.
const PLACE_BITS: u32 = 28;

impl EffectsIndex {
    /// Builds the index. Calls `progress` with the number of chunks read so far and the number of
    /// all chunks. Returns `None` if `progress` returns false.
    pub fn build(store: &Store, progress: impl FnMut(u64, u64) -> bool) -> Option<Self> {
        let mut index = EffectsIndex { store: store.clone(), pairs: ChunkIndex::new() };
        index.read_on(progress).then_some(index)
    }

    /// Indexes the additions to a live recording.
    pub fn update(&mut self, store: &Store) {
        self.store = store.clone();
        self.read_on(|_, _| true);
    }

    /// Returns the direct effects of an event in the order of their ids, at most 65,536. Links
    /// count.
    pub fn effects(&self, id: EventId) -> Vec<EventId> {
        self.effects_after(id, None, EFFECTS_MAX)
    }

    /// Returns the direct effects of an event with ids above `after`, at most `max`.
    pub fn effects_after(&self, id: EventId, after: Option<EventId>, max: usize) -> Vec<EventId> {
        let ring = self.store.ring();
        let mut blocks = self.blocks(id);
        blocks.sort_unstable();
        blocks.dedup();
        // The order of the sequences is the order of the ids, because no event is younger than its
        // block.
        let from = after.map_or(0, EventId::sequence);
        let mut heads: Vec<(u64, u64)> = (blocks.into_iter())
            .filter_map(|place| Some((ring.head(place)?.sequence, place)))
            .filter(|&(sequence, _)| sequence >= from)
            .collect();
        heads.sort_unstable();
        let mut effects = Vec::new();
        let mut block = Block::boxed();
        for (_, place) in heads {
            if effects.len() >= max {
                break;
            }
            if ring.load(place, &mut block) {
                effects.extend(
                    effects_in(&block, id)
                        .filter(|&effect| after.is_none_or(|after| effect > after)),
                );
            }
        }
        effects.sort_unstable();
        effects.dedup();
        effects.truncate(max);
        effects
    }

    /// Returns the size of the index in bytes.
    pub fn bytes(&self) -> usize {
        self.pairs.bytes()
    }

    /// Returns the places of the blocks that may hold effects of an event.
    fn blocks(&self, id: EventId) -> Vec<u64> {
        let blocks = self.store.layout().blocks;
        let own = header::place(id.sequence(), blocks);
        let cause = pair(own, id.slot(), 0);
        let mut places = vec![own];
        for run in self.pairs.runs() {
            let from = run.partition_point(|&pair| pair < cause);
            let of_cause =
                run[from..].iter().take_while(|&&pair| pair >> PLACE_BITS == cause >> PLACE_BITS);
            places.extend(of_cause.map(|pair| pair & ((1 << PLACE_BITS) - 1)));
        }
        places
    }

    fn read_on(&mut self, progress: impl FnMut(u64, u64) -> bool) -> bool {
        let store = self.store.clone();
        let ring = store.ring();
        self.pairs.read_on(
            ring,
            |chunk, into| pairs_of_chunk(ring, chunk, into),
            |_| true,
            progress,
        )
    }
}

impl std::fmt::Debug for EffectsIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EffectsIndex").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

/// Packs place and slot of a cause, and the place of a block with an effect of it, into one word.
#[inline(always)]
fn pair(cause_place: u64, cause_slot: usize, place: u64) -> u64 {
    let cause = cause_place * BLOCK_SLOTS as u64 + cause_slot as u64;
    cause << PLACE_BITS | place & ((1 << PLACE_BITS) - 1)
}

fn effects_in(block: &Block, id: EventId) -> impl Iterator<Item = EventId> {
    block.records().filter_map(move |record| match record {
        Record::Event(slot) if slot.cause == id.raw() => Some(block.head.id(slot.slot)),
        Record::Mark(mark) if mark.mark == Mark::Link && mark.words[0] == id.raw() => {
            EventId::from_raw(mark.event)
        }
        _ => None,
    })
}

/// Adds the pairs of a chunk whose cause is in another block.
fn pairs_of_chunk(ring: Ring<'_>, chunk: u64, into: &mut Vec<u64>) {
    let mut block = Block::boxed();
    for place in ring.places_of(chunk) {
        if !ring.load(place, &mut block) {
            continue;
        }
        let own = block.head.sequence;
        let from = into.len();
        let mut last = 0;
        for record in block.records() {
            let cause = match record {
                Record::Event(slot) => slot.cause,
                Record::Mark(mark) if mark.mark == Mark::Link => mark.words[0],
                Record::Mark(_) => continue,
            };
            // Neighbours often share their cause.
            if cause == last || cause == 0 || cause / BLOCK_SLOTS as u64 == own {
                continue;
            }
            last = cause;
            let cause_place = header::place(cause / BLOCK_SLOTS as u64, ring.layout.blocks);
            into.push(pair(cause_place, (cause % BLOCK_SLOTS as u64) as usize, place));
        }
        into[from..].sort_unstable();
        let mut kept = from;
        for at in from..into.len() {
            if at == from || into[at] != into[kept - 1] {
                into[kept] = into[at];
                kept += 1;
            }
        }
        into.truncate(kept);
    }
}
