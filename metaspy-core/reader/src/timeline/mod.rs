//! Events in order of time (tick, lane, slot), forward and backward, from any position.
//!
//! The lanes are merged block by block. Summaries and headers show which chunks and blocks can be
//! skipped, so the cost of a page does not depend on the size of the recording.

pub(crate) mod rank;
pub(crate) mod violations;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Store;
use crate::event::{Event, EventId};
use crate::filter::Filter;
use crate::filter::matcher::{Matcher, Memory};
use crate::parallel;
use crate::ring::blocks::{Block, Head, Ring, Slot};

/// Position in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before the oldest event.
    Start,
    /// After the newest event.
    End,
    /// Before all events that began at this tick or later.
    At {
        /// Tick to compare with.
        tick: u64,
    },
    /// At an event, which is left out. An event that left the window counts as older than all
    /// others.
    Event(EventId),
}

/// Page of events, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Events of the page.
    pub events: Vec<Event>,
    /// Position of the next page, if this page is full or the budget is spent; `None` = there are
    /// no more events. The next page may be empty.
    pub more: Option<Position>,
    /// Number of events that were tested. Blocks are tested as a whole, so this can slightly exceed
    /// the budget.
    pub looked_at: usize,
}

/// Key of the order: tick, lane, id.
pub(crate) type Key = (u64, u32, u64);

impl Store {
    /// Returns the next events after a position that pass the filter, at most `max`. Tests at most
    /// about `budget` events.
    pub fn forward(&self, from: Position, filter: &Filter, max: usize, budget: usize) -> Page {
        self.walk::<Ahead>(from, filter, max, budget)
    }

    /// Returns the last events before a position that pass the filter, at most `max`. Tests at most
    /// about `budget` events.
    pub fn backward(&self, from: Position, filter: &Filter, max: usize, budget: usize) -> Page {
        self.walk::<Back>(from, filter, max, budget)
    }

    fn walk<D: Direction>(
        &self,
        from: Position,
        filter: &Filter,
        max: usize,
        budget: usize,
    ) -> Page {
        let mut page = Page::default();
        let Some(from) = self.key_of::<D>(from) else { return page };
        let matcher = self.compile(filter, 0..=0);
        let mut merge = Merge::<D>::new(self, from, &matcher);
        while page.events.len() < max {
            match merge.next(budget.max(1)) {
                Step::Event(head, slot) => page.events.push(self.completed(head.event(&slot))),
                Step::Spent(tick) => {
                    page.more = Some(Position::At { tick });
                    break;
                }
                Step::SpentBehindLast => break,
                Step::End => break,
            }
        }
        if page.more.is_none() && !merge.is_done() {
            page.more = page.events.last().map(|event| Position::Event(event.id));
        }
        page.looked_at = merge.looked_at;
        if D::IS_BACK {
            page.events.reverse();
        }
        page
    }

    /// Returns the key after which a walk begins; `None` if no event can follow.
    fn key_of<D: Direction>(&self, position: Position) -> Option<Bound> {
        match position {
            Position::Start if D::IS_BACK => None,
            Position::End if !D::IS_BACK => None,
            Position::Start | Position::End => Some(Bound::All),
            Position::At { tick } => Some(Bound::Tick(tick)),
            Position::Event(id) => match key_of_event(self.ring(), id) {
                Some(key) => Some(Bound::Key(key)),
                None if D::IS_BACK => None,
                None => Some(Bound::All),
            },
        }
    }
}

/// Beginning of a walk.
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

/// Returns the events of a block with their keys. The order in a lane is the order of the ids, so a
/// start before the previous start counts as equal to it.
pub(crate) fn keyed_events(block: &Block) -> impl Iterator<Item = (Key, Slot)> {
    let head = block.head;
    let mut tick = head.base;
    block.events().map(move |slot| {
        tick = tick.max(head.base.saturating_add(slot.start));
        ((tick, head.lane, head.id(slot.slot).raw()), slot)
    })
}

/// Returns the key of an event, if it is in the window.
fn key_of_event(ring: Ring<'_>, id: EventId) -> Option<Key> {
    let mut block = Block::boxed();
    let place = metaspy_format::header::place(id.sequence(), ring.layout.blocks);
    if !ring.load(place, &mut block) || block.head.sequence != id.sequence() {
        return None;
    }
    keyed_events(&block).map(|(key, _)| key).find(|key| key.2 == id.raw())
}

/// Direction of a walk. Both directions use the same merge with the opposite order.
trait Direction {
    const IS_BACK: bool;
    /// Key that grows along the walk.
    type Order: Ord + Copy;
    fn order(key: Key) -> Self::Order;
    /// Returns the tick of a key.
    fn tick(order: Self::Order) -> u64;
}

struct Ahead;
struct Back;

impl Direction for Ahead {
    const IS_BACK: bool = false;
    type Order = Key;
    fn order(key: Key) -> Key {
        key
    }
    fn tick(order: Key) -> u64 {
        order.0
    }
}

impl Direction for Back {
    const IS_BACK: bool = true;
    type Order = Reverse<Key>;
    fn order(key: Key) -> Reverse<Key> {
        Reverse(key)
    }
    fn tick(order: Reverse<Key>) -> u64 {
        order.0.0
    }
}

/// Merge of all lanes. Chunks are opened when the walk comes near them, then their blocks, then
/// their events.
struct Merge<'a, D: Direction> {
    ring: Ring<'a>,
    from: Bound,
    matcher: &'a Matcher,
    memory: Memory,
    /// Unopened chunks, by the key of the first event that they may hold; the nearest chunk is
    /// last.
    chunks: Vec<(D::Order, u64)>,
    /// Unopened blocks, by the key of the first event that they may hold.
    blocks: BinaryHeap<Reverse<(D::Order, u64)>>,
    /// Open blocks, by the key of their next event.
    cursors: BinaryHeap<Reverse<(D::Order, usize)>>,
    open: Vec<Cursor>,
    /// Indices of free entries in `open`.
    done: Vec<usize>,
    /// Index of the current entry of `open`, which is not in `cursors`.
    hand: Option<usize>,
    block: Box<Block>,
    /// Tick of the last event that was returned.
    last: Option<u64>,
    looked_at: usize,
}

/// Open block with its matching events; the nearest event is last.
struct Cursor {
    head: Head,
    events: Vec<(Key, Slot)>,
}

/// Result of a step.
enum Step {
    Event(Head, Slot),
    /// The budget is spent. The walk can continue from this tick.
    Spent(u64),
    /// The budget is spent. The walk can continue after the last event that it returned.
    SpentBehindLast,
    End,
}

impl<'a, D: Direction> Merge<'a, D> {
    fn new(store: &'a Store, from: Bound, matcher: &'a Matcher) -> Self {
        let ring = store.ring();
        let tick = from.tick();
        let mut chunks: Vec<(D::Order, u64)> = ring
            .chunks()
            .into_iter()
            .filter(|chunk| match (tick, D::IS_BACK) {
                (None, _) => true,
                (Some(tick), false) => chunk.last >= tick,
                (Some(tick), true) => chunk.first <= tick,
            })
            .filter(|chunk| matcher.wants_chunk(chunk))
            .map(|chunk| {
                let near =
                    if D::IS_BACK { (chunk.last, u32::MAX, u64::MAX) } else { (chunk.first, 0, 0) };
                (D::order(near), chunk.index)
            })
            .collect();
        chunks.sort_unstable_by(|a, b| b.cmp(a));
        Merge {
            ring,
            from,
            matcher,
            memory: matcher.memory(store),
            chunks,
            blocks: BinaryHeap::new(),
            cursors: BinaryHeap::new(),
            open: Vec::new(),
            done: Vec::new(),
            hand: None,
            block: Block::boxed(),
            last: None,
            looked_at: 0,
        }
    }

    /// Returns true if the walk has reached its end.
    fn is_done(&self) -> bool {
        let hand = self.hand.is_none_or(|hand| self.open[hand].events.is_empty());
        hand && self.cursors.is_empty() && self.blocks.is_empty() && self.chunks.is_empty()
    }

    /// Returns the next event that matches.
    fn next(&mut self, budget: usize) -> Step {
        loop {
            // No heap is touched while the current block has the next event.
            if let Some(hand) = self.hand {
                match self.open[hand].events.last().copied() {
                    Some((key, slot))
                        if self.nearest().is_none_or(|nearest| D::order(key) <= nearest) =>
                    {
                        let cursor = &mut self.open[hand];
                        cursor.events.pop();
                        self.last = Some(key.0);
                        return Step::Event(cursor.head, slot);
                    }
                    Some((key, _)) => self.cursors.push(Reverse((D::order(key), hand))),
                    None => self.done.push(hand),
                }
                self.hand = None;
            }
            let next = self.cursors.peek().map(|Reverse((order, _))| *order);
            let block = self.blocks.peek().map(|Reverse((order, _))| *order);
            let chunk = self.chunks.last().map(|(order, _)| *order);
            // Chunks and blocks that may hold an earlier event are opened before a later event is
            // returned.
            let opens = [chunk, block]
                .into_iter()
                .flatten()
                .min()
                .filter(|&near| next.is_none_or(|next| near <= next));
            match opens {
                Some(near) if self.looked_at >= budget && self.can_stop_at(near) => {
                    return self.stop_at(near);
                }
                Some(near) if chunk == Some(near) => {
                    if parallel::is_interrupted() {
                        return Step::End;
                    }
                    self.open_chunk();
                }
                Some(_) => self.open_block(),
                None => match self.cursors.pop() {
                    Some(Reverse((_, cursor))) => self.hand = Some(cursor),
                    None => return Step::End,
                },
            }
        }
    }

    /// Returns the key of the nearest event outside the current block.
    fn nearest(&self) -> Option<D::Order> {
        let next = self.cursors.peek().map(|Reverse((order, _))| *order);
        let block = self.blocks.peek().map(|Reverse((order, _))| *order);
        let chunk = self.chunks.last().map(|(order, _)| *order);
        [next, block, chunk].into_iter().flatten().min()
    }

    /// Returns true if the walk can stop before this key, and continue from there with progress.
    fn can_stop_at(&self, near: D::Order) -> bool {
        let tick = D::tick(near);
        self.last.is_some()
            || if D::IS_BACK {
                self.from.tick().map_or(u64::MAX, |from| from.saturating_sub(1)) > tick
            } else {
                self.from.tick().is_none_or(|from| from < tick)
            }
    }

    fn stop_at(&self, near: D::Order) -> Step {
        let tick = D::tick(near);
        match (self.last, D::IS_BACK) {
            (Some(last), false) if last >= tick => Step::SpentBehindLast,
            (Some(last), true) if last <= tick => Step::SpentBehindLast,
            (_, false) => Step::Spent(tick),
            (_, true) => Step::Spent(tick.saturating_add(1)),
        }
    }

    fn open_chunk(&mut self) {
        let Some((_, chunk)) = self.chunks.pop() else { return };
        for place in self.ring.places_of(chunk) {
            let Some(head) = self.ring.head(place).filter(|head| self.matcher.wants_block(head))
            else {
                continue;
            };
            if !D::IS_BACK {
                self.blocks
                    .push(Reverse((D::order((head.base, head.lane, head.id(0).raw())), place)));
                continue;
            }
            // The end of a block is only known from its events. They are tested now, so blocks
            // without a match are not opened again.
            if self.from.tick().is_none_or(|tick| head.base <= tick)
                && self.ring.load(place, &mut self.block)
            {
                let mut events = Vec::new();
                let tested = self.matching(&mut events);
                match events.last() {
                    Some(&(key, _)) => self.blocks.push(Reverse((D::order(key), place))),
                    None => self.looked_at += tested,
                }
            }
        }
    }

    fn open_block(&mut self) {
        let Some(Reverse((_, place))) = self.blocks.pop() else { return };
        if !self.ring.load(place, &mut self.block) {
            return;
        }
        let at = self.done.pop().unwrap_or(self.open.len());
        if at == self.open.len() {
            self.open.push(Cursor { head: self.block.head, events: Vec::new() });
        }
        let mut events = std::mem::take(&mut self.open[at].events);
        events.clear();
        self.looked_at += self.matching(&mut events);
        if !D::IS_BACK {
            events.reverse();
        }
        match events.last() {
            Some(&(key, _)) => self.cursors.push(Reverse((D::order(key), at))),
            None => self.done.push(at),
        }
        self.open[at] = Cursor { head: self.block.head, events };
    }

    /// Adds the events of the current block that match and lie after the beginning of the walk.
    /// Returns the number of tested events.
    fn matching(&mut self, into: &mut Vec<(Key, Slot)>) -> usize {
        let from = self.from;
        let behind = |key: Key| match (from, D::IS_BACK) {
            (Bound::All, _) => true,
            (Bound::Tick(tick), false) => key.0 >= tick,
            (Bound::Tick(tick), true) => key.0 < tick,
            (Bound::Key(from), false) => key > from,
            (Bound::Key(from), true) => key < from,
        };
        let mut tested = 0;
        for (key, slot) in keyed_events(&self.block).filter(|&(key, _)| behind(key)) {
            tested += 1;
            if self.matcher.matches(self.ring, &self.block.head, &slot, &mut self.memory) {
                into.push((key, slot));
            }
        }
        tested
    }
}
