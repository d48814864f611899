//! What the process of a case does: it records, and is killed, forks or meets a full disk.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use metaspy_core::Store;
use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook;
use metaspy_core::instrumenter::Installation;
use metaspy_core::method_profilers::Calls;
use metaspy_core::recording;
use metaspy_core::{
    InstallError, Installed, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site,
    SiteDef, SiteKind, Subject,
};

use super::subjects;

metaspy_core::site::register! {
    static WORK: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "file",
        name: "Worker::work",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

static NODE: Kind = Kind::new("Node");

fn node(key: u64) -> Subject {
    Subject::new(NODE.id(), key)
}

struct All;

impl Instrumenter for All {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(&WORK, Arming::all(Mode::Full)).map(|()| Installation::none())
    }
}

fn observe() -> Installed {
    Profiler::new("file").observe(All).install().unwrap()
}

fn work(key: u64) -> Option<metaspy_core::EventId> {
    let call = if WORK.is_armed() { hook::enter(&WORK, node(key)) } else { hook::Call::inert() };
    let event = call.event();
    call.done(Outcome::Returned);
    event
}

/// A thread is in a call when the recording is closed, and goes on for a while.
#[cfg(target_os = "linux")]
fn late(path: &Path) {
    let recording = Recording::file(path).start().unwrap();
    let _installed = observe();
    let (in_call, is_in_call) = std::sync::mpsc::channel();
    let (closed, is_closed) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let open = hook::enter(&WORK, node(0));
        in_call.send(()).unwrap();
        is_closed.recv().unwrap();
        open.done(Outcome::Panicked);
        (1..1_000).for_each(|key| _ = work(key));
    });
    is_in_call.recv().unwrap();
    recording.close();
    assert!(std::fs::metadata(path).unwrap().len() < 200_000);
    closed.send(()).unwrap();
    thread.join().unwrap();
    // A thread without a lane.
    std::thread::spawn(|| (0..100).for_each(|key| _ = work(key))).join().unwrap();
    (0..20_000).for_each(|key| metaspy_core::model::label(node(key), "late"));
    let totals = recording.store().totals();
    assert_eq!((totals.emitted, totals.exact), (1_100, true), "{totals:?}");
    assert_eq!(totals, Store::open(path).unwrap().totals());
}

/// Threads call as often as they can while the recording is closed.
#[cfg(target_os = "linux")]
fn busy(path: &Path) {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let recording = Recording::file(path).start().unwrap();
    let _installed = observe();
    let threads = [0, 1].map(|thread| {
        std::thread::spawn(move || {
            while !IS_OVER.load(Ordering::Relaxed) {
                work(thread);
                CALLS.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    let wait_for = |calls: u64| {
        let until = CALLS.load(Ordering::Relaxed) + calls;
        while CALLS.load(Ordering::Relaxed) < until {
            std::thread::yield_now();
        }
    };
    wait_for(1_000);
    recording.close();
    wait_for(1_000);
    IS_OVER.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let totals = Store::open(path).unwrap().totals();
    assert_eq!(totals.emitted, CALLS.load(Ordering::Relaxed), "{totals:?}");
}

/// A process that is killed while it closes its file, as soon as there is a copy.
#[cfg(target_os = "linux")]
fn closing(path: &Path) {
    let recording = Recording::file(path).start().unwrap();
    let _installed = observe();
    (0..100_000).for_each(|key| _ = work(key));
    let copy = path.with_extension("spy.closing");
    std::thread::spawn(move || {
        while !std::fs::metadata(&copy).is_ok_and(|copy| copy.len() > 0) {}
        // SAFETY: ends this process.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) }
    });
    recording.close();
}

#[test]
fn case() {
    let Ok(case) = std::env::var("CASE") else { return };
    let path = PathBuf::from(std::env::var_os("FILE_UNDER_TEST").unwrap());
    match case.as_str() {
        "closed" => {
            Recording::file(&path).budget(4 << 20).start().unwrap();
            let _installed = observe();
            (0..1_000).for_each(|key| _ = work(key));
        }
        "five" => {
            Recording::file(&path).start().unwrap();
            let _installed = observe();
            (0..5).for_each(|key| _ = work(key));
        }
        "five of a profiler" => {
            Recording::file(&path).start().unwrap();
            let _installed =
                Profiler::new("calls").method_profiler(Calls::default()).install().unwrap();
            let _observed = observe();
            (0..5).for_each(|key| _ = work(key));
        }
        #[cfg(target_os = "linux")]
        "late" => late(&path),
        #[cfg(target_os = "linux")]
        "busy" => busy(&path),
        #[cfg(target_os = "linux")]
        "closing" => closing(&path),
        "killed" => {
            Recording::file(&path).budget(4 << 20).start().unwrap();
            let _installed = observe();
            // Every id that was published is noted in a map of our own, before the next call.
            let notes = std::fs::OpenOptions::new()
                .read(true)
                .write(true)
                .open(path.with_extension("ids"))
                .unwrap();
            let notes = memmap2::MmapOptions::new().map_raw(&notes).unwrap();
            for key in 1_u64.. {
                // A call that found no block is counted and has no id: wait for the collector, and
                // call again.
                let id = std::iter::repeat_with(|| work(key))
                    .inspect(|id| {
                        if id.is_none() {
                            std::thread::yield_now()
                        }
                    })
                    .flatten()
                    .next();
                let id = id.map_or(0, |id| id.raw());
                let at = (key as usize % (notes.len() / 16)) * 16;
                // SAFETY: the offset is within the map, and aligned; no other thread writes it.
                unsafe {
                    notes.as_mut_ptr().add(at).cast::<u64>().write_volatile(id);
                    notes.as_mut_ptr().add(at + 8).cast::<u64>().write_volatile(key);
                }
            }
        }
        "forked" => {
            let recording = Recording::file(&path).budget(4 << 20).start().unwrap();
            let _installed = observe();
            (0..100).for_each(|key| _ = work(key));
            let open = hook::enter(&WORK, node(100));
            // SAFETY: the child calls hooks and leaves.
            match unsafe { libc::fork() } {
                0 => {
                    // The child ends an event that it inherited, and continues: none of it is
                    // recorded.
                    open.done(Outcome::Panicked);
                    (5_000..6_000).for_each(|key| _ = work(key));
                    // SAFETY: ends this process without running what belongs to the parent.
                    unsafe { libc::_exit(0) };
                }
                child => {
                    let mut status = 0;
                    // SAFETY: waits for our own child.
                    unsafe { libc::waitpid(child, &mut status, 0) };
                    assert_eq!(status, 0);
                    open.done(Outcome::Succeeded);
                    (101..200).for_each(|key| _ = work(key));
                    assert_eq!(subjects(&recording.store()), (0..200).collect::<Vec<_>>());
                }
            }
        }
        "small budget" => {
            let recording = Recording::file(&path).budget(1_000).start().unwrap();
            println!("NOTES {:?}", recording.store().notes());
        }
        #[cfg(unix)]
        "many labels" => {
            let recording = Recording::file(&path).start().unwrap();
            let blocks = |path: &Path| {
                std::os::unix::fs::MetadataExt::blocks(&path.metadata().unwrap()) * 512
            };
            let at_once = blocks(&path);
            assert!(at_once < 48 << 20, "{at_once} bytes");
            (0..50_000).for_each(|key| {
                metaspy_core::model::label(node(key), "a label of some length ".repeat(4))
            });
            assert!(blocks(&path) > at_once + (4 << 20));
            recording.close();
        }
        "objects" => {
            let recording = Recording::file(&path).start().unwrap();
            for _ in 0..1_100_000 {
                let object = Box::new(0_u64);
                drop(metaspy_core::hook::RegisteredIdentity::new(
                    &*object,
                    metaspy_core::ObjectId::new(),
                ));
            }
            metaspy_core::model::label(node(7), "seven");
            let installed = observe();
            work(7);
            drop(installed);
            recording.close();
        }
        "full disk" => {
            let recording = Recording::file(&path).budget(64 << 20).start().unwrap();
            let _installed = observe();
            (0..500_000).for_each(|key| _ = work(key % 1_000));
            // While the collector folds, counts are marked as inexact.
            while recording.collect() {}
            let store = recording.store();
            let totals = store.totals();
            assert_eq!((totals.emitted, totals.exact), (500_000, true), "{totals:?}");
            println!("NOTES {:?}", store.notes());
        }
        "replaced" => {
            let closed = Recording::file(&path).budget(4 << 20).start().unwrap();
            let installed = observe();
            (0..1_000).for_each(|key| _ = work(key));
            std::thread::spawn(|| (0..1_000).for_each(|key| _ = work(key))).join().unwrap();
            drop(installed);
            closed.close();
            // Whoever has a closed recording may do with it what they like; the next one does not
            // touch it.
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
            let recording = Recording::memory().budget(1 << 20).start().unwrap();
            let _installed = observe();
            (0..100).for_each(|key| _ = work(key));
            assert_eq!(
                (recording.store().totals().emitted, std::fs::metadata(&path).unwrap().len()),
                (100, 0)
            );
        }
        "truncated" => {
            let recording = Recording::file(&path).budget(4 << 20).guarded(true).start().unwrap();
            let _installed = observe();
            (0..1_000).for_each(|key| _ = work(key));
            std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
            (0..100_000).for_each(|key| _ = work(key % 1_000));
            assert!(recording::truncated_pages() > 0);
            let _ = recording.store_if_sound();
        }
        other => panic!("no case {other}"),
    }
}
