//! What an installation costs does not depend on how many came before it. Bytes are counted, because times vary.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use metaspy_core::arm::{Arming, CallView, Handler, Mode, Subjects};
use metaspy_core::hook;
use metaspy_core::instrumenter::Installation;
use metaspy_core::{
    InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef, SiteKind, Subject,
};

/// Bytes that were allocated, and that still are.
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static KEPT: AtomicI64 = AtomicI64::new(0);

struct Counting;

// SAFETY: it passes everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as u64, Relaxed);
        KEPT.fetch_add(layout.size() as i64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        KEPT.fetch_sub(layout.size() as i64, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

metaspy_core::site::register! {
    static WORK: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "uninstall",
        name: "work",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

static NODE: Kind = Kind::new("Node");

fn work(key: u64) {
    if WORK.is_armed() {
        hook::enter(&WORK, Subject::new(NODE.id(), key)).done(Outcome::Returned);
    }
}

struct Arm(Arming);

impl Instrumenter for Arm {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(&WORK, self.0.clone()).map(|()| Installation::none())
    }
}

/// Bytes that ten installations allocate, and bytes that they keep. A call is made in each.
fn ten(arming: &Arming) -> (u64, i64) {
    let before = (ALLOCATED.load(Relaxed), KEPT.load(Relaxed));
    for key in 0..10 {
        let installed = Profiler::new("ten").observe(Arm(arming.clone())).install().expect("the site is there");
        work(key);
        drop(installed.uninstall());
    }
    (ALLOCATED.load(Relaxed) - before.0, KEPT.load(Relaxed) - before.1)
}

/// Armings with and without a plan: for all subjects, and for some of them with a handler.
fn armings() -> [Arming; 2] {
    let subjects = (0..64).map(|key| Subject::new(NODE.id(), key)).collect();
    let handlers = vec![Handler::before(|_: &CallView<'_>| ())];
    [Arming::all(Mode::Full), Arming { subjects: Subjects::Only(subjects), handlers, ..Arming::all(Mode::Full) }]
}

#[test]
fn the_thousandth_installation_costs_as_much_as_the_hundredth() {
    let _turn = turn();
    let _recording = Recording::memory().budget(64 << 20).collector(false).start().expect("there is memory");
    for arming in armings() {
        (0..9).for_each(|_| _ = ten(&arming));
        let early = ten(&arming);
        (0..89).for_each(|_| _ = ten(&arming));
        let late = ten(&arming);
        assert!(early.0.abs_diff(late.0) < early.0 / 100, "{early:?} {late:?}");
        assert!(early.1 == 0 && late.1 == 0, "{early:?} {late:?}");
    }
}

#[test]
fn a_handler_is_dropped_when_no_thread_can_call_it_any_more() {
    let _turn = turn();
    let _recording = Recording::memory().budget(4 << 20).collector(false).start().expect("there is memory");
    let (called, over) = (Arc::new(AtomicU64::new(0)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        (0..2).for_each(|_| {
            scope.spawn(|| (0..64).cycle().take_while(|_| !over.load(Relaxed)).for_each(work));
        });
        let [_, arming] = armings();
        for _ in 0..200 {
            let handler = called.clone();
            let handlers = vec![Handler::before(move |_: &CallView<'_>| _ = handler.fetch_add(1, Relaxed))];
            let arming = Arming { handlers, ..arming.clone() };
            drop(Profiler::new("handled").observe(Arm(arming)).install().expect("the site is there"));
        }
        over.store(true, Relaxed);
    });
    drop(Profiler::new("last").observe(Arm(Arming::all(Mode::Tally))).install().expect("the site is there"));
    assert_eq!(Arc::strong_count(&called), 1);
}

/// There is one recording per process, so these tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
