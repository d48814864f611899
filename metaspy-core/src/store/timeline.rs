//! Events in time order: (tick, lane, slot), forward and backward, from any place.
//!
//! The lanes are merged block by block. Summaries say which chunks can matter, headers which blocks, so a page of 100
//! million events costs what is on the page.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::event::{Event, EventId};
use crate::store::Store;
use crate::store::blocks::{Block, Head, Ring, Slot};
use crate::store::chunks::Chunk;
use crate::store::filter::Filter;

/// A place in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before the oldest event.
    Start,
    /// After the newest.
    End,
    /// Before all events that began at this tick or later.
    At {
        /// The tick.
        tick: u64,
    },
    /// At an event, which itself is left out. One that left the window counts as older than all.
    Event(EventId),
}

/// A part of the events, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The events.
    pub events: Vec<Event>,
    /// Where to go on, if the page or the budget was full; `None` = there are no more.
    pub more: Option<Position>,
    /// Events that were looked at.
    pub looked_at: usize,
}

/// What the order goes by.
type Key = (u64, u32, u64);

impl Store {
    /// The next events from a place on that pass the filter, at most `max`; at most about `budget` are looked at.
    pub fn forward(&self, from: Position, filter: &Filter, max: usize, budget: usize) -> Page {
        self.walk::<Ahead>(from, filter, max, budget)
    }

    /// The events just before a place that pass the filter, at most `max`; at most about `budget` are looked at.
    pub fn backward(&self, from: Position, filter: &Filter, max: usize, budget: usize) -> Page {
        self.walk::<Back>(from, filter, max, budget)
    }

    fn walk<D: Direction>(&self, from: Position, filter: &Filter, max: usize, budget: usize) -> Page {
        let ring = self.ring();
        let mut page = Page::default();
        let Some(from) = self.key_of::<D>(from) else { return page };
        let matcher = self.compile(filter, 0..=0);
        let mut memory = matcher.memory();
        let wants_block = |head: &Head| matcher.wants_block(head);
        let mut merge = Merge::<D, _>::new(ring, from, |chunk| matcher.wants_chunk(chunk), wants_block);
        let mut last = None;
        while let Some(cursor) = merge.next() {
            if page.events.len() >= max || page.looked_at >= budget.max(1) {
                page.more = last.map(Position::Event);
                break;
            }
            let (head, slot) = cursor;
            page.looked_at += 1;
            last = Some(head.id(slot.slot));
            if matcher.matches(ring, &head, &slot, &mut memory) {
                page.events.push(self.completed(head.event(&slot)));
            }
        }
        if D::IS_BACK {
            page.events.reverse();
        }
        page
    }

    /// The key behind which a walk begins; `None` if there is nothing behind it.
    fn key_of<D: Direction>(&self, position: Position) -> Option<Bound> {
        match position {
            Position::Start if D::IS_BACK => None,
            Position::End if !D::IS_BACK => None,
            Position::Start | Position::End => Some(Bound::All),
            Position::At { tick } => Some(Bound::Tick(tick)),
            Position::Event(id) => {
                match Place::find(self.ring(), id) {
                    Some(key) => Some(Bound::Key(key)),
                    None if D::IS_BACK => None,
                    None => Some(Bound::All),
                }
            }
        }
    }
}

/// Where a walk begins.
#[derive(Clone, Copy, Debug)]
enum Bound {
    All,
    Tick(u64),
    Key(Key),
}

impl Bound {
    fn tick(self) -> Option<u64> {
        match self {
            Bound::All => None,
            Bound::Tick(tick) | Bound::Key((tick, ..)) => Some(tick),
        }
    }
}

/// An event of a block, in order.
struct Place;

impl Place {
    /// The events of a block with their keys. In one lane the order is that of the ids, whatever the clock says, so a
    /// start that is behind the one before it counts as equal to it.
    fn keys(block: &Block) -> impl Iterator<Item = (Key, Slot)> {
        let head = block.head;
        let mut tick = head.base;
        block.events().map(move |slot| {
            tick = tick.max(head.base.saturating_add(slot.start));
            ((tick, head.lane, head.id(slot.slot).raw()), slot)
        })
    }

    /// The key of an event.
    fn find(ring: Ring<'_>, id: EventId) -> Option<Key> {
        let mut block = Block::boxed();
        let place = crate::format::header::place(id.sequence(), ring.layout.blocks);
        if !ring.load(place, &mut block) || block.head.sequence != id.sequence() {
            return None;
        }
        Self::keys(&block).map(|(key, _)| key).find(|key| key.2 == id.raw())
    }
}

/// Forward or backward: the same merge, with the order turned round.
trait Direction {
    const IS_BACK: bool;
    /// A key that is larger the later the walk comes to it.
    type Rank: Ord + Copy;
    fn rank(key: Key) -> Self::Rank;
}

struct Ahead;
struct Back;

impl Direction for Ahead {
    const IS_BACK: bool = false;
    type Rank = Key;
    fn rank(key: Key) -> Key {
        key
    }
}

impl Direction for Back {
    const IS_BACK: bool = true;
    type Rank = Reverse<Key>;
    fn rank(key: Key) -> Reverse<Key> {
        Reverse(key)
    }
}

/// The merge of all lanes: chunks wait until the walk comes near them, then their blocks do, then their events.
struct Merge<'a, D: Direction, B> {
    ring: Ring<'a>,
    from: Bound,
    wants_block: B,
    /// Chunks by the rank of the first event that they may hold; the next one is last.
    chunks: Vec<(D::Rank, u64)>,
    /// Blocks that wait, by the same.
    blocks: BinaryHeap<Reverse<(D::Rank, u64)>>,
    /// Blocks that the walk is in, by the rank of their next event.
    cursors: BinaryHeap<Reverse<(D::Rank, usize)>>,
    open: Vec<Cursor>,
    /// Cursors that can be used again.
    done: Vec<usize>,
    /// The cursor at hand; it is not in `cursors`.
    hand: Option<usize>,
    block: Box<Block>,
}

/// A block that the walk is in: its events, the next one last.
struct Cursor {
    head: Head,
    events: Vec<(Key, Slot)>,
}

impl<'a, D: Direction, B: Fn(&Head) -> bool> Merge<'a, D, B> {
    fn new(ring: Ring<'a>, from: Bound, wants_chunk: impl Fn(&Chunk) -> bool, wants_block: B) -> Self {
        let tick = from.tick();
        let mut chunks: Vec<(D::Rank, u64)> = ring
            .chunks()
            .into_iter()
            .filter(|chunk| match (tick, D::IS_BACK) {
                (None, _) => true,
                (Some(tick), false) => chunk.last >= tick,
                (Some(tick), true) => chunk.first <= tick,
            })
            .filter(wants_chunk)
            .map(|chunk| {
                let near = if D::IS_BACK { (chunk.last, u32::MAX, u64::MAX) } else { (chunk.first, 0, 0) };
                (D::rank(near), chunk.index)
            })
            .collect();
        chunks.sort_unstable_by(|a, b| b.cmp(a));
        Merge {
            ring,
            from,
            wants_block,
            chunks,
            blocks: BinaryHeap::new(),
            cursors: BinaryHeap::new(),
            open: Vec::new(),
            done: Vec::new(),
            hand: None,
            block: Block::boxed(),
        }
    }

    /// The next event.
    fn next(&mut self) -> Option<(Head, Slot)> {
        loop {
            // As long as the block at hand has the next event, no heap is touched.
            if let Some(hand) = self.hand {
                match self.open[hand].events.last().copied() {
                    Some((key, slot)) if self.nearest().is_none_or(|nearest| D::rank(key) <= nearest) => {
                        let cursor = &mut self.open[hand];
                        cursor.events.pop();
                        return Some((cursor.head, slot));
                    }
                    Some((key, _)) => self.cursors.push(Reverse((D::rank(key), hand))),
                    None => self.done.push(hand),
                }
                self.hand = None;
            }
            let next = self.cursors.peek().map(|Reverse((rank, _))| *rank);
            let block = self.blocks.peek().map(|Reverse((rank, _))| *rank);
            let chunk = self.chunks.last().map(|(rank, _)| *rank);
            // What may hold an earlier event is opened before a later one is handed out.
            if let Some(chunk) = chunk
                && next.is_none_or(|next| chunk <= next)
                && block.is_none_or(|block| chunk <= block)
            {
                self.open_chunk();
            } else if let Some(block) = block
                && next.is_none_or(|next| block <= next)
            {
                self.open_block();
            } else {
                let Reverse((_, cursor)) = self.cursors.pop()?;
                self.hand = Some(cursor);
            }
        }
    }

    /// The rank of the nearest event that is not at hand.
    fn nearest(&self) -> Option<D::Rank> {
        let next = self.cursors.peek().map(|Reverse((rank, _))| *rank);
        let block = self.blocks.peek().map(|Reverse((rank, _))| *rank);
        let chunk = self.chunks.last().map(|(rank, _)| *rank);
        [next, block, chunk].into_iter().flatten().min()
    }

    fn open_chunk(&mut self) {
        let Some((_, chunk)) = self.chunks.pop() else { return };
        for place in self.ring.places_of(chunk) {
            let Some(head) = self.ring.head(place).filter(|head| (self.wants_block)(head)) else { continue };
            let tick = self.from.tick();
            if D::IS_BACK {
                // Where a block ends only its events tell.
                if tick.is_none_or(|tick| head.base <= tick)
                    && self.ring.load(place, &mut self.block)
                    && let Some((key, _)) = Place::keys(&self.block).last()
                {
                    self.blocks.push(Reverse((D::rank(key), place)));
                }
            } else {
                self.blocks.push(Reverse((D::rank((head.base, head.lane, head.id(0).raw())), place)));
            }
        }
    }

    fn open_block(&mut self) {
        let Some(Reverse((_, place))) = self.blocks.pop() else { return };
        if !self.ring.load(place, &mut self.block) {
            return;
        }
        let from = self.from;
        let behind = |key: Key| match (from, D::IS_BACK) {
            (Bound::All, _) => true,
            (Bound::Tick(tick), false) => key.0 >= tick,
            (Bound::Tick(tick), true) => key.0 < tick,
            (Bound::Key(from), false) => key > from,
            (Bound::Key(from), true) => key < from,
        };
        let at = self.done.pop().unwrap_or(self.open.len());
        if at == self.open.len() {
            self.open.push(Cursor { head: self.block.head, events: Vec::new() });
        }
        let cursor = &mut self.open[at];
        cursor.head = self.block.head;
        cursor.events.clear();
        cursor.events.extend(Place::keys(&self.block).filter(|&(key, _)| behind(key)));
        if !D::IS_BACK {
            cursor.events.reverse();
        }
        match cursor.events.last() {
            Some(&(key, _)) => self.cursors.push(Reverse((D::rank(key), at))),
            None => self.done.push(at),
        }
    }
}
