//! Copying of blocks, with the numbers of the merged recording.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::event::EventId;
use crate::merge::remap::{Input, MergedRing, find_sender};
use crate::merge::watch::Watch;
use crate::parallel;
use crate::ring::blocks::{BLOCK_WORDS, Block};
use crate::ring::folds::Folds;
use metaspy_format::nesting::OpenCall;
use metaspy_format::slot::{self, Commit, FIRST_MARK, Mark, SPAN_MAX, START_MAX};
use metaspy_format::summary::{self, Summary};
use metaspy_format::{BLOCK_SLOTS, CHUNK_BLOCKS, SLOT_WORDS, header};

/// Counts of the blocks of an input.
#[derive(Default)]
pub(super) struct Copied {
    pub blocks: u64,
    pub events: u64,
    /// Number of blocks with an impossible number of laps.
    pub beyond: u64,
}

/// Copier of the blocks of an input.
pub(super) struct Copier<'a> {
    pub inputs: &'a [Input],
    pub input: &'a Input,
    pub whole: MergedRing,
    /// Places of the merged recording.
    pub blocks: &'a [AtomicU64],
    /// Summaries of the merged recording.
    pub summaries: &'a [AtomicU64],
}

impl Copier<'_> {
    /// Copies all blocks, without the events that are folded.
    pub fn copy(&self, folds: &Folds, watch: &Watch<'_>) -> Copied {
        let chunks: Vec<u64> = (0..self.input.places.div_ceil(CHUNK_BLOCKS as u64)).collect();
        let copy = |copied: &mut Copied, &chunk: &u64| self.copy_chunk(chunk, folds, copied);
        let (threads, watch) =
            (parallel::threads_for(chunks.len()), |at| watch.report(at, chunks.len()));
        let of_threads = parallel::each_watched(&chunks, threads, Copied::default, copy, &watch);
        of_threads.into_iter().fold(Copied::default(), |all, of_thread| Copied {
            blocks: all.blocks + of_thread.blocks,
            events: all.events + of_thread.events,
            beyond: all.beyond + of_thread.beyond,
        })
    }

    fn copy_chunk(&self, chunk: u64, folds: &Folds, copied: &mut Copied) {
        let ring = self.input.ring();
        let had_summary = ring.summary(chunk).is_some();
        let mut sum = Summary::EMPTY;
        let first = chunk * CHUNK_BLOCKS as u64;
        let mut blocks = 0;
        let mut block = Block::boxed();
        for place in first..(first + CHUNK_BLOCKS as u64).min(self.input.places) {
            let kept = self.input.kept.as_ref();
            let is_kept = kept.is_none_or(|kept| kept.place(place).is_some());
            if !is_kept
                || !ring.load_stored(place, folds, &mut block)
                || kept.is_some_and(|kept| !kept.holds(block.head.sequence))
            {
                continue;
            }
            match self.input.sequence(block.head.sequence, self.whole) {
                Some(sequence) => self.copy_block(&block, sequence, &mut sum),
                None => {
                    copied.beyond += 1;
                    continue;
                }
            }
            blocks += 1;
        }
        copied.blocks += blocks;
        copied.events += u64::from(sum.events);
        // Kept blocks form other chunks than before.
        if had_summary && blocks == CHUNK_BLOCKS as u64 && self.input.kept.is_none() {
            self.write_summary((self.input.place + first) / CHUNK_BLOCKS as u64, &sum);
        }
    }

    /// Returns the places of a whole copy whose blocks have changed since the copying, because they
    /// were folded or began.
    pub fn changed(&self, folds: &Folds) -> Vec<u64> {
        let ring = self.input.ring();
        let has_changed = |&place: &u64| {
            let now = ring.block(place).acquire(header::SEQUENCE);
            let first = folds.first_stored(now);
            let is_there = ring.belongs(now, place) && first < BLOCK_SLOTS;
            let expected = if is_there { self.input.sequence(now, self.whole) } else { Some(0) };
            first > 1 || expected != Some(self.copy_of(place)[header::SEQUENCE].load(Relaxed))
        };
        (0..self.input.places).filter(has_changed).collect()
    }

    /// Copies places again. Their chunks lose their summaries.
    pub(crate) fn copy_again(&self, places: &[u64], folds: &Folds) {
        let mut block = Block::boxed();
        for &place in places {
            let summary = ((self.input.place + place) / CHUNK_BLOCKS as u64) as usize
                * summary::SUMMARY_WORDS;
            let summary = &self.summaries[summary..summary + summary::SUMMARY_WORDS];
            summary.iter().chain(self.copy_of(place)).for_each(|cell| cell.store(0, Relaxed));
            if self.input.ring().load_stored(place, folds, &mut block)
                && let Some(sequence) = self.input.sequence(block.head.sequence, self.whole)
            {
                self.copy_block(&block, sequence, &mut Summary::EMPTY.clone());
            }
        }
    }

    /// Returns the words of a place of a whole copy.
    fn copy_of(&self, place: u64) -> &[AtomicU64] {
        let at = (self.input.place + place) as usize * BLOCK_WORDS;
        &self.blocks[at..at + BLOCK_WORDS]
    }

    fn copy_block(&self, block: &Block, sequence: u64, sum: &mut Summary) {
        let input = self.input;
        let head = &block.head;
        let to = header::place(sequence, self.whole.blocks) as usize * BLOCK_WORDS;
        let to = &self.blocks[to..to + BLOCK_WORDS];
        let (words, lap, first) = block.raw();
        let base = input.tick(head.base);
        let (lane, epoch) =
            (input.lane + head.lane.min(input.lanes), input.epoch.wrapping_add(head.epoch));
        sum.add_block(sequence, lane, epoch, base);
        // Slots before the first stored slot become marks of no kind, so that the others keep their
        // places. Marks of calls that were open when the block began are still needed.
        for at in 1..first {
            let from = &words[at * SLOT_WORDS..];
            let slot = &to[at * SLOT_WORDS..];
            let is_open = Commit::unpack(from[0]).site == Mark::Open as u32;
            let site = if is_open { Mark::Open as u32 } else { FIRST_MARK };
            let copied = if is_open {
                self.mark(Some(Mark::Open), [from[1], from[2], from[3]], 0)
            } else {
                [0; 3]
            };
            (1..).zip(copied).for_each(|(word, value)| slot[word].store(value, Relaxed));
            slot[0].store(Commit { start: 0, site, lap }.pack(), Relaxed);
        }
        let mut at = first;
        while at < BLOCK_SLOTS {
            let from = &words[at * SLOT_WORDS..];
            let commit = Commit::unpack(from[0]);
            if commit.lap != lap {
                break;
            }
            let slot = &to[at * SLOT_WORDS..];
            let mut slots = 1;
            let began = head.base.saturating_add(commit.start);
            let start = input.tick(began).saturating_sub(base).min(START_MAX);
            if !input.kept.as_ref().is_none_or(|kept| kept.contains(head.sequence, at)) {
                if commit.site == Mark::Detail as u32 {
                    slots = slot::detail_slots((commit.start as usize).min(slot::DETAIL_MAX))
                        .min(BLOCK_SLOTS - at);
                }
                let left_out = at..at + slots;
                left_out.for_each(|at| {
                    to[at * SLOT_WORDS]
                        .store(Commit { start: 0, site: FIRST_MARK, lap }.pack(), Relaxed)
                });
            } else if commit.site < FIRST_MARK {
                let site = input.site(commit.site);
                sum.add_event(site, base + start, slot::is_running(from[3]));
                slot[1].store(self.cause(from[1]), Relaxed);
                slot[2].store(from[2], Relaxed);
                slot[3].store(self.end(from[3], block, at, began, sequence), Relaxed);
                slot[0].store(Commit { start, site, lap }.pack(), Relaxed);
            } else {
                sum.marks += 1;
                if commit.site == Mark::Detail as u32 {
                    slots = slot::detail_slots((commit.start as usize).min(slot::DETAIL_MAX))
                        .min(BLOCK_SLOTS - at);
                    slot[1].store(input.id(from[1], self.whole), Relaxed);
                    for word in 2..slots * SLOT_WORDS {
                        slot[word].store(from[word], Relaxed);
                    }
                    slot[0].store(from[0], Relaxed);
                } else {
                    let words =
                        self.mark(Mark::from_site(commit.site), [from[1], from[2], from[3]], began);
                    (1..).zip(words).for_each(|(word, value)| slot[word].store(value, Relaxed));
                    slot[0].store(Commit { start, site: commit.site, lap }.pack(), Relaxed);
                }
            }
            at += slots;
        }
        to[header::LANE_EPOCH].store(header::lane_epoch(lane, epoch), Relaxed);
        to[header::BASE].store(base, Relaxed);
        // Lost calls passed no filter.
        let lost_before = if input.kept.is_some() { 0 } else { head.lost_before };
        let kept = if head.is_kept { header::KEPT } else { 0 };
        to[header::LOST_BEFORE].store(lost_before | kept, Relaxed);
        to[header::SEQUENCE].store(sequence, Relaxed);
    }

    /// Returns the merged id of an event's cause. A remote cause becomes the event in another
    /// input, if it is there.
    fn cause(&self, cause: u64) -> u64 {
        if self.input.has_remote
            && let Some(remote) =
                EventId::from_raw(cause).and_then(|id| self.input.ring().remote(id))
            && let Some((of, sender)) = find_sender(self.inputs, remote.span)
        {
            return self.inputs[of].id(sender.raw(), self.whole);
        }
        self.input.id(cause, self.whole)
    }

    /// Returns the last word of an event, with the numbers of the merged recording.
    fn end(&self, end: u64, block: &Block, at: usize, began: u64, sequence: u64) -> u64 {
        let flags = slot::with_kind(slot::flags_of(end), self.input.kind(slot::kind(end)));
        if slot::is_running(end) {
            // A running event with the tag of another block stays damaged.
            let is_its = slot::is_running_in(end, block.head.sequence);
            return slot::running(if is_its { sequence } else { sequence + 1 }, flags);
        }
        let ticks = match slot::span(end) {
            // The slot's span was cut, and a mark has the true span. In nanoseconds it may fit.
            SPAN_MAX => self
                .input
                .store
                .event(block.head.id(at))
                .and_then(|event| event.span)
                .unwrap_or(SPAN_MAX),
            ticks => ticks,
        };
        slot::ended(self.input.span(began, ticks), flags)
    }

    /// Returns the words of a mark other than a detail.
    fn mark(&self, mark: Option<Mark>, [event, a, b]: [u64; 3], at: u64) -> [u64; 3] {
        let input = self.input;
        let event_there = input.id(event, self.whole);
        match mark {
            Some(Mark::End) => {
                let flags = slot::with_kind(b, input.kind(slot::kind(b)));
                [event_there, input.span(at.saturating_sub(a), a), flags]
            }
            Some(Mark::Link) => [event_there, self.cause(a), b],
            Some(Mark::Polls) => [event_there, input.sum(a), b],
            Some(Mark::Remote) => [event, a, b],
            Some(Mark::Open) => match OpenCall::read([event, a, b]) {
                Some(call) => {
                    let site = input.site(call.site);
                    let kind = input.kind(call.kind);
                    OpenCall { id: event_there, site, kind, ..call }.words()
                }
                None => [event, a, b],
            },
            Some(Mark::Folded) => {
                let site =
                    slot::folded_site(event).map_or(0, |site| slot::folded_word(input.site(site)));
                let flags = slot::with_kind(slot::flags_of(b), input.kind(slot::kind(b)));
                [site, a, slot::ended(input.span(at, slot::whole_span(b)), flags)]
            }
            // An unknown mark of a later version keeps its slot.
            Some(_) => [event_there, a, b],
            None => [0; 3],
        }
    }

    fn write_summary(&self, chunk: u64, sum: &Summary) {
        let at = chunk as usize * summary::SUMMARY_WORDS;
        let Some(cells) = self.summaries.get(at..at + summary::SUMMARY_WORDS) else { return };
        cells.iter().zip(sum.pack()).for_each(|(cell, word)| cell.store(word, Relaxed));
    }
}
