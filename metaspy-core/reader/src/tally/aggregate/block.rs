//! Adds up the events of a block.

use std::{hint, mem};

use crate::details::Polls;
use crate::event::EventId;
use crate::ring::blocks::{Block, Head, MarkSlot, Record, Slot};
use crate::ring::counts::Levels;
use crate::tally::By;
use crate::tally::aggregate::{Aggregation, PartialTally, Worker};
use crate::tally::self_time::{NO_ROW, Polled};
use metaspy_format::nesting::OpenCall;
use metaspy_format::slot::{self, Mark, SPAN_MAX};
use metaspy_probe::Subject;

/// Maximum number of causes of an async call that are examined.
const CAUSES_MOST: usize = 64;

/// Buffers for the events of a block.
#[derive(Default)]
pub(super) struct RowBuffer {
    /// Row of each event.
    rows: Vec<u32>,
    /// Events with a row, and their places among all events.
    wanted: Vec<(usize, Slot)>,
}

impl Worker<'_> {
    /// Adds the time of a call that its row has not covered.
    #[inline(always)]
    pub(super) fn cover(&mut self, row: u32, lane: u32, start: u64, end: u64) {
        if let Some(cell) = self.part.cells.get_mut(row as usize) {
            let added = self.covers.add(&mut cell.cover, row, lane, start, end);
            cell.total_ticks = cell.total_ticks.wrapping_add(added);
        }
    }
}

impl<'a> Aggregation<'a> {
    pub(super) fn block(&self, worker: &mut Worker<'a>, block: &Block) {
        if let Some(self_times) = &mut worker.self_times {
            let is_first = !self_times.knows(block.head.lane);
            self_times.turn_to(block.head.lane);
            if is_first || self_times.leave_gap(block.head.is_kept) {
                self.enter_outside(worker, block);
            }
        }
        // The compiler specialises the loop for each way of finding rows, because it runs once for
        // each event.
        match (self.plain, self.by) {
            (Some(levels), By::Site) => self.events(worker, block, |worker, slot| {
                if levels.contains(slot.end) {
                    worker.part.row(By::Site, Some(slot.site), None) as u32
                } else {
                    NO_ROW
                }
            }),
            (Some(levels), By::Subject) => {
                self.events_of_subjects(worker, block, levels, |part, slot| {
                    part.row(By::Subject, None, slot.subject())
                });
            }
            (Some(levels), By::SiteSubject) => {
                self.events_of_subjects(worker, block, levels, |part, slot| {
                    part.row(By::SiteSubject, Some(slot.site), slot.subject())
                });
            }
            _ => self.events(worker, block, |worker, slot| self.row(worker, &block.head, slot)),
        }
    }

    /// Finds the rows of all events of a block before any of them is added up: the rows of a
    /// million subjects are not in the processor's cache, and so it waits for many at once.
    #[inline(always)]
    fn events_of_subjects(
        &self,
        worker: &mut Worker<'a>,
        block: &Block,
        levels: Levels,
        row: impl Fn(&mut PartialTally, &Slot) -> usize,
    ) {
        let RowBuffer { mut rows, mut wanted } = mem::take(&mut worker.rows);
        rows.clear();
        wanted.clear();
        for slot in block.events() {
            let subject = slot.subject().unwrap_or(Subject::NONE);
            if levels.contains(slot.end) && worker.part.share.contains(subject) {
                wanted.push((rows.len(), slot));
            }
            rows.push(NO_ROW);
        }
        let mut touched = 0;
        for (at, slot) in &wanted {
            let row = row(&mut worker.part, slot);
            touched |= worker.part.cells.get(row).map_or(0, |cell| cell.outcomes[0] | cell.own);
            rows[*at] = row as u32;
        }
        hint::black_box(touched);
        let mut found = rows.iter();
        self.events(worker, block, |_, _| found.next().copied().unwrap_or(NO_ROW));
        worker.rows = RowBuffer { rows, wanted };
    }

    #[inline(always)]
    fn events(
        &self,
        worker: &mut Worker<'a>,
        block: &Block,
        mut row: impl FnMut(&mut Worker<'a>, &Slot) -> u32,
    ) {
        let head = block.head;
        let mut now = head.base;
        for record in block.records() {
            let slot = match record {
                Record::Event(slot) => slot,
                Record::Mark(mark) => {
                    let Some(self_times) = &mut worker.self_times else { continue };
                    match mark.mark {
                        Mark::End => {
                            self_times.leave_outside(mark.event);
                            self.overlong(worker, &mark);
                        }
                        Mark::Folded => self.folded(worker, &head, &mark),
                        Mark::Polls => match self_times.polled(mark.event) {
                            Some(call) => {
                                self.add_polls(worker, mark.event, call, Polls::of(&mark));
                            }
                            None => self_times.keep_polls(mark.event, Polls::of(&mark)),
                        },
                        Mark::Polled => {
                            self.poll_here(worker, &mark, head.base.saturating_add(mark.start));
                        }
                        _ => {}
                    }
                    continue;
                }
            };
            let row = row(worker, &slot);
            let span = slot.span();
            if let Some(cell) = worker.part.cells.get_mut(row as usize) {
                cell.add(slot.outcome_bits(), span);
            }
            let Some(self_times) = &mut worker.self_times else { continue };
            now = head.base.saturating_add(slot.start);
            // The time of an async call comes with its polls.
            let is_async = self_times.is_async(slot.site);
            let is_polled = is_async && slot::has_details_at_end(slot::details(slot.end));
            let around = self_times.enter(head.id(slot.slot), now, &slot, span, row, !head.is_kept);
            let Some(span) = span else { continue };
            let is_inside = self_times.is_inside(slot.cause, row);
            if is_async {
                worker.part.add_wall(row, span);
                if let Some((call, polls)) = self_times.polled_early(head.id(slot.slot)) {
                    self.add_polls(worker, head.id(slot.slot).raw(), call, polls);
                }
            }
            if head.is_kept {
                worker.part.has_no_self(row);
            }
            if !is_polled {
                worker.part.add_self(if head.is_kept { NO_ROW } else { row }, around, span);
                match is_inside {
                    Some(true) => {}
                    is_known => {
                        let end = now.saturating_add(span);
                        worker.cover(row, head.lane, now, end);
                        worker.part.total_is_at_most(row, is_known.is_none());
                    }
                }
            }
        }
        worker.covers.leave(head.lane, now);
    }

    /// Notes the time of a folded event of a block that is kept for others: its rows count it
    /// already.
    #[cold]
    fn folded(&self, worker: &mut Worker<'a>, head: &Head, mark: &MarkSlot<'_>) {
        let [key, last] = [mark.words[0], mark.words[1]];
        let is_async = |site: u32| self.asyncs.get(site as usize).copied().unwrap_or(false);
        let Some(site) = slot::folded_site(mark.event).filter(|&site| !is_async(site)) else {
            return;
        };
        if slot::level(last) > 0 || slot::is_running(last) || !slot::is_timed(last) {
            return;
        }
        let kind = slot::kind(last);
        let row =
            self.row_outside(worker, &OpenCall { id: 0, key, site, kind, is_end_marked: false });
        let start = head.base.saturating_add(mark.start);
        if let Some(cell) = worker.part.cells.get_mut(row as usize) {
            worker.covers.add(
                &mut cell.cover,
                row,
                head.lane,
                start,
                start.saturating_add(slot::span(last)),
            );
        }
    }

    /// Notes that an async call is polled in this lane from now on.
    #[cold]
    fn poll_here(&self, worker: &mut Worker<'a>, mark: &MarkSlot<'_>, now: u64) {
        let Some(id) = EventId::from_raw(mark.event) else { return };
        let Some((head, slot, end)) = self.ring.polled(self.folds, id) else { return };
        let row = self.row(worker, &head, &slot);
        if let Some(self_times) = &mut worker.self_times {
            self_times.poll_here(id, now, end, row);
        }
    }

    /// Adds the time in which an async call was polled.
    #[cold]
    fn add_polls(&self, worker: &mut Worker<'a>, id: u64, call: Polled, polls: Polls) {
        worker.part.add_self(call.self_row, call.around(polls), polls.busy_ticks);
        let is_twice = self.is_inside_same_row(worker, id, call.row);
        worker.part.total_is_at_most(call.row, is_twice);
        if let Some(cell) = worker.part.cells.get_mut(call.row as usize) {
            cell.total_ticks = cell.total_ticks.wrapping_add(polls.busy_ticks);
            cell.rare().polled += 1;
        }
    }

    /// Returns true if a cause of an async call is in the same row: its polls may contain those of
    /// the call.
    fn is_inside_same_row(&self, worker: &mut Worker<'a>, call: u64, row: u32) -> bool {
        let mut next =
            EventId::from_raw(call).and_then(|id| self.ring.peek(id)).map(|(_, slot)| slot.cause);
        for _ in 0..CAUSES_MOST {
            let Some(id) = next.and_then(EventId::from_raw) else { return false };
            let Some((head, slot)) = self.ring.peek(id) else { return false };
            if self.row(worker, &head, &slot) == row {
                return true;
            }
            next = Some(slot.cause).filter(|cause| *cause < id.raw());
        }
        true
    }

    /// Adds the part of a span that is longer than its slot can hold.
    #[cold]
    fn overlong(&self, worker: &mut Worker<'a>, mark: &MarkSlot<'_>) {
        let peek = |id| EventId::from_raw(id).and_then(|id| self.ring.peek(id));
        let Some((head, slot)) = peek(mark.event).filter(|(_, slot)| slot.span() == Some(SPAN_MAX))
        else {
            return;
        };
        // If the event has left the window, the pages have its whole length.
        let beyond = mark.words[0].saturating_sub(SPAN_MAX);
        let row = self.row(worker, &head, &slot);
        if let Some(cell) = worker.part.cells.get_mut(row as usize) {
            cell.total_ticks = cell.total_ticks.wrapping_add(beyond);
            cell.max_ticks = cell.max_ticks.max(SPAN_MAX.saturating_add(beyond));
            cell.own = cell.own.wrapping_add(beyond);
        }
        // Inner events after that point were not recognised as such.
        worker.part.self_exact = false;
    }
}
