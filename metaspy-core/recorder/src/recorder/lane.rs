//! The lane of a thread: the block it fills, and the event it is in.
//!
//! A constant thread-local without a destructor, so that reaching it costs one instruction and it
//! is there even in the last destructor of a thread. Its words are atomics only because signal
//! handlers run on the same thread.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize};

use metaspy_probe::{CauseBefore, Lean};

use crate::clock;
use crate::format::slot::{self, Mark, START_MAX};
use crate::format::{BLOCK_SLOTS, superblock as sb};
use crate::platform::thread_end::watch_this_thread;
use crate::platform::thread_word;
use crate::recorder::begin::{About, Begun, slot_cells};
use crate::recorder::blocks::commit;
use crate::recorder::busy::{Busy, Gate};
use crate::recorder::causes;
use crate::recorder::counter_cache::Cells;
use crate::recorder::epoch::EPOCH;
use crate::recorder::log::{Log, current};
use crate::recorder::outliving_events::OutlivingEvents;
use crate::recorder::profiler_state::ProfilerState;
use crate::recorder::tally_page::{Owner, Page, Rows as PageRows};

/// The state that a thread needs to write events.
pub struct Lane {
    /// A hook that starts while another one is at work is counted and not recorded.
    pub gate: Gate,
    /// The lap of the block, as slots carry it.
    pub lap: AtomicU64,
    /// Its log; null before the first one.
    log: AtomicPtr<Log>,
    /// True while it keeps the memory of its log.
    uses_log: AtomicBool,
    /// The next event's id; a multiple of 128 if there is no slot for it.
    pub next: AtomicU64,
    /// Address of the block's first word.
    pub block: AtomicUsize,
    /// The block's sequence.
    pub sequence: AtomicU64,
    /// The sequence of the last block that it took from this log.
    pub last: AtomicU64,
    /// The tick that starts count from.
    pub base: AtomicU64,
    /// The properties that all events share that begin now, for their guards: the block's epoch,
    /// the log, the meta level.
    pub about: AtomicU64,
    /// The same for their last word: running, the block's tag, the meta level.
    pub running: AtomicU64,
    /// The same for the words of lean events: the log.
    pub common: AtomicU64,
    /// Log and block, as a lean event has them; 0 = none.
    pub held: AtomicU64,
    /// Lean events in earlier blocks.
    pub outliving: OutlivingEvents,
    /// The event that this thread is in; 0 = none, [`EARLIER`](slot::EARLIER) = a call of an
    /// earlier file of the rotation.
    pub current: AtomicU64,
    /// The event that was named as the current one and does not run here, such as the cause of a
    /// spawned task; 0 = none.
    pub named_cause: AtomicU64,
    /// The outermost of those calls; 0 = not known.
    outermost: AtomicU64,
    /// When this lane last looked at the clock, as word 0 of a slot has it.
    pub stamp: AtomicU64,
    /// The same as a tick, where it was not a lean event.
    seen: AtomicU64,
    /// Sampled calls until the next timed one.
    pub untimed: AtomicU64,
    /// State of the generator that chooses it.
    pub dice: AtomicU64,
    /// Events lost since the last header.
    pub lost: AtomicU64,
    /// Row number + 1; 0 = no row yet, `NO_ROW` = none to be had.
    pub row: AtomicU64,
    /// The page in which it counts calls without events.
    pub page: Page,
    /// The rows of that page, as long as this thread is at level 0; else rows that nothing matches.
    pub near: PageRows,
    /// The rows of linked sites, found without a search, at level 0 as well.
    pub cells: Cells,
    /// The state of method profilers on this thread.
    pub profilers: ProfilerState,
}

/// There is no row for this thread: the table is full, or the thread ends.
pub(crate) const NO_ROW: u64 = u64::MAX;

impl Lane {
    const fn new() -> Self {
        Lane {
            gate: Gate::narrow(),
            lap: AtomicU64::new(0),
            log: AtomicPtr::new(std::ptr::null_mut()),
            uses_log: AtomicBool::new(false),
            next: AtomicU64::new(0),
            block: AtomicUsize::new(0),
            sequence: AtomicU64::new(0),
            last: AtomicU64::new(0),
            base: AtomicU64::new(0),
            about: AtomicU64::new(0),
            running: AtomicU64::new(0),
            common: AtomicU64::new(0),
            held: AtomicU64::new(0),
            outliving: OutlivingEvents::none(),
            current: AtomicU64::new(0),
            named_cause: AtomicU64::new(0),
            outermost: AtomicU64::new(0),
            stamp: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            untimed: AtomicU64::new(0),
            dice: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            row: AtomicU64::new(0),
            page: Page::none(),
            near: PageRows::nothing(),
            cells: Cells::none(),
            profilers: ProfilerState::nothing(),
        }
    }

    /// This thread, as the owner of its page. `row` is the number of its row + 1.
    pub(super) fn owner(row: u64) -> Owner {
        Owner { lane: row - 1, forget_rows: || own_lane().cells.clear() }
    }

    /// Goes on in a new block. Returns false if there is none: later events are counted as lost.
    #[cold]
    #[inline(never)]
    pub fn turn(&self, tick: u64) -> bool {
        let Some(log) = current() else { return false };
        let log = self.join(log);
        // Calls that still run end in the block that the lane holds.
        if log.is_closing() {
            return self.turn_after(log, tick);
        }
        self.leave(log);
        let row = self.row.load(Relaxed);
        if row == NO_ROW || row == 0 {
            return false;
        }
        let epoch = EPOCH.load(std::sync::atomic::Ordering::Acquire);
        let lane = (row - 1) as u32;
        // Another core's counter may be behind; in a lane, time never goes back.
        let tick = tick.max(self.seen());
        let lost = self.lost.load(Relaxed);
        let last = self.last.load(Relaxed);
        let Some(taken) = log.take(lane, epoch, tick, lost, last) else {
            return self.turn_after(log, tick);
        };
        self.last.store(taken.sequence, Relaxed);
        self.lost.store(0, Relaxed);
        self.sequence.store(taken.sequence, Relaxed);
        self.block.store(std::ptr::from_ref(&log.cells()[taken.word]) as usize, Relaxed);
        self.base.store(tick, Relaxed);
        let level = self.level();
        self.about.store(About::of_lane(epoch, log.number, level).0, Relaxed);
        self.running.store(running_in(taken.sequence, level), Relaxed);
        self.lap.store(taken.lap.into(), Relaxed);
        self.hold(log, taken.sequence, epoch);
        self.note(tick);
        self.next.store(taken.sequence * BLOCK_SLOTS as u64 + 1, Relaxed);
        self.name_open_calls(log.number);
        true
    }

    /// As [`Lane::turn`], if another log has replaced this one after the lane joined it.
    fn turn_after(&self, log: &Log, tick: u64) -> bool {
        current().is_some_and(|next| !std::ptr::eq(next, log)) && self.turn(tick)
    }

    /// Writes the calls that are open into the new block, so that it shows the calls around its
    /// own.
    fn name_open_calls(&self, log: u8) {
        if self.outliving.is_empty() {
            return;
        }
        let open = self.outliving.open_calls(log);
        let unnamed = open.unnamed.any().then_some(open.unnamed.words());
        for words in open.calls[..open.count].iter().map(|call| call.words()).chain(unnamed) {
            let id = self.next.load(Relaxed);
            let cells = slot_cells(self, id);
            cells[1..].iter().zip(words).for_each(|(cell, word)| cell.store(word, Relaxed));
            let lap = self.lap.load(Relaxed) as u8;
            cells[0].store(commit(0, Mark::Open as u32, lap), Release);
            self.next.store(id + 1, Relaxed);
        }
    }

    /// Lets lean events begin in a new block, if one instruction reads the clock and there is room
    /// for those that run on.
    fn hold(&self, log: &Log, sequence: u64, epoch: u32) {
        self.held.store(Lean::block_of(log.number, sequence), Relaxed);
        self.common.store(Lean::of_log(log.number), Relaxed);
        if self.outliving.has_room() && clock::counter().is_some() {
            self.gate.open(epoch)
        } else {
            self.gate.narrow_down()
        }
    }

    /// When this lane last looked at the clock.
    #[inline(always)]
    pub fn seen(&self) -> u64 {
        let in_block = self.base.load(Relaxed) + slot::start(self.stamp.load(Relaxed));
        in_block.max(self.seen.load(Relaxed))
    }

    /// Remembers when this lane looked at the clock.
    #[inline(always)]
    pub fn note(&self, now: u64) {
        self.seen.store(now, Relaxed);
        let start = now.saturating_sub(self.base.load(Relaxed));
        if start > START_MAX {
            // The next event continues in the next block, timed or not.
            return self.gate.narrow_down();
        }
        self.stamp.store(slot::stamp(start, self.lap.load(Relaxed)), Relaxed);
    }

    /// True if an event is in the block that this lane fills.
    #[inline(always)]
    pub fn holds(&self, begun: &Begun) -> bool {
        begun.id / BLOCK_SLOTS as u64 == self.sequence.load(Relaxed)
            && begun.about.is_of_block(About(self.about.load(Relaxed)))
    }

    /// The meta level.
    #[inline(always)]
    pub fn level(&self) -> u8 {
        About(self.about.load(Relaxed)).level()
    }

    /// Lets calls that are only counted find the newest page.
    #[inline]
    pub fn aim(&self) {
        match self.level() {
            0 => self.page.show(&self.near),
            _ => self.near.forget(),
        }
        self.cells.aim(self.level() == 0);
    }

    /// Goes to another meta level.
    #[inline]
    pub(crate) fn set_level(&self, level: u8) {
        // A signal handler in between would take another block, and its words would be overwritten.
        let _busy = Busy::unless_busy(self);
        let about = About(self.about.load(Relaxed));
        self.about.store(About::of_lane(about.epoch(), about.log(), level).0, Relaxed);
        self.running.store(running_in(self.sequence.load(Relaxed), level), Relaxed);
        self.aim();
    }

    /// Makes `log` the lane's log, or the one that has replaced it meanwhile; returns that one. The
    /// lane is busy.
    ///
    /// A signal handler may be the first to call a hook in its thread: nothing here takes memory or
    /// waits for a lock.
    #[inline]
    pub fn join(&self, log: &'static Log) -> &'static Log {
        if self.is_apart(log) { self.join_other(log) } else { log }
    }

    #[cold]
    fn join_other(&self, mut log: &'static Log) -> &'static Log {
        let old = self.log();
        let is_used =
            |log| self.uses_log.load(Relaxed) && old.is_some_and(|old| std::ptr::eq(old, log));
        while !is_used(log) && !log.begin_use() {
            // A forked child has none, and this one is not written there.
            let Some(next) = current() else { return log };
            log = next;
            if !self.is_apart(log) {
                return log;
            }
        }
        if let Some(old) = old.filter(|_| self.row.load(Relaxed) != 0) {
            self.leave(old);
            self.carry_current(old, log);
        }
        if !is_used(log) {
            self.end_use();
            self.uses_log.store(true, Relaxed);
        }
        thread_word::set(self);
        self.page.forget();
        self.cells.leave();
        self.outliving.forget(log.number);
        self.aim();
        self.log.store(std::ptr::from_ref(log).cast_mut(), Relaxed);
        self.about.store(About::of_lane(0, log.number, self.level()).0, Relaxed);
        self.lost.store(0, Relaxed);
        self.last.store(0, Relaxed);
        // Without a row as long as its end is not seen.
        let is_watched = watch_this_thread();
        self.row.store(if is_watched { log.lane_row() } else { NO_ROW }, Relaxed);
        self.dice.store(self.row.load(Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, Relaxed);
        if !is_watched {
            self.end_use();
        }
        log
    }

    /// The lane goes on in another log, and may be in an event of this one. An event that begins
    /// there is no root if it is an effect of that event; effects of an event in a recording
    /// outside the rotation are roots.
    fn carry_current(&self, old: &Log, log: &Log) {
        let current = self.current.load(Relaxed);
        let carried = if current == 0 { 0 } else { earlier_cause(log) };
        if let Some(outermost) = causes::first_cause(old, current).filter(|_| carried != 0) {
            self.outermost.store(call_of(old.number, outermost), Relaxed);
        }
        self.current.store(carried, Relaxed);
    }

    /// A call of another log has ended. `before` is the event that the thread was in before, if
    /// that is known.
    pub(super) fn leave_earlier(&self, call: u64, log: u8, before: Option<u64>) {
        let is_outermost = before == Some(0) || self.outermost.load(Relaxed) == call_of(log, call);
        if is_outermost && self.current.load(Relaxed) == slot::EARLIER {
            self.current.store(0, Relaxed);
        }
    }

    /// Its log, which may have been replaced.
    #[inline]
    pub fn log(&self) -> Option<&'static Log> {
        // SAFETY: it is null, or `join` has stored it, and logs are leaked boxes.
        unsafe { self.log.load(Relaxed).as_ref() }
    }

    /// Keeps the memory of its log no longer.
    pub(super) fn end_use(&self) {
        if self.uses_log.load(Relaxed) {
            self.uses_log.store(false, Relaxed);
            self.log().into_iter().for_each(Log::end_use);
        }
    }

    /// True if `log` is not the lane's log.
    #[inline]
    pub fn is_apart(&self, log: &Log) -> bool {
        self.row.load(Relaxed) == 0 || !std::ptr::eq(self.log.load(Relaxed), log)
    }

    /// True if a call is one of the lane's log.
    #[inline]
    pub fn is_in_log_of(&self, about: About) -> bool {
        self.log().is_some_and(|log| log.has(about.log(), about.epoch()))
    }

    /// True if it writes the log of a call, after the change to the current one.
    #[inline]
    pub fn writes_log_of(&self, about: About) -> bool {
        current().is_some_and(|log| {
            self.join_unless_busy(log);
            log.has(about.log(), about.epoch())
        })
    }

    /// As [`Lane::join`], for a thread that has no lane yet.
    #[inline]
    pub(crate) fn join_if_new(&self, log: &'static Log) {
        if self.row.load(Relaxed) == 0 {
            self.join_unless_busy(log);
        }
    }

    /// As [`Lane::join`], where no hook is at work yet.
    fn join_unless_busy(&self, log: &'static Log) {
        if self.is_apart(log)
            && let Some(_busy) = Busy::unless_busy(self)
        {
            self.join(log);
        }
    }

    /// Leaves the block it holds.
    pub(super) fn leave(&self, log: &Log) {
        let sequence = self.sequence.load(Relaxed);
        if sequence != 0 {
            // The file of a log that was closed may be gone. Events that ran in it stay as they
            // are.
            if !log.is_closing() {
                self.outliving.add_all(self);
            }
            log.leave(sequence);
            self.sequence.store(0, Relaxed);
            self.held.store(0, Relaxed);
            self.next.store(0, Relaxed);
        }
    }

    /// The next roll of a xorshift generator.
    #[inline]
    pub fn roll(&self) -> u64 {
        let mut dice = self.dice.load(Relaxed) | 1;
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        self.dice.store(dice, Relaxed);
        dice
    }
}

/// An event of a log, as one word.
fn call_of(log: u8, id: u64) -> u64 {
    u64::from(log) << 56 ^ id
}

/// The last word of an event that begins in a block, without its subject's kind.
fn running_in(sequence: u64, level: u8) -> u64 {
    slot::running(sequence, slot::flags_at_level(level))
}

thread_local! {
    static LANE: Lane = const { Lane::new() };
}

/// The lane of this thread.
#[inline(always)]
pub fn own_lane<'a>() -> &'a Lane {
    match joined_lane() {
        Some(lane) => lane,
        None => of_thread(),
    }
}

/// Like [`own_lane`]. In other packages, and in code that may become a library, the address of a
/// thread-local is the result of a call.
#[cold]
#[inline(never)]
fn of_thread<'a>() -> &'a Lane {
    let lane = LANE.with(std::ptr::from_ref);
    // SAFETY: the thread-local is constant and has no destructor, so it is there as long as its
    // thread. No caller keeps the reference beyond a hook on this thread, and `Lane` is not
    // `Sync`-dependent: its words are atomics.
    unsafe { &*lane }
}

/// The lane of this thread, if it has been one of a log. Reading it keeps all registers.
#[inline(always)]
pub fn joined_lane<'a>() -> Option<&'a Lane> {
    // SAFETY: it is null, or `join` has set it to the lane of this thread; for the rest see
    // `of_thread`.
    unsafe { thread_word::get::<Lane>().as_ref() }
}

/// Makes the lane of this thread one of the current log.
#[inline]
fn join_current() {
    let lane = own_lane();
    if let Some(log) = current() {
        lane.join_unless_busy(log);
    }
}

/// The cause of the effects of events in earlier files, where a rotation goes on in this log; else
/// 0.
pub(crate) fn earlier_cause(log: &Log) -> u64 {
    if log.word(sb::EARLIER_FILES).load(Relaxed) == 0 { 0 } else { slot::EARLIER }
}

/// The event that this thread is in; 0 if that is one of an earlier recording.
#[inline]
pub fn current_event() -> u64 {
    current().map_or_else(|| own_lane().current.load(Relaxed), current_event_in)
}

/// As [`current_event`], in this log.
#[inline]
pub fn current_event_in(log: &Log) -> u64 {
    let lane = own_lane();
    let is_its = lane.row.load(Relaxed) == 0 || !lane.is_apart(log);
    if is_its { lane.current.load(Relaxed) } else { 0 }
}

/// Puts this thread into another event, and returns the one before.
#[inline]
pub fn swap_current(event: u64) -> u64 {
    let current = &own_lane().current;
    let before = current.load(Relaxed);
    current.store(event, Relaxed);
    before
}

/// The meta level of this thread.
#[inline]
pub fn lane_level() -> u8 {
    own_lane().level()
}

/// An event that this thread is in for as long as this lives; then it is back in the one before.
#[derive(Debug)]
pub struct Current {
    before: u64,
    /// The one that was named before.
    named: u64,
    /// The log of the lane then.
    log: *const Log,
    _thread: std::marker::PhantomData<*const ()>,
}

impl Current {
    /// Names an event, wherever it runs. The event that this thread is in already runs here.
    #[inline]
    pub fn name(event: u64) -> Self {
        let lane = own_lane();
        let is_here = lane.current.load(Relaxed) == event;
        Current::enter(event, if is_here { lane.named_cause.load(Relaxed) } else { event })
    }

    /// A lane that meets a log is in no event: it has to meet it before, not afterwards.
    #[inline]
    fn enter(event: u64, named: u64) -> Self {
        // A lane that joins a log begins with nothing around it: it must not do so only after the
        // cause was named.
        join_current();
        let lane = own_lane();
        let log = lane.log.load(Relaxed);
        let before = lane.named_cause.load(Relaxed);
        lane.named_cause.store(named, Relaxed);
        Current {
            before: swap_current(event),
            named: before,
            log,
            _thread: std::marker::PhantomData,
        }
    }

    /// Returns the cause before in the form that [`Current::from_raw`] takes.
    #[inline]
    pub fn into_raw(self) -> CauseBefore {
        let current = ManuallyDrop::new(self);
        CauseBefore { event: current.before, named: current.named, log: current.log.cast() }
    }

    /// Restores a value that [`Current::into_raw`] returned.
    ///
    /// # Safety
    /// Only the same thread may call it, and once.
    #[inline]
    pub unsafe fn from_raw(before: &CauseBefore) -> Self {
        Current {
            before: before.event,
            named: before.named,
            log: before.log.cast(),
            _thread: std::marker::PhantomData,
        }
    }

    /// Goes into the event of a call that runs here. If another log is written by now the event
    /// is none of its own, and the thread is in nothing, or in an event of an earlier file.
    #[inline]
    pub fn enter_call(begun: &Begun) -> Self {
        let event = current().map_or(0, |log| {
            if log.has(begun.about.log(), begun.about.epoch()) {
                begun.id
            } else {
                earlier_cause(log)
            }
        });
        Current::enter(event, 0)
    }
}

impl Drop for Current {
    #[inline]
    fn drop(&mut self) {
        let lane = own_lane();
        let log = lane.log.load(Relaxed);
        lane.named_cause.store(self.named, Relaxed);
        // In another recording the thread is in nothing that began before it. Without one, only a
        // cause was named.
        if self.log.is_null() || std::ptr::eq(log, self.log) {
            swap_current(self.before);
        }
    }
}
