//! The sum over all recordings equals the calls, also while one recording replaces another.

use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;

use metaspy_core::method_profilers::{
    Call, Calls, Column, Contexts, Count, MethodProfiler, MethodSpy, SubjectTable, Tables,
};
use metaspy_core::recording::Builder;
use metaspy_core::{Kind, Profiler, Recording, Store, Subject};

use crate::domain::{Layout, Scene};
use crate::{is_apart, number};

/// Recordings that follow each other.
const RECORDINGS: usize = 100;
const THREADS: u64 = 3;
/// Number of times that they do so with `METASPY_LONG=1`.
const TIMES: usize = 25;
/// Each thread has a page of its own in every table. With less room, values are lost, and their
/// tables say so.
const BUDGET: u64 = 16 << 20;

static EVEN: Kind = Kind::new("even");

/// Counts calls by method, and by a subject of its own.
#[derive(Default)]
struct Seen {
    by_subject: SubjectTable,
}

impl MethodProfiler for Seen {
    const NAME: &'static str = "seen";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.by_subject = tables.by_subject("subjects", [Column::new("seen")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.add(1);
        self.by_subject.row(spy.site, Subject::new(EVEN.id(), 0)).put(0, 1);
    }
}

metaspy_core::profiler!(Seen);

/// Methods that are called equally often.
pub const PATHS: [&str; 2] = ["Layout::twice", "Scene::Layout::measure"];

/// The sum of a column over the rows of a method.
pub fn column(store: &Store, path: &str, profile: &str, table: &str, column: &str) -> u64 {
    let profile = store.profile(profile);
    let Some(table) = profile.as_ref().and_then(|profile| profile.table(table)) else { return 0 };
    let rows = table.rows.iter().filter(|row| store.site_path(row.key.site()).ends_with(path));
    rows.map(|row| number(&table.value(row.key, column))).sum()
}

/// What a recording counted of a method.
pub fn counted(store: &Store, path: &str) -> [u64; 5] {
    let counts = store.tally(metaspy_core::store::By::Site, &Default::default());
    let is_of = |site| store.site_path(site).ends_with(path);
    let rows = counts.rows.iter().filter(|row| row.site.is_some_and(is_of));
    [
        rows.map(|row| row.measure.count).sum(),
        column(store, path, "contexts", "tree", "calls"),
        column(store, path, "calls", "callers", "calls"),
        column(store, path, "seen", "", "count"),
        column(store, path, "seen", "subjects", "seen"),
    ]
}

#[test]
fn all_recordings_together_have_all_calls_of_every_profiler() {
    state_if_in_part();
    if is_apart("replaced::all_recordings_together_have_all_calls_of_every_profiler") {
        check_often(|_| Recording::memory());
    }
}

#[test]
fn all_files_together_have_all_calls_of_every_profiler() {
    state_if_in_part();
    if is_apart("replaced::all_files_together_have_all_calls_of_every_profiler") {
        let directory =
            std::env::temp_dir().join(format!("metaspy-replaced-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("there is room");
        check_often(|number| Recording::file(directory.join(format!("{number}.spy"))));
        std::fs::remove_dir_all(directory).expect("it is ours");
    }
}

/// True if proofs are run in full.
pub fn is_long() -> bool {
    std::env::var_os("METASPY_LONG").is_some_and(|value| !value.is_empty())
}

fn state_if_in_part() {
    if !is_long() {
        println!(
            "SKIPPED: replacements-in-full: {RECORDINGS} recordings; METASPY_LONG=1 makes {TIMES} times as many"
        );
    }
}

fn check_often(recording: impl Fn(usize) -> Builder) {
    let times = if is_long() { TIMES } else { 1 };
    (0..times).for_each(|_| check(&recording));
}

/// Threads call, and start others that call and end, and one reads, while recordings follow each
/// other.
fn check(recording: &impl Fn(usize) -> Builder) {
    let start =
        |number| recording(number).budget(BUDGET).collector(false).start().expect("it starts");
    let mut recordings = vec![start(0)];
    let profiler =
        Profiler::new("all").method_profiler(Contexts::default()).method_profiler(Calls::default());
    let installed =
        profiler.method_profiler(Seen::default()).install().expect("they are installed");
    static HAVE_ALL: AtomicBool = AtomicBool::new(false);
    HAVE_ALL.store(false, Relaxed);
    let calls: u64 = thread::scope(|scope| {
        let thread = |_| {
            scope.spawn(|| {
                let scene = Scene::new(&[1]);
                let mut calls = 0;
                while !HAVE_ALL.load(Relaxed) {
                    scene.twice();
                    let ended = thread::scope(|scope| scope.spawn(|| scene.twice()).join());
                    ended.expect("it only calls");
                    calls += 2;
                }
                // Each thread ends in the last recording, and has been in one before.
                scene.twice();
                calls + 1
            })
        };
        let threads: Vec<_> = (0..THREADS).map(thread).collect();
        for number in 1..RECORDINGS {
            let profile = installed.so_far();
            // While this is counted, no event of the replaced recording is folded.
            scope.spawn(move || black_box(profile.counts().by_site().rows.len()));
            recordings.push(start(number));
            // Until the threads are in it.
            let store = recordings.last().map(Recording::store);
            while store.as_ref().is_some_and(|store| counted(store, "twice")[0] == 0) {
                thread::yield_now();
            }
        }
        HAVE_ALL.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("it ends")).sum()
    });
    drop(installed);
    let found_no_room = |recording: &Recording| {
        let profiles = recording.store().profiles();
        profiles.iter().flat_map(|profile| &profile.tables).map(|table| table.lost).sum::<u64>()
    };
    assert_eq!(recordings.iter().map(found_no_room).sum::<u64>(), 0);
    for path in PATHS {
        let mut sums = [0; 5];
        for recording in &recordings {
            let found = counted(&recording.store(), path);
            sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
        assert_eq!(sums, [calls; 5], "{path}");
    }
}
