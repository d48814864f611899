//! A folder adds the events of blocks to rows, one event after another.
//!
//! The collector has one, and the lanes share the others; there are about as many as processors.
//! Each has rows and a record of its own, and readers add the rows up. With one table behind a
//! lock, a thread that loses its processor while it folds would stop all others. A lane whose table
//! has no room for more subjects folds into the collector's, which is the largest. A lane that
//! finds no folder free loses its event, as it does if it finds no block.
//!
//! A fold changes one row at a time and notes that row first, instead of keeping a journal of a
//! batch. Program order alone makes this safe against a kill at any instruction, and a lane can do
//! it without a lock. [`crate::format::folder`] describes the record.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::event::Outcome;
use crate::format::folder::{self, ALL, Cursor, NOTE_WORDS};
use crate::format::layout::Layout;
use crate::format::nesting::{Nesting, OpenCall};
use crate::format::row::{self, Again, ROW_WORDS, Who};
use crate::format::slot::{self, FIRST_MARK, Mark, SPAN_MAX};
use crate::format::{BLOCK_SLOTS, SLOT_WORDS, header, superblock as sb};
use crate::recorder::boundaries::{Boundaries, merged_epoch};
use crate::recorder::fold_rows::{FoldRows, KnownRows};
use crate::recorder::merged_rows::merge_epochs;
use crate::recorder::protocol::{begin_step, evict};
use crate::recorder::tables::Tables;
use crate::site::is_entered;

mod others;

/// Rows are prefetched this many slots ahead.
const AHEAD: usize = 16;

/// Rows, and the position in the recording.
pub(super) struct Folder {
    /// The first word of the record.
    record: usize,
    rows: FoldRows,
    /// The note that is written next.
    note: usize,
    folded: u64,
    /// Rows merged so far.
    merged: u64,
}

/// The slots of a block.
type Slots = [[AtomicU64; SLOT_WORDS]; BLOCK_SLOTS];

/// A block being folded, and the folder's progress.
struct Pass<'a> {
    record: &'a Record,
    slots: &'a Slots,
    sequence: u64,
    /// [`folder::SINGLE`] if other events of the block are kept.
    single: u64,
    /// The word of a row of its epoch, without site and subject.
    who: u64,
    epoch: u32,
    lap: u8,
    note: usize,
    folded: u64,
    nesting: Nesting,
    /// The tick at which all calls of the block so far have ended; [`u64::MAX`] while that is not
    /// known.
    until: u64,
    /// The slot of a call that ends then, if it is not yet among the open ones; 0 = none.
    latest: usize,
}

type Record = [AtomicU64; folder::WORDS];

/// The numbers that an event adds to its row.
#[derive(Clone, Copy, Default)]
struct Addition {
    count: u64,
    failed_panicked: u64,
    cancelled_running: u64,
    /// Timed calls, 0 or 1.
    timed: u64,
    ticks: u64,
    /// The length of the whole call.
    longest: u64,
    /// The call is inside others.
    inside: Inside,
}

/// The calls that a call is inside of, as far as its time must not count again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    /// At its site on its subject: its row does not take its time.
    pub both: bool,
    /// At its site, or on its subject: rows of these take its time.
    pub again: [Option<Again>; 2],
}

impl Folder {
    /// The folder with this number. Number 0 has the fold table.
    pub fn new(layout: &Layout, number: usize) -> Self {
        let rows =
            if number == 0 { FoldRows::of_table(layout.tally) } else { FoldRows::in_pages() };
        Folder {
            record: layout.folders.at + number * folder::WORDS,
            rows,
            note: 0,
            folded: 0,
            merged: 0,
        }
    }

    /// True if it has rows, or room to make some.
    pub fn begin(&mut self, tables: Tables<'_>) -> bool {
        self.rows.begin(tables)
    }

    /// True if there may be no room here for the subjects of a block, but in the fold table.
    pub(crate) fn is_cramped(&self, tables: Tables<'_>) -> bool {
        self.rows.is_cramped(tables)
    }

    /// True if all events of a block find a row of their subject, or at least one of their site.
    pub(crate) fn can_name(&self, tables: Tables<'_>, block: &[AtomicU64]) -> bool {
        let is_gone = block[header::SEQUENCE].load(Relaxed) < tables.layout.blocks;
        is_gone || self.rows.has_room_for_block(tables) || {
            let pass =
                self.pass(tables, block.as_chunks().0.try_into().expect("a block has its size"));
            self.rows.can_name(tables, pass.events())
        }
    }

    /// Events folded so far.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Merges rows of epochs that no view distinguishes, before a block is folded.
    fn merge_epochs(&mut self, tables: Tables<'_>) {
        let Some((first, rows)) = self.rows.to_merge() else { return };
        let Some(boundaries) = Boundaries::now() else { return };
        // Only a folder adds to its rows, so those that the first turn empties are freed at once.
        merge_epochs(tables, self, &boundaries, first, rows);
        let merged = merge_epochs(tables, self, &boundaries, first, rows);
        self.rows.merged(tables, &merged);
    }

    /// Adds the events of a block to the rows, and moves running ones out of the window. Returns
    /// true if the block holds bytes that a later lap could mistake for a commit word.
    pub fn fold(&mut self, tables: Tables<'_>, block: &[AtomicU64]) -> bool {
        let slots: &Slots = block.as_chunks().0.try_into().expect("a block has its size");
        self.merge_epochs(tables);
        let mut pass = self.pass(tables, slots);
        let mut holds_text = false;
        let mut at = 1;
        loop {
            let known = self.rows.known(tables);
            at = if self.rows.are_many() {
                pass.run::<true>(known, at)
            } else {
                pass.run::<false>(known, at)
            };
            let Some(slot) = slots.get(at) else { break };
            let commit = slot[0].load(Acquire);
            if slot::lap(commit) != pass.lap {
                break;
            }
            let site = slot::site(commit);
            if site == Mark::Detail as u32 {
                holds_text = true;
                at += slot::detail_slots(slot::start(commit) as usize);
                continue;
            }
            if site < FIRST_MARK {
                self.fold_event(tables, &mut pass, at);
            } else if site == Mark::Open as u32 {
                pass.open(at);
            } else if site == Mark::End as u32 {
                self.leave(tables, &mut pass, at);
            }
            at += 1;
        }
        pass.step(ALL, [0; NOTE_WORDS]);
        (self.note, self.folded) = (pass.note, pass.folded);
        holds_text
    }

    /// The mark of an end: the call is no longer around others.
    fn leave(&mut self, tables: Tables<'_>, pass: &mut Pass<'_>, at: usize) {
        let [_, event, span, _] = pass.slots[at].each_ref().map(|word| word.load(Relaxed));
        pass.nesting.leave(event);
        if span > SPAN_MAX {
            self.fold_rest(tables, pass, at);
        }
    }

    /// A block that is folded from here on.
    fn pass<'a>(&self, tables: Tables<'a>, slots: &'a Slots) -> Pass<'a> {
        let sequence = slots[0][header::SEQUENCE].load(Relaxed);
        let epoch = merged_epoch(header::epoch(slots[0][header::LANE_EPOCH].load(Relaxed)));
        Pass {
            record: tables.words(self.record),
            slots,
            sequence,
            single: 0,
            who: Who::of_event(0, epoch, 0).pack(),
            epoch,
            lap: header::lap_byte(sequence, tables.layout.blocks),
            note: self.note,
            folded: self.folded,
            nesting: Nesting::new(),
            until: 0,
            latest: 0,
        }
    }

    /// Folds any event.
    #[inline(never)]
    fn fold_event(&mut self, tables: Tables<'_>, pass: &mut Pass<'_>, at: usize) {
        let slot = &pass.slots[at];
        let last = evict(&slot[3]);
        let key = slot[2].load(Relaxed);
        let who = Who::of_event(slot::site(slot[0].load(Relaxed)), pass.epoch, last).pack();
        let inside = pass.enter(at, last);
        self.add(tables, pass, at, (key, who), Addition { inside, ..addition(last) });
        if slot::is_running(last) {
            tables.count(sb::MOVED, 1);
        } else if slot::span(last) == SPAN_MAX {
            tables.cut_spans.note(
                pass.sequence * BLOCK_SLOTS as u64 + at as u64,
                (key, who),
                inside,
            );
        }
    }

    /// Adds the part of a span that did not fit, if the event was folded before.
    #[cold]
    fn fold_rest(&mut self, tables: Tables<'_>, pass: &mut Pass<'_>, at: usize) {
        let [_, event, span, _] = pass.slots[at].each_ref().map(|word| word.load(Relaxed));
        let Some((row, inside)) = tables.cut_spans.take(event) else { return };
        let more =
            Addition { ticks: span - SPAN_MAX, longest: span, inside, ..Addition::default() };
        self.add(tables, pass, at, row, more);
    }

    /// Adds to a row, which is created if it is missing.
    fn add(
        &mut self,
        tables: Tables<'_>,
        pass: &mut Pass<'_>,
        at: usize,
        (key, who): (u64, u64),
        more: Addition,
    ) {
        let mut found = self.rows.find_or_make(tables, key, who);
        if more.failed_panicked | more.cancelled_running != 0
            && found.is_some_and(|word| !has_room(tables.words(word)))
        {
            found = self.rows.search(tables, key, who);
        }
        let Some(word) = found else {
            // Without a row, not even the site's others row, only the number of such events is
            // known.
            pass.step(at, [0; NOTE_WORDS]);
            tables.count(sb::UNNAMED, more.count);
            return;
        };
        let row = tables.words::<ROW_WORDS>(word);
        let [count, failed_panicked, cancelled_running, timed, total, max] = sums(row);
        pass.step(
            at,
            [word as u64, 0, count, failed_panicked, cancelled_running, timed, total, max],
        );
        pass.folded += more.count;
        row[row::COUNT].store(count.wrapping_add(more.count), Relaxed);
        row[row::FAILED_PANICKED]
            .store(failed_panicked.wrapping_add(more.failed_panicked), Relaxed);
        row[row::CANCELLED_RUNNING]
            .store(cancelled_running.wrapping_add(more.cancelled_running), Relaxed);
        row[row::TIMED].store(timed.wrapping_add(more.timed), Relaxed);
        if !more.inside.both {
            row[row::TOTAL].store(total.wrapping_add(more.ticks), Relaxed);
        }
        row[row::MAX].store(max.max(more.longest), Relaxed);
        if more.ticks != 0 {
            self.add_again(tables, (key, who), more);
        }
    }

    /// Adds the time of a call, which the row of a call around it counts already, to the rows of
    /// such time. A kill before the next event may leave this out, or count it in addition to an
    /// event that is still stored: the time of one call.
    fn add_again(&mut self, tables: Tables<'_>, (key, who): (u64, u64), more: Addition) {
        for again in more.inside.again.into_iter().flatten() {
            let (key, who) = again.row(key, who);
            if let Some(word) = self.rows.find_or_make(tables, key, who) {
                let [_, .., total, _] = tables.words::<ROW_WORDS>(word);
                total.store(total.load(Relaxed).wrapping_add(more.ticks), Relaxed);
            }
        }
    }

    /// Adds a row to another one, and empties it. Only the caller writes to the two.
    pub fn merge(&mut self, tables: Tables<'_>, from: usize, to: usize) {
        let source = tables.words::<ROW_WORDS>(from);
        let target = tables.words::<ROW_WORDS>(to);
        let merged = &tables.cells[self.record + folder::MERGED];
        let before = sums(target);
        let more = sums(source);
        self.merged += 1;
        let sequence = folder::merge_sequence(self.merged);
        let mut note = [to as u64; NOTE_WORDS];
        note[folder::BEFORE..].copy_from_slice(&before);
        self.step(tables, sequence, 1, note);
        merged.store(from as u64, Release);
        for (at, (before, more)) in (row::COUNT..).zip(before.into_iter().zip(more)) {
            let sum = if at == row::MAX { before.max(more) } else { before.wrapping_add(more) };
            target[at].store(sum, Relaxed);
        }
        // From here on the other row has its counts.
        self.step(tables, sequence, ALL, [0; NOTE_WORDS]);
        source[row::COUNT..].iter().for_each(|word| word.store(0, Relaxed));
        merged.store(0, Release);
    }

    /// Moves the cursor out of a block, with a note of the row that changes next.
    fn step(
        &mut self,
        tables: Tables<'_>,
        sequence: u64,
        slot: usize,
        mut words: [u64; NOTE_WORDS],
    ) {
        words[folder::FOLDED] = self.folded;
        let (record, cursor) =
            (tables.words(self.record), Cursor { sequence, slot, note: self.note });
        begin_step(&record[folder::CURSOR], cursor.pack(), folder::note(record, self.note), words);
        self.note ^= 1;
    }
}

impl Pass<'_> {
    /// Folds the events from a slot on, up to one that is not usual: it has no row yet, did not
    /// return at level 0, or is no event. Returns its slot.
    ///
    /// Nothing is called here, so that everything is in registers.
    #[inline(never)]
    fn run<const PREFETCHED: bool>(&mut self, known: KnownRows<'_>, from: usize) -> usize {
        let Pass {
            record,
            slots,
            sequence,
            who,
            lap,
            mut note,
            mut folded,
            mut until,
            mut latest,
            ..
        } = *self;
        let mut at = from;
        while at < BLOCK_SLOTS {
            let slot = &slots[at];
            let commit = slot[0].load(Acquire);
            let key = slot[2].load(Relaxed);
            let last = slot[3].load(Acquire);
            let site = slot::site(commit);
            let span = slot::whole_span(last);
            if slot::lap(commit) != lap
                || site >= FIRST_MARK
                || !slot::is_plain(last)
                || span == SPAN_MAX
            {
                break;
            }
            if PREFETCHED && let Some(slot) = slots.get(at + AHEAD) {
                let [commit, key, last] = [0, 2, 3].map(|word| slot[word].load(Relaxed));
                known.prefetch(key, Who::with_event(who, slot::site(commit), last));
            }
            let Some((word, row)) = known.find(key, Who::with_event(who, site, last)) else {
                break;
            };
            if slot::is_timed(last) {
                let start = slot::start(commit);
                if start < until {
                    // It may be inside of others, or others inside of it.
                    break;
                }
                (until, latest) = (start + span, at);
            }
            let [count, failed_panicked, cancelled_running, timed, total, max] = sums(row);
            let words =
                [word as u64, folded, count, failed_panicked, cancelled_running, timed, total, max];
            let cursor = Cursor { sequence, slot: at, note };
            begin_step(&record[folder::CURSOR], cursor.pack(), folder::note(record, note), words);
            row[row::COUNT].store(count.wrapping_add(1), Relaxed);
            row[row::TIMED].store(timed.wrapping_add(slot::is_timed(last).into()), Relaxed);
            // That of an event that is not timed is 0.
            row[row::TOTAL].store(total.wrapping_add(span), Relaxed);
            if span > max {
                row[row::MAX].store(span, Relaxed);
            }
            note ^= 1;
            folded += 1;
            at += 1;
        }
        (self.note, self.folded, self.until, self.latest) = (note, folded, until, latest);
        at
    }

    /// Subject and [`Who`] of the block's events.
    fn events(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut at = 1;
        std::iter::from_fn(move || {
            loop {
                let [commit, _, key, last] =
                    self.slots.get(at)?.each_ref().map(|word| word.load(Relaxed));
                let site = slot::site(commit);
                if slot::lap(commit) != self.lap {
                    return None;
                }
                at += if site == Mark::Detail as u32 {
                    slot::detail_slots(slot::start(commit) as usize)
                } else {
                    1
                };
                if site < FIRST_MARK {
                    return Some((key, Who::of_event(site, self.epoch, last).pack()));
                }
            }
        })
    }

    /// Enters a call that was open when the block began.
    fn open(&mut self, at: usize) {
        self.nesting.add([1, 2, 3].map(|word| self.slots[at][word].load(Relaxed)));
        self.until = u64::MAX;
    }

    /// The site of an event, folded or not; 0 where it is not known.
    fn site(&self, at: usize) -> u32 {
        let [commit, word] = [0, 1].map(|word| self.slots[at][word].load(Relaxed));
        match slot::site(commit) {
            site if site == Mark::Folded as u32 => slot::folded_site(word).unwrap_or(0),
            site => site,
        }
    }

    /// Enters an event, and returns the calls around it.
    fn enter(&mut self, at: usize, last: u64) -> Inside {
        let [commit, _, key, _] = self.slots[at].each_ref().map(|word| word.load(Relaxed));
        let site = self.site(at);
        let kind = slot::kind(last);
        let start = slot::start(commit);
        // An event that is entered and left is not around others by its time alone.
        if !slot::is_timed(last) || slot::outcome(last) == Outcome::Instant || is_entered(site) {
            return Inside::default();
        }
        if start >= self.until {
            self.nesting.clear();
        } else {
            self.enter_latest();
            self.nesting.leave_before(start);
        }
        let end = if slot::is_running(last) { u64::MAX } else { start + slot::span(last) };
        if self.nesting.is_empty() {
            (self.until, self.latest) = (end, at);
            return Inside::default();
        }
        let inside = Inside::of(&self.nesting, site, kind, key);
        if end == u64::MAX || holds_more(self.slots, at, self.lap, end) {
            self.nesting.enter(self.open_call(at, site, kind, key), end);
            self.until = self.until.max(end);
        }
        inside
    }

    /// Enters the call that nothing was inside of until now.
    fn enter_latest(&mut self) {
        let at = std::mem::take(&mut self.latest);
        if at == 0 {
            return;
        }
        let [key, last] = [2, 3].map(|word| self.slots[at][word].load(Relaxed));
        let site = self.site(at);
        let kind = slot::kind(last);
        self.nesting.clear();
        if !is_entered(site) {
            self.nesting.enter(self.open_call(at, site, kind, key), self.until);
        }
    }

    /// The call in a slot, which tells its end itself.
    fn open_call(&self, at: usize, site: u32, kind: u16, key: u64) -> OpenCall {
        OpenCall {
            id: self.sequence * BLOCK_SLOTS as u64 + at as u64,
            key,
            site,
            kind,
            is_end_marked: false,
        }
    }

    /// Moves the cursor to a slot, with a note of the row that changes next.
    fn step(&mut self, slot: usize, mut words: [u64; NOTE_WORDS]) {
        words[folder::FOLDED] = self.folded;
        let cursor = Cursor { sequence: self.single | self.sequence, slot, note: self.note };
        let note = folder::note(self.record, self.note);
        begin_step(&self.record[folder::CURSOR], cursor.pack(), note, words);
        self.note ^= 1;
    }
}

impl Inside {
    /// The calls around a call.
    pub(super) fn of(nesting: &Nesting, site: u32, kind: u16, key: u64) -> Self {
        if nesting.is_empty() {
            return Inside::default();
        }
        let around = nesting.around(site, kind, key);
        let unnamed = nesting.unnamed();
        if around.both {
            // Its own row leaves its time out already, so no other row counts it.
            return Inside { both: true, again: [None; 2] };
        }
        let in_site = if around.site {
            Some(Again::InSite)
        } else {
            unnamed.sites.then_some(Again::MaybeInSite)
        };
        let in_subject = if around.subject {
            Some(Again::InSubject)
        } else {
            unnamed.subjects.then_some(Again::MaybeInSubject)
        };
        Inside { both: false, again: [in_site, in_subject] }
    }
}

/// True if a record behind this slot began before a tick of the block: it may be inside the event
/// there.
#[inline(always)]
fn holds_more(slots: &Slots, at: usize, lap: u8, end: u64) -> bool {
    let Some(next) = slots.get(at + 1) else { return false };
    let commit = next[0].load(Relaxed);
    slot::lap(commit) == lap && (slot::start(commit) < end || slot::site(commit) >= FIRST_MARK)
}

/// True if a row takes more outcomes.
fn has_room(row: &[AtomicU64; ROW_WORDS]) -> bool {
    row::has_room(
        row[row::FAILED_PANICKED].load(Relaxed),
        row[row::CANCELLED_RUNNING].load(Relaxed),
    )
}

/// The words of a row that change.
#[inline(always)]
fn sums(row: &[AtomicU64; ROW_WORDS]) -> [u64; ROW_WORDS - row::COUNT] {
    std::array::from_fn(|word| row[row::COUNT + word].load(Relaxed))
}

/// Returns the numbers that an event with this last word adds.
fn addition(last: u64) -> Addition {
    let mut more = Addition { count: 1, ..Addition::default() };
    if slot::is_running(last) {
        more.cancelled_running = row::ONE_RUNNING;
        return more;
    }
    let outcome = slot::outcome(last);
    (more.failed_panicked, more.cancelled_running) = row::outcome_words(outcome);
    // An instant has no duration.
    if slot::is_timed(last) && outcome != Outcome::Instant {
        (more.timed, more.ticks, more.longest) = (1, slot::span(last), slot::span(last));
    }
    more
}

#[cfg(test)]
mod tests;
