//! What the hooks of a timed call cost, measured once in this process, and kept in its recordings. The code is that of hooks; the
//! memory belongs to no recording, so a measurement leaves nothing behind.

use std::hint::black_box;
use std::ptr::from_mut;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::clock;
use crate::format::profile::Key;
use crate::format::superblock as sb;
use crate::method_profilers::call_stack::{Activation, Thread};
use crate::method_profilers::known_call;
use crate::method_profilers::table::{Pair, ScratchPages, count};
use crate::recorder::{self, Log, Notes, Observed};

/// Rounds of a measurement; the fastest counts, because other programs interrupt the others.
const ROUNDS: usize = 16;
/// Calls in a round.
const CALLS: u64 = 128;
/// Sites of the stack that is measured on: a method, and its caller.
const CALLER: u32 = 0;
const CALLEE: u32 = 1;
/// The table that the times are added to.
const TABLE: u32 = u32::MAX;

/// The picoseconds between the two clocks of a call, and of its hooks in all.
static COST: OnceLock<[u64; 2]> = OnceLock::new();

/// Measures the cost, if that was not yet done, and writes it into a recording. Without profilers that take times, and on
/// machines without a clock that one instruction reads, there is nothing to measure.
pub(super) fn measure_for(log: &Log) {
    if COST.get().is_none()
        && let Some(cost) = measure()
    {
        COST.get_or_init(|| cost);
    }
    write(log);
}

/// Writes the cost into a recording, if it was measured.
pub(super) fn write(log: &Log) {
    if let Some([within, whole]) = COST.get() {
        log.word(sb::HOOKS_WITHIN).store(*within, Relaxed);
        log.word(sb::HOOKS_WHOLE).store(*whole, Relaxed);
    }
}

fn measure() -> Option<[u64; 2]> {
    let mut thread = Thread::apart(CALLEE)?;
    let notes = Notes { profilers: thread.known_hold()?.address(), callers: TABLE.into(), ..Notes::NONE };
    let pages = ScratchPages::new()?;
    static PAIRS: [Pair; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];
    pages.remember_pair(TABLE, Key { site: CALLEE, second: CALLER, key: 0 }.who(), [&PAIRS[0], &PAIRS[1]]);
    let observed = Observed::nothing();
    observed.calls.store(from_mut(&mut thread).cast(), Relaxed);
    observed.pages.store(pages.address(), Relaxed);
    known_call::begin(&observed, notes, CALLER)?;
    let (within, tally) = (&PAIRS[0][0], AtomicU64::new(0));
    let round = |_| {
        let (before, started) = (within.load(Relaxed), clock::now());
        for _ in 0..CALLS {
            let begun = begin(black_box(&observed), &notes, &tally)?;
            end(black_box(&observed), begun, &notes)?;
        }
        let whole = clock::now().saturating_sub(started);
        Some((whole, within.load(Relaxed) - before))
    };
    let rounds: Option<Vec<_>> = (0..ROUNDS).map(round).collect();
    let (whole, within) = rounds?.into_iter().min()?;
    let per_call = u128::from(clock::rough_ticks_per_s()) * u128::from(CALLS);
    let ps = |ticks: u64| (u128::from(ticks) * 1_000_000_000_000 / per_call.max(1)) as u64;
    Some([ps(within.min(whole)), ps(whole)]).filter(|cost| cost[1] > 0)
}

/// The hook before a call: what light calls do, as they are on the stack of their thread.
#[inline(never)]
fn begin(observed: &Observed, notes: &Notes, tally: &AtomicU64) -> Option<Activation> {
    if recorder::near().is_some_and(|lane| lane.level() != 0) || std::thread::panicking() {
        return None;
    }
    let begun = known_call::begin(observed, *notes, CALLEE)?;
    count(tally, 1);
    Some(begun)
}

/// The hook behind it.
#[inline(never)]
fn end(observed: &Observed, begun: Activation, notes: &Notes) -> Option<()> {
    black_box(recorder::near().is_some());
    if std::thread::panicking() {
        return None;
    }
    known_call::end(observed, begun, *notes)
}
