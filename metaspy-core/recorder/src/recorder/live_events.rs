//! Live events for subscriptions. The collector reads each event once, after it has ended.
//!
//! The collector delivers them, because another reader would miss events that the ring overwrites,
//! and a delivery from the hook would make the program wait. Events are delivered at their end,
//! because only an ended event has an outcome.

use std::sync::atomic::Ordering::Acquire;

use crate::event::{EventId, Outcome};
use crate::format::slot::Commit;
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, header};
use crate::recorder::log::Log;
use crate::recorder::log::State;
use crate::store::Store;
use crate::store::blocks::{Block, Head, Record, Ring, Slot};

/// Events read in one pass at most.
const AT_ONCE: usize = 1 << 14;
/// Running events that are followed at once. Further ones are counted and not delivered.
const RUNNING: usize = 1 << 16;

/// An event that was read.
#[derive(Clone, Copy, Debug)]
pub struct LiveEvent {
    pub head: Head,
    pub slot: Slot,
}

impl LiveEvent {
    /// The tick of its end; of its start if it has no span.
    fn end(&self) -> u64 {
        self.head.base.saturating_add(self.slot.start).saturating_add(self.slot.span().unwrap_or(0))
    }
}

/// The reading position in a block.
#[derive(Clone, Copy, Default)]
struct Cursor {
    sequence: u64,
    /// The slot that is read next.
    slot: usize,
    /// True if the block is read to its end.
    done: bool,
}

/// Reads events from the blocks as they end.
pub(crate) struct LiveEvents {
    store: Store,
    cursors: Vec<Cursor>,
    /// Events that have begun and not ended.
    running: Vec<EventId>,
    /// Events to deliver, in the order of their ends.
    pub ready: Vec<LiveEvent>,
    /// Events that are not delivered, because too many ran at once.
    pub unwatched: u64,
    block: Box<Block>,
}

impl LiveEvents {
    /// Starts at the present: earlier events are skipped.
    pub fn new(log: &Log) -> Option<Self> {
        let store = Store::of_writer(log.region.clone(), log.layout).ok()?;
        let cursors = vec![Cursor::default(); log.layout.blocks as usize];
        let running = Vec::new();
        let ready = Vec::new();
        let mut feed =
            LiveEvents { store, cursors, running, ready, unwatched: 0, block: Block::boxed() };
        // Existing events are skipped.
        while feed.pass(log) {
            feed.ready.clear();
        }
        feed.ready.clear();
        feed.running.clear();
        Some(feed)
    }

    /// Reads new events. True if there are more.
    pub fn pass(&mut self, log: &Log) -> bool {
        self.end_those_that_ended();
        let mut more = false;
        for place in 0..log.layout.blocks {
            let state = log.state(place);
            match state {
                State::Empty => break,
                State::Ready | State::Folding | State::Kept => continue,
                State::Full if self.cursors[place as usize].done => continue,
                State::Full | State::Held => {}
            }
            if self.ready.len() >= AT_ONCE {
                more = true;
                break;
            }
            self.read(log, place, state == State::Full);
        }
        self.ready.sort_by_key(LiveEvent::end);
        more
    }

    /// Reads the rest of a block before it is freed. An event that still runs is delivered as it
    /// is.
    pub fn finish(&mut self, log: &Log, place: u64) {
        self.read(log, place, true);
        let sequence = self.cursors[place as usize].sequence;
        let ring = self.store.ring();
        let ready = &mut self.ready;
        self.running.retain(|id| {
            let stays = id.sequence() != sequence;
            if !stays && let Some((head, slot)) = ring.peek(*id) {
                ready.push(LiveEvent { head, slot });
            }
            stays
        });
        self.cursors[place as usize] = Cursor::default();
    }

    /// Takes the events to deliver, and a store to resolve them.
    pub fn take(&mut self) -> (Vec<LiveEvent>, Store) {
        let _ = self.store.refresh();
        (std::mem::take(&mut self.ready), self.store.clone())
    }

    fn end_those_that_ended(&mut self) {
        let ring = self.store.ring();
        let ready = &mut self.ready;
        self.running.retain(|id| match ring.peek(*id) {
            Some((_, slot)) if slot.outcome() == Outcome::Running => true,
            Some((head, slot)) => {
                ready.push(LiveEvent { head, slot });
                false
            }
            None => false,
        });
    }

    fn read(&mut self, log: &Log, place: u64, is_full: bool) {
        let cells = log.block(place);
        let sequence = cells[header::SEQUENCE].load(Acquire);
        let cursor = &mut self.cursors[place as usize];
        if cursor.sequence != sequence {
            *cursor = Cursor { sequence, slot: 1, done: false };
        }
        if cursor.done || sequence == 0 {
            return;
        }
        let lap = header::lap_byte(sequence, log.layout.blocks);
        let is_new = cursor.slot < BLOCK_SLOTS
            && Commit::unpack(cells[cursor.slot * SLOT_WORDS].load(Acquire)).lap == lap;
        let ring: Ring<'_> = self.store.ring();
        if is_new && ring.load(place, &mut self.block) {
            let mut records = self.block.records_from(cursor.slot);
            for record in records.by_ref() {
                let Record::Event(slot) = record else { continue };
                let head = self.block.head;
                match slot.outcome() {
                    Outcome::Running if self.running.len() < RUNNING => {
                        self.running.push(head.id(slot.slot))
                    }
                    Outcome::Running => self.unwatched += 1,
                    _ => self.ready.push(LiveEvent { head, slot }),
                }
            }
            cursor.slot = records.slot();
        }
        cursor.done = is_full || cursor.slot >= BLOCK_SLOTS;
    }
}
