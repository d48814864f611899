//! The collector: one thread that keeps blocks ready, so that no hook ever waits.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::clock;
use crate::format::Policy;
use crate::format::superblock::{self as sb, calibration};
use crate::platform::last_thread::MainThread;
use crate::platform::lock::lock_for_long;
use crate::recorder::collector_state::{CollectorState, FEW};
use crate::recorder::level::Level;
use crate::recorder::listener::{self, sync_names};
use crate::recorder::live_events::{LiveEvent, LiveEvents};
use crate::recorder::log::Log;
use crate::store::Store;

/// A growing file wakes the collector when fewer blocks than this are left.
const ROOM: u64 = 512;
/// Time between two calibration pairs.
const CALIBRATE_NS: u64 = 1_000_000_000;
/// Time between two looks for names that are not written yet: a program that is killed loses those
/// since the last one.
const NAMES_NS: u64 = 100_000_000;
/// Time between the rounds of an idle collector.
const IDLE: Duration = Duration::from_millis(100);
/// The same while there is a subscription.
const WATCHED: Duration = Duration::from_millis(20);

/// While this lives, no fold begins.
#[must_use]
pub struct Lease {
    log: &'static Log,
    _collecting: Option<MutexGuard<'static, CollectorState>>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.log.leases.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Log {
    /// The main loop of the collector's thread.
    pub(super) fn collect(&'static self) {
        // To the end of the thread: it frees memory of metaspy.
        std::mem::forget(Level::raise(1));
        _ = self.collector.set(std::thread::current());
        let main = MainThread::watch();
        loop {
            let busy = self.collect_once();
            if self.is_stopped() {
                return;
            }
            if !busy {
                if main.is_last() {
                    return self.close();
                }
                self.asleep.store(true, Ordering::SeqCst);
                std::thread::park_timeout(if listener::wants_events() { WATCHED } else { IDLE });
                self.asleep.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Does one round of the collector's work, and runs the listeners after it. Returns true if
    /// there is more to do at once.
    pub(crate) fn collect_once(&self) -> bool {
        let more = self.round();
        listener::round_ended(self);
        more
    }

    /// One round of the collector's work: true if there is more to do at once.
    pub fn round(&self) -> bool {
        // In a forked child, a thread that is gone may hold the lock.
        if self.closed.load(Ordering::Acquire) {
            return false;
        }
        let mut round = lock_for_long(&self.collecting);
        if self.closed.load(Ordering::Acquire) {
            return false;
        }
        let round = &mut *round;
        let now = crate::platform::clock::monotonic_ns();
        if now.saturating_sub(round.calibrated_ns) >= CALIBRATE_NS || round.calibrated_ns == 0 {
            round.calibrated_ns = now;
            self.calibrate();
        }
        if now.saturating_sub(round.named_ns) >= NAMES_NS {
            round.named_ns = now;
            sync_names(self);
        }
        self.word(sb::LAST_TICK).store(clock::now(), Ordering::Release);
        self.aim(round);
        let read = self.read(round);
        self.make_room_for_statements();
        if let Some(keeper) = &mut round.keeper {
            keeper.look(self, now);
        }
        let grew = self.grow(round);
        // The content of a closed recording was counted and stays.
        let freed = self.policy == Policy::KeepNewest && !self.is_stopped() && self.free(round);
        self.summarise(round);
        self.report_if_spent(round);
        grew || freed || read
    }

    /// Reads new events for subscriptions. True if there are more.
    fn read(&self, round: &mut CollectorState) -> bool {
        let is_watched = listener::wants_events();
        self.is_watched.store(is_watched, Ordering::Relaxed);
        if !is_watched {
            round.feed = None;
            return false;
        }
        if round.feed.is_none() {
            round.feed = LiveEvents::new(self).map(Box::new);
        }
        round.feed.as_mut().is_some_and(|feed| feed.pass(self))
    }

    /// Reads events for subscriptions from now on.
    pub fn begin_reading(&self) {
        let mut round = lock_for_long(&self.collecting);
        self.is_watched.store(true, Ordering::Relaxed);
        if round.feed.is_none() {
            round.feed = LiveEvents::new(self).map(Box::new);
        }
        drop(round);
        // Its rounds are more frequent now.
        self.wake();
    }

    /// Reads new events at once. True if there are more.
    pub fn read_on(&self) -> bool {
        lock_for_long(&self.collecting).feed.as_mut().is_some_and(|feed| feed.pass(self))
    }

    /// Events that no subscription received, because too many ran at once.
    pub fn unwatched(&self) -> u64 {
        lock_for_long(&self.collecting).feed.as_ref().map_or(0, |feed| feed.unwatched)
    }

    /// Takes the events that were read, and a store to resolve them.
    pub fn take_read(&self) -> Option<(Vec<LiveEvent>, Store)> {
        lock_for_long(&self.collecting).feed.as_mut().map(|feed| feed.take())
    }

    /// Keeps events from being folded while it is held, so that a reader counts every call exactly
    /// once. A lane that is in the middle of a block finishes it.
    pub fn lease(&'static self) -> Lease {
        self.leases.fetch_add(1, Ordering::Relaxed);
        // Nothing of a closed recording is folded; and in a forked child, a thread that is gone may
        // hold the lock.
        let is_open = !self.closed.load(Ordering::Acquire);
        Lease { log: self, _collecting: is_open.then(|| lock_for_long(&self.collecting)) }
    }

    /// Sets how many blocks should be ready: twice the number taken since the last round, at least
    /// a few and at most an eighth of the ring.
    fn aim(&self, round: &mut CollectorState) {
        let taken = self.word(sb::FRESH).load(Ordering::Relaxed) + self.ready.taken();
        // The counters of a truncated file start again at zero.
        let rate = taken.saturating_sub(round.taken);
        round.taken = taken;
        let most = (self.layout.blocks / 8).clamp(1, 1 << 14);
        round.target = (round.target - round.target / 16).max(rate * 2).clamp(FEW.min(most), most);
        let grows = self.file.is_some()
            && self.word(sb::GROWN).load(Ordering::Relaxed) < self.layout.blocks;
        let low = if grows { round.target.max(ROOM) } else { round.target / 2 };
        self.scarce.store(low, Ordering::Relaxed);
    }

    /// Frees blocks until enough are ready, at most one chunk in a round.
    fn free(&self, round: &mut CollectorState) -> bool {
        if self.word(sb::GROWN).load(Ordering::Relaxed) < self.layout.blocks && !self.is_short() {
            return false;
        }
        let grown = self.word(sb::GROWN).load(Ordering::Relaxed);
        let fresh = self.word(sb::FRESH).load(Ordering::Relaxed);
        let unused = grown.saturating_sub(fresh);
        if unused + self.ready.ready() >= round.target {
            return false;
        }
        let want = (round.target - unused - self.ready.ready())
            .min(self.ready.capacity() - self.ready.ready());
        self.fold_ahead(round, want as usize) != 0
    }

    /// Notes, once, that a recording without folding is full and that later calls have no events.
    fn report_if_spent(&self, round: &mut CollectorState) {
        let is_full = self.word(sb::FRESH).load(Ordering::Acquire) >= self.layout.blocks;
        if self.policy == Policy::KeepNewest
            || round.reported_spent
            || !is_full
            || !self.dry.load(Ordering::Relaxed)
        {
            return;
        }
        round.reported_spent = true;
        let mebibytes = self.word(sb::BUDGET).load(Ordering::Relaxed) >> 20;
        self.note(&format!(
            "The budget of {mebibytes} MiB is spent: later calls are counted and have no events. Record with a larger \
             budget, or keep the newest events."
        ));
    }

    /// Appends a calibration pair: one instant on all clocks.
    pub(crate) fn calibrate(&self) {
        let used = self.word(sb::CALIBRATION_USED).load(Ordering::Relaxed);
        let table = self.layout.calibration;
        let capacity = (table.len / calibration::WORDS) as u64;
        // The first pair stays; the others are reused in turn.
        let at = if used < capacity { used } else { 1 + (used - 1) % (capacity - 1) };
        let word = table.at + at as usize * calibration::WORDS;
        let now = clock::instant();
        let cells = &self.cells()[word..word + calibration::WORDS];
        cells[calibration::TICK].store(now.tick, Ordering::Relaxed);
        cells[calibration::MONOTONIC_NS].store(now.monotonic_ns, Ordering::Relaxed);
        cells[calibration::BOOT_NS].store(now.boot_ns, Ordering::Relaxed);
        cells[calibration::REAL_NS].store(now.real_ns, Ordering::Relaxed);
        self.word(sb::CALIBRATION_USED).store(used + 1, Ordering::Release);
    }
}
