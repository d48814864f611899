//! The cost of the hooks of a timed call, measured once in this process, and kept in its
//! recordings.
//!
//! The hooks are those of woven functions, and are called as these call them, so nothing of a hook
//! is compiled for a measurement alone. Meanwhile they work in memory that belongs to no recording.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr::from_mut;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::{Mutex, OnceLock};

use metaspy_probe::{COUNTED, Cell, Frame, Guard, Object};

use crate::arm;
use crate::clock;
use crate::format::profile::Key;
use crate::format::superblock as sb;
use crate::method_profilers::call_stack::{Entry, Thread};
use crate::method_profilers::present::Hold;
use crate::method_profilers::table::{Pair, ScratchPages};
use crate::platform::lock::lock;
use crate::recorder::{Apart, CachedObservers, Log, apart};
use crate::site::{self, Site, SiteDef, SiteKind};

/// Rounds of a measurement; the fastest counts, because other programs interrupt the others.
const ROUNDS: usize = 16;
/// Measurements that are tried: one gives up if another thread installs profilers meanwhile.
const TRIES: usize = 8;
/// Calls in a round.
const CALLS: u64 = 128;
/// Numbers of the method that is measured, which no site has, and of its caller.
const CALLEE: u32 = 0;
const CALLER: u32 = 1;
/// The table that the times are added to.
const TABLE: u32 = u32::MAX;

/// The measured method. It is not registered, so no recording has it.
static SITE: Site = Site::new(SiteDef {
    kind: SiteKind::Method,
    module: module_path!(),
    name: "SITE",
    file: file!(),
    lines: (line!(), line!()),
    skipped: None,
});

/// Picoseconds of the hooks of a call.
#[derive(Clone, Copy)]
struct Cost {
    /// Between the two clocks.
    within: u64,
    whole: u64,
    /// Between the two clocks, beside `within`, if the hook sees the returned value.
    returned: u64,
}

/// Ticks of the hooks of a round's calls.
#[derive(Clone, Copy)]
struct Round {
    within: u64,
    whole: u64,
}

static COST: OnceLock<Cost> = OnceLock::new();
/// Held by the thread that measures.
static MEASURING: Mutex<()> = Mutex::new(());

/// The times of the method; its calls by the caller, and their time.
static PAIRS: [Pair; 2] = [const { [const { AtomicU64::new(0) }; 2] }; 2];

/// Measures the cost, if that was not yet done, and writes it into a recording. Where hooks are not
/// in assembly, or no instruction reads the clock, there is nothing to measure.
pub(super) fn measure_for(log: &Log) {
    if COST.get().is_none() {
        let _measuring = lock(&MEASURING);
        if COST.get().is_none()
            && let Some(cost) = (0..TRIES).find_map(|_| measure())
        {
            COST.get_or_init(|| cost);
        }
    }
    write(log);
}

/// Writes the cost into a recording, if it was measured.
pub(super) fn write(log: &Log) {
    if let Some(cost) = COST.get() {
        log.word(sb::HOOKS_WITHIN).store(cost.within, Relaxed);
        log.word(sb::HOOKS_WHOLE).store(cost.whole, Relaxed);
        log.word(sb::HOOKS_RETURNED).store(cost.returned, Relaxed);
    }
}

fn measure() -> Option<Cost> {
    SITE.adapter.store(site::entries().first()?.site.adapter.load(Acquire), Relaxed);
    SITE.cell.store(size_of::<Cell>() as u32, Relaxed);
    SITE.arm.store(1 | Site::COUNTS, Relaxed);
    let hold = Hold::of_present()?;
    if !hold.is_timed() || SITE.adapter.load(Relaxed).is_null() {
        return None;
    }
    // The words of a row in which the tally counts.
    let row = [const { AtomicU64::new(0) }; 2];
    let observers = CachedObservers {
        row: std::ptr::from_ref(&row).cast_mut().cast::<u8>().wrapping_add(COUNTED),
        profilers: hold.address(),
        callers: TABLE.into(),
        ..CachedObservers::NONE
    };
    let mut cells = [CachedObservers::NONE.cell(0), observers.cell(arm::settled())];
    let mut calls = [const { MaybeUninit::uninit() }; 2];
    let mut depths = [const { MaybeUninit::uninit() }; 2];
    let mut thread =
        Thread::within(Entry::of_end(CALLER, 0, hold.above(), None), &mut calls, &mut depths);
    let pages = ScratchPages::new()?;
    pages.remember_pair(
        TABLE,
        Key { site: CALLEE, second: CALLER, key: 0 }.who(),
        [&PAIRS[0], &PAIRS[1]],
    );
    let own = Apart {
        cells: cells.as_mut_ptr(),
        calls: from_mut(&mut *thread).cast(),
        pages: pages.address(),
    };
    apart(own, || {
        let plain = fastest_round(call)?;
        let showing = fastest_round(call_that_shows_its_value)?;
        let [within, whole] = [plain.within.min(plain.whole), plain.whole].map(picoseconds);
        let returned = picoseconds(showing.within.saturating_sub(plain.within));
        (whole > 0).then_some(Cost { within, whole, returned })
    })?
}

/// As `metaspy_probe::hook!`.
#[inline(always)]
fn call() {
    let mut frame = Frame::vacant();
    drop(Guard::begin(black_box(&SITE), &mut frame, Object::NONE));
}

/// As `metaspy_probe::whole!`, with a value that cannot fail, as the others cost more.
#[inline(always)]
fn call_that_shows_its_value() {
    let mut frame = Frame::vacant();
    let mut guard = Guard::begin(black_box(&SITE), &mut frame, Object::NONE);
    let value = black_box(0_u64);
    if guard.is_seen() {
        metaspy_probe::apart(|| guard.returned(&metaspy_probe::value!(own any "", value)));
    }
}

/// The fastest round of such calls. `None` if something else has happened than these calls:
/// profilers were installed, say.
#[inline(always)]
fn fastest_round(call: impl Fn()) -> Option<Round> {
    let [[_, own], [calls, _]] = &PAIRS;
    let mut fastest = Round { within: 0, whole: u64::MAX };
    for _ in 0..ROUNDS {
        let own_before = own.load(Relaxed);
        let calls_before = calls.load(Relaxed);
        let started = clock::now();
        (0..CALLS).for_each(|_| call());
        let whole = clock::now().saturating_sub(started);
        if calls.load(Relaxed) - calls_before != CALLS {
            return None;
        }
        if whole < fastest.whole {
            fastest = Round { within: own.load(Relaxed) - own_before, whole };
        }
    }
    Some(fastest)
}

/// The picoseconds of one of the calls that took these ticks together.
fn picoseconds(ticks: u64) -> u64 {
    let per_call = u128::from(clock::rough_ticks_per_s()) * u128::from(CALLS);
    (u128::from(ticks) * 1_000_000_000_000 / per_call.max(1)) as u64
}
