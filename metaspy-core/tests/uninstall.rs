//! What an installation costs does not depend on how many came before it. Bytes are counted,
//! because times vary.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard};

use metaspy_core::arm::{Arming, CallView, Handler, Mode, Subjects};
use metaspy_core::hook;
use metaspy_core::instrumenter::Installation;
use metaspy_core::method_profilers::{
    Call, CallEnd, Calls, Contexts, Count, MethodProfiler, MethodSpy, TestCoverage,
};
use metaspy_core::{
    InstallError, Instrumenter, Kind, Outcome, Profile, Profiler, Recording, Session, Site,
    SiteDef, SiteKind, Subject,
};

thread_local! {
    /// Bytes that this thread allocated, and those that it did not free.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
    static KEPT: Cell<i64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: it passes everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + layout.size() as u64);
        KEPT.set(KEPT.get() + layout.size() as i64);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        KEPT.set(KEPT.get() - layout.size() as i64);
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
    let before = (ALLOCATED.get(), KEPT.get());
    for key in 0..10 {
        let installed =
            Profiler::new("ten").observe(Arm(arming.clone())).install().expect("the site is there");
        work(key);
        drop(installed.uninstall());
    }
    (ALLOCATED.get() - before.0, KEPT.get() - before.1)
}

/// Armings with and without a plan: for all subjects, and for some of them with a handler.
fn armings() -> [Arming; 2] {
    let subjects = (0..64).map(|key| Subject::new(NODE.id(), key)).collect();
    let handlers = vec![Handler::before(|_: &CallView<'_>| ())];
    [
        Arming::all(Mode::Full),
        Arming { subjects: Subjects::Only(subjects), handlers, ..Arming::all(Mode::Full) },
    ]
}

#[test]
fn the_thousandth_installation_costs_as_much_as_the_hundredth() {
    let _turn = turn();
    let _recording =
        Recording::memory().budget(64 << 20).collector(false).start().expect("there is memory");
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
    let _recording =
        Recording::memory().budget(4 << 20).collector(false).start().expect("there is memory");
    let (called, over) = (Arc::new(AtomicU64::new(0)), AtomicBool::new(false));
    std::thread::scope(|scope| {
        (0..2).for_each(|_| {
            scope.spawn(|| (0..64).cycle().take_while(|_| !over.load(Relaxed)).for_each(work));
        });
        let [_, arming] = armings();
        for _ in 0..200 {
            let handler = called.clone();
            let handlers =
                vec![Handler::before(move |_: &CallView<'_>| _ = handler.fetch_add(1, Relaxed))];
            let arming = Arming { handlers, ..arming.clone() };
            drop(
                Profiler::new("handled").observe(Arm(arming)).install().expect("the site is there"),
            );
        }
        over.store(true, Relaxed);
    });
    drop(
        Profiler::new("last")
            .observe(Arm(Arming::all(Mode::Tally)))
            .install()
            .expect("the site is there"),
    );
    assert_eq!(Arc::strong_count(&called), 1);
}

/// Bytes that installations of a method profiler keep, and a call that each sees.
fn kept_by(installations: u64) -> i64 {
    let before = KEPT.get();
    for key in 0..installations {
        let profiler = Profiler::new("short")
            .method_profiler(TestCoverage::default())
            .method_profiler(Calls::default());
        let installed = profiler.install().expect("there is room");
        Tree(key).grows(2);
        let profile = installed.uninstall();
        assert_eq!(
            profile.mirror::<TestCoverage>().map(|mirror| mirror.methods().len()),
            Some(SITES)
        );
    }
    KEPT.get() - before
}

#[test]
fn a_thousand_method_profilers_leave_no_memory_behind() {
    let _turn = turn();
    let _recording =
        Recording::memory().budget(64 << 20).collector(false).start().expect("there is memory");
    more_sites();
    // Lists of the process have grown as far as they do.
    kept_by(50);
    let kept = kept_by(1_000);
    assert!(kept < 16 << 10, "1,000 installations keep {kept} bytes");
}

/// Hooks of a profiler that was dropped already.
static TOO_LATE: AtomicU64 = AtomicU64::new(0);

/// Knows if it was dropped.
#[derive(Default)]
struct Mortal {
    is_over: AtomicBool,
}

impl Mortal {
    fn is_called(&self) {
        TOO_LATE.fetch_add(u64::from(self.is_over.load(Relaxed)), Relaxed);
    }
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
    }
}

impl MethodProfiler for Mortal {
    const NAME: &'static str = "mortal";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = Arc<()>;

    fn around(&self, _: &MethodSpy<Self>, _: &Call<'_>) -> Option<Arc<()>> {
        self.is_called();
        Some(Arc::default())
    }

    fn after(&self, spy: &MethodSpy<Self>, _: &Call<'_>, _: &CallEnd<'_>) {
        self.is_called();
        spy.data.add(1);
    }
}

/// A method, woven by hand.
struct Tree(u64);

impl Tree {
    /// Calls within calls: the inner ones may begin with other profilers than the outer ones.
    fn grows(&self, depth: u64) {
        metaspy_probe::hook!("Tree::grows", 1, 9, "c=2 self=ref type=Tree vis=pub", [place self], []);
        if depth > 0 {
            self.grows(depth - 1);
            Tree(self.0 + 1).grows(depth / 2);
        }
    }
}

/// Bytes that installations of a tree of calling contexts keep. Each has room for the calls that it
/// sees.
fn kept_by_trees(recording: &Recording, installations: u64) -> i64 {
    let mut kept = 0;
    for key in 0..installations {
        let before = KEPT.get();
        let installed = Profiler::new("tree")
            .method_profiler(Contexts::default())
            .install()
            .expect("there is room");
        Tree(key).grows(2);
        drop(installed.uninstall());
        kept += KEPT.get() - before;
        let store = recording.store();
        let profile = store.profile("contexts").expect("it was installed");
        let table = profile.table("tree").expect("it was declared");
        assert_eq!(table.lost, 0);
    }
    kept
}

#[test]
fn a_hundred_trees_of_contexts_use_the_memory_of_a_few() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(64 << 20).collector(false).start().expect("there is memory");
    kept_by_trees(&recording, 10);
    let kept = kept_by_trees(&recording, 100);
    // The index of one tree alone is half a megabyte where the recording has room for all rows.
    assert!(kept < 100 * (16 << 10), "{kept}");
}

#[test]
fn a_method_profiler_is_dropped_after_its_last_call() {
    let _turn = turn();
    let _recording =
        Recording::memory().budget(16 << 20).collector(false).start().expect("there is memory");
    let (over, mut profiles) = (AtomicBool::new(false), Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                (0..6)
                    .cycle()
                    .take_while(|_| !over.load(Relaxed))
                    .for_each(|depth| Tree(0).grows(depth))
            });
        }
        for _ in 0..300 {
            let installed = Profiler::new("mortal")
                .method_profiler(Mortal::default())
                .install()
                .expect("there is room");
            Tree(0).grows(4);
            profiles.push(installed.uninstall());
            profiles.truncate(1);
        }
        over.store(true, Relaxed);
    });
    assert_eq!(TOO_LATE.load(Relaxed), 0);
    // A profile keeps the mirror that it shows.
    let mirror = profiles.first().and_then(Profile::mirror::<Mortal>).expect("it was installed");
    let grows = mirror
        .methods()
        .iter()
        .find(|method| method.facts.name == "grows")
        .expect("it is a method");
    assert_ne!(grows.data.get(), 0);
}

/// The methods of this program.
const SITES: usize = 102;

/// Registers so many sites as a program with many methods has.
fn more_sites() {
    static NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
    for number in 0..SITES - 2 {
        metaspy_core::site::register_dynamic(SiteDef {
            kind: SiteKind::Method,
            module: "uninstall",
            name: NAMES[number % NAMES.len()],
            file: file!(),
            lines: (number as u32, number as u32),
            skipped: None,
        });
    }
}

/// There is one recording per process, so these tests take turns.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
