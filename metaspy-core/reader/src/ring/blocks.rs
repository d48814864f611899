//! Ring of blocks. A block is copied out under its seqlock: the header's sequence is loaded, then
//! the words, then the sequence again. A copy whose sequence has changed is discarded.
//!
//! No word of a recording is trusted beyond the bounds of the region.

use std::sync::atomic::{Ordering, fence};

use crate::event::{Event, EventId, LaneId, Outcome};
use crate::ring::folds::Folds;
use metaspy_format::layout::Layout;
use metaspy_format::slot::{self, Commit, FIRST_MARK, Flags, Mark};
use metaspy_format::{BLOCK_BYTES, BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, Words, header};
use metaspy_probe::SiteId;
use metaspy_probe::{KindId, Subject};

/// Size of a block in 64-bit words.
pub const BLOCK_WORDS: usize = BLOCK_BYTES / 8;
/// Maximum sequence, because ids made of larger sequences would overflow.
const SEQUENCE_MAX: u64 = u64::MAX / BLOCK_SLOTS as u64;

/// Blocks of a recording.
#[derive(Clone, Copy)]
pub struct Ring<'a> {
    pub words: Words<'a>,
    pub layout: &'a Layout,
}

/// Header of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub place: u64,
    pub sequence: u64,
    pub lane: u32,
    pub epoch: u32,
    pub base: u64,
    pub lost_before: u64,
    /// True if only some of its events are stored, because they are kept, and the others are
    /// folded.
    pub is_kept: bool,
}

/// Copy of a block.
pub struct Block {
    pub head: Head,
    lap: u8,
    /// First slot that holds a record.
    first: usize,
    words: [u64; BLOCK_WORDS],
}

/// Slot of an event, unpacked as far as every reader needs it.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub slot: usize,
    pub start: u64,
    pub site: u32,
    pub cause: u64,
    pub key: u64,
    pub end: u64,
}

/// Mark, with the words after its first two.
#[derive(Clone, Copy, Debug)]
pub struct MarkSlot<'b> {
    pub mark: Mark,
    pub start: u64,
    pub event: u64,
    pub words: &'b [u64],
}

/// Record of a block.
#[derive(Clone, Copy, Debug)]
pub enum Record<'b> {
    Event(Slot),
    Mark(MarkSlot<'b>),
}

impl<'a> Ring<'a> {
    /// Returns the number of places that may hold a block.
    pub fn places(self) -> u64 {
        self.layout.places(self.words)
    }

    /// Returns the places in a chunk.
    pub fn places_of(self, chunk: u64) -> std::ops::Range<u64> {
        let first = chunk.saturating_mul(CHUNK_BLOCKS as u64).min(self.places());
        first..(first + CHUNK_BLOCKS as u64).min(self.places())
    }

    /// Returns the words of the block at `place`; fewer if the recording was cut there.
    #[inline(always)]
    pub fn block(self, place: u64) -> Words<'a> {
        let at = place as usize * BLOCK_WORDS;
        if at < self.layout.chunks.len {
            self.words
                .slice(self.layout.chunks.at + at, BLOCK_WORDS.min(self.layout.chunks.len - at))
        } else {
            self.words.slice(usize::MAX, 0)
        }
    }

    /// Returns true if a block with this sequence can be at `place`.
    #[inline(always)]
    pub fn belongs(self, sequence: u64, place: u64) -> bool {
        let blocks = self.layout.blocks;
        sequence >= blocks && sequence < SEQUENCE_MAX && header::place(sequence, blocks) == place
    }

    /// Returns the header of the block at `place`.
    pub fn head(self, place: u64) -> Option<Head> {
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        let head = head(words, place, sequence);
        fence(Ordering::Acquire);
        (self.belongs(sequence, place) && words.get(header::SEQUENCE) == sequence).then_some(head)
    }

    /// Copies the block at `place`. Returns false if there is none, or if its sequence changed
    /// during the copy.
    pub fn load(self, place: u64, block: &mut Block) -> bool {
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        if !self.belongs(sequence, place) {
            return false;
        }
        if words.len() == BLOCK_WORDS {
            copy(words, &mut block.words);
        } else {
            // The file ends inside this block. Missing slots read as not committed.
            block.words.fill(0);
            copy(words, &mut block.words);
        }
        fence(Ordering::Acquire);
        block.head = head(words, place, sequence);
        block.lap = header::lap_byte(sequence, self.layout.blocks);
        block.first = 1;
        fence(Ordering::Acquire);
        words.get(header::SEQUENCE) == sequence
    }

    /// Copies a block like [`Ring::load`], without the records that are folded. Returns false if
    /// all are folded.
    pub(crate) fn load_stored(self, place: u64, folds: &Folds, block: &mut Block) -> bool {
        let is_there = self.load(place, block);
        block.first = folds.first_stored(block.head.sequence);
        is_there && block.first < BLOCK_SLOTS
    }

    /// Returns an async call that is stored and has ended, and the tick of its end. Without an end
    /// it has no time of its own yet.
    pub fn polled(self, folds: &Folds, id: EventId) -> Option<(Head, Slot, u64)> {
        let (head, slot) = self.peek(id)?;
        let is_stored = !head.is_kept && folds.first_stored(id.sequence()) <= id.slot();
        let began = head.base.saturating_add(slot.start);
        let end = slot.span().filter(|_| is_stored).map(|span| began.saturating_add(span))?;
        Some((head, slot, end))
    }

    /// Returns the event with this id, if its slot is committed. The id must begin a slot, as the
    /// causes in a log do.
    pub fn peek(self, id: EventId) -> Option<(Head, Slot)> {
        let place = header::place(id.sequence(), self.layout.blocks);
        if id.slot() == 0 || place >= self.places() {
            return None;
        }
        let words = self.block(place);
        let sequence = words.acquire(header::SEQUENCE);
        if sequence != id.sequence() || !self.belongs(sequence, place) {
            return None;
        }
        let at = id.slot() * SLOT_WORDS;
        let commit = words.acquire(at);
        let unpacked = Commit::unpack(commit);
        let slot = Slot {
            slot: id.slot(),
            start: unpacked.start,
            site: unpacked.site,
            cause: words.get(at + 1),
            key: words.get(at + 2),
            end: words.get(at + 3),
        };
        let head = head(words, place, sequence);
        fence(Ordering::Acquire);
        let whole = words.get(header::SEQUENCE) == sequence
            && unpacked.lap == header::lap_byte(sequence, self.layout.blocks)
            && unpacked.site < FIRST_MARK;
        whole.then_some((head, slot))
    }

    /// Returns the event with this id. Ids from outside the recording may point into the middle of
    /// a detail, so all records of the block are walked.
    pub fn find(self, id: EventId) -> Option<Event> {
        let place = header::place(id.sequence(), self.layout.blocks);
        if place >= self.places() {
            return None;
        }
        let mut block = Block::boxed();
        if !self.load(place, &mut block) || block.head.sequence != id.sequence() {
            return None;
        }
        block.events().find(|slot| slot.slot == id.slot()).map(|slot| block.head.event(&slot))
    }
}

#[inline(always)]
fn head(words: Words<'_>, place: u64, sequence: u64) -> Head {
    let lane_epoch = words.get(header::LANE_EPOCH);
    let lost = words.get(header::LOST_BEFORE);
    Head {
        place,
        sequence,
        lane: header::lane(lane_epoch),
        epoch: header::epoch(lane_epoch),
        base: words.get(header::BASE),
        lost_before: header::lost_before(lost),
        is_kept: header::is_kept(lost),
    }
}

/// Copies slots. The commit word of a slot is loaded first, so the copied words are never older
/// than it.
#[inline(always)]
fn copy(words: Words<'_>, to: &mut [u64; BLOCK_WORDS]) {
    for slot in 0..words.len().min(BLOCK_WORDS) / SLOT_WORDS {
        let at = slot * SLOT_WORDS;
        to[at] = words.acquire(at);
        to[at + 1] = words.get(at + 1);
        to[at + 2] = words.get(at + 2);
        to[at + 3] = words.get(at + 3);
    }
}

impl Block {
    /// Creates an empty copy.
    pub fn boxed() -> Box<Self> {
        Box::new(Block { head: Head::default(), lap: 0, first: 1, words: [0; BLOCK_WORDS] })
    }

    /// Returns the words, the lap that committed slots carry, and the first slot that holds a
    /// record.
    pub fn raw(&self) -> (&[u64; BLOCK_WORDS], u8, usize) {
        (&self.words, self.lap, self.first)
    }

    /// Iterates over the records. They end at the first slot that is not committed.
    #[inline(always)]
    pub fn records(&self) -> Records<'_> {
        self.records_from(self.first)
    }

    /// Iterates over the records from `slot` on, which must begin a record.
    #[inline(always)]
    pub fn records_from(&self, slot: usize) -> Records<'_> {
        Records { block: self, slot }
    }

    /// Returns the event in a slot, if it is committed. The slot must begin a record.
    #[inline]
    pub(crate) fn event_at(&self, slot: usize) -> Option<Slot> {
        match self.records_from(slot.max(1)).next()? {
            Record::Event(event) if event.slot == slot => Some(event),
            _ => None,
        }
    }

    /// Iterates over the events.
    #[inline(always)]
    pub fn events(&self) -> impl Iterator<Item = Slot> {
        self.records().filter_map(|record| match record {
            Record::Event(slot) => Some(slot),
            Record::Mark(_) => None,
        })
    }

    /// Iterates over the folded events at the beginning of a block that is being folded.
    pub(crate) fn folded_events(&self) -> impl Iterator<Item = Slot> {
        let records = self.records_from(1).filter_map(|record| match record {
            Record::Event(slot) => Some(slot),
            Record::Mark(_) => None,
        });
        records.take_while(|slot| slot.slot < self.first)
    }

    /// Iterates over words 1 to 3 of each mark of an open call at the beginning of the block.
    pub(crate) fn open_marks(&self) -> impl Iterator<Item = [u64; 3]> {
        let slots = self.words.chunks_exact(SLOT_WORDS).skip(1);
        slots
            .take_while(|slot| {
                Commit::unpack(slot[0]).site == Mark::Open as u32 && slot::lap(slot[0]) == self.lap
            })
            .map(|slot| [slot[1], slot[2], slot[3]])
    }

    /// Iterates over the marks.
    pub fn marks(&self) -> impl Iterator<Item = MarkSlot<'_>> {
        self.records().filter_map(|record| match record {
            Record::Event(_) => None,
            Record::Mark(mark) => Some(mark),
        })
    }

    /// Returns true if a slot after the first uncommitted slot carries the lap of this block. A
    /// writer that was killed leaves no such slot, with one exception: details are committed before
    /// the event in front of them.
    pub(crate) fn has_hole(&self) -> bool {
        let mut records = self.records();
        records.by_ref().for_each(drop);
        let gap = records.slot;
        let mut behind = Records { block: self, slot: gap + 1 };
        if gap + 1 < BLOCK_SLOTS
            && let Some(Record::Mark(mark)) = behind.next()
            && mark.mark == Mark::Detail
            && mark.event == self.head.id(gap).raw()
        {
            return (behind.slot..BLOCK_SLOTS).any(|slot| self.carries_lap(slot));
        }
        (gap..BLOCK_SLOTS).any(|slot| self.carries_lap(slot))
    }

    fn carries_lap(&self, slot: usize) -> bool {
        slot::lap(self.words[slot * SLOT_WORDS]) == self.lap
    }
}

/// Records of a block.
pub struct Records<'b> {
    block: &'b Block,
    slot: usize,
}

impl Records<'_> {
    /// Returns the slot of the next record.
    pub fn slot(&self) -> usize {
        self.slot
    }
}

impl<'b> Iterator for Records<'b> {
    type Item = Record<'b>;

    #[inline(always)]
    fn next(&mut self) -> Option<Record<'b>> {
        loop {
            let slot = self.slot;
            if slot >= BLOCK_SLOTS {
                return None;
            }
            let words = &self.block.words[slot * SLOT_WORDS..];
            let commit = Commit::unpack(words[0]);
            if commit.lap != self.block.lap {
                return None;
            }
            self.slot += 1;
            let Commit { start, site, .. } = commit;
            if site < FIRST_MARK {
                return Some(Record::Event(Slot {
                    slot,
                    start,
                    site,
                    cause: words[1],
                    key: words[2],
                    end: words[3],
                }));
            }
            match Mark::from_site(site) {
                Some(Mark::Detail) => {
                    let bytes = (start as usize).min(slot::DETAIL_MAX);
                    let slots = slot::detail_slots(bytes);
                    self.slot = slot + slots;
                    let words = &words[..(slots * SLOT_WORDS).min(words.len())];
                    let mark =
                        MarkSlot { mark: Mark::Detail, start, event: words[1], words: &words[2..] };
                    return Some(Record::Mark(mark));
                }
                Some(mark) => {
                    return Some(Record::Mark(MarkSlot {
                        mark,
                        start,
                        event: words[1],
                        words: &words[2..4],
                    }));
                }
                // A mark of a later version takes one slot.
                None => {}
            }
        }
    }
}

impl Head {
    /// Returns the id of a slot of this block.
    #[inline(always)]
    pub fn id(&self, slot: usize) -> EventId {
        EventId::new(self.sequence, slot as u64).expect("laps start at 1, so no sequence is 0")
    }

    /// Returns the event in a slot of this block.
    #[inline]
    pub fn event(&self, slot: &Slot) -> Event {
        let flags = Flags::unpack(slot.end);
        let outcome = slot.outcome();
        Event {
            id: self.id(slot.slot),
            site: SiteId(slot.site),
            subject: slot.subject(),
            cause: EventId::from_raw(slot.cause),
            lane: LaneId(self.lane),
            epoch: self.epoch,
            start: self.base.saturating_add(slot.start),
            span: slot.span(),
            outcome,
            level: flags.level,
            timed: flags.timed,
            details: flags.details,
        }
    }
}

impl Slot {
    /// Returns the outcome. Word 3 may be neither running nor have an outcome, which counts as
    /// running.
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        Outcome::from_bits(self.outcome_bits())
    }

    /// Returns the number of the outcome.
    #[inline(always)]
    pub fn outcome_bits(&self) -> u8 {
        if slot::is_running(self.end) { 0 } else { slot::outcome_bits(self.end) }
    }

    /// Returns the ticks of the event, if it has ended, was timed, and is no instant.
    #[inline(always)]
    pub fn span(&self) -> Option<u64> {
        // The outcomes with a length, as bits. A lookup needs no branch, and outcomes are hard to
        // predict.
        const WITH_LENGTH: u8 = !(1 << Outcome::Running as u8
            | 1 << Outcome::Moved as u8
            | 1 << Outcome::Instant as u8);
        let outcome = 1 << self.outcome_bits();
        let has_length = WITH_LENGTH & outcome != 0;
        (has_length & self.is_timed()).then(|| slot::span(self.end))
    }

    /// Returns true if start and span were measured.
    #[inline(always)]
    pub fn is_timed(&self) -> bool {
        slot::is_timed(self.end)
    }

    /// Returns the subject, if the event has one.
    #[inline(always)]
    pub fn subject(&self) -> Option<Subject> {
        match slot::kind(self.end) {
            0 => None,
            kind => Some(Subject::new(KindId(kind), self.key)),
        }
    }
}
