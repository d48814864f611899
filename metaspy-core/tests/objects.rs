//! `Allocations` and `Counting`: objects by the context that allocated them, compared with a
//! counter that is not ours.

use std::alloc::System;
use std::sync::Barrier;
use std::thread;

use metaspy_core::hook::Counting;
use metaspy_core::method_profilers::Allocations;
use metaspy_core::store::{ProfileTable, RowKey};
use metaspy_core::{Profiler, Recording, Store};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, Stats, StatsAlloc};

/// The counter is inside, so it sees the requests that reach the system.
#[global_allocator]
static ALLOCATOR: Counting<&'static StatsAlloc<System>> = Counting::new(&INSTRUMENTED_SYSTEM);

/// Bytes of an object's birth, at an alignment of at most 16.
const BIRTH: u64 = 16;

/// Text in JSON, of a hundred objects with lists and texts.
fn text() -> String {
    let object = |number: u32| {
        format!(
            r#"{{"id": {number}, "name": "n{number}", "list": [1, 2.5, null, "{number:>40}"]}}"#
        )
    };
    format!("[{}]", (0..100).map(object).collect::<Vec<_>>().join(","))
}

/// A published crate at work: objects are allocated, resized and freed.
fn parses(text: &str) -> serde_json::Value {
    metaspy_probe::hook!("parses", 1, 1, "c=1 self=none", [], []);
    let value: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
    serde_json::from_str(&value.to_string()).expect("it is still JSON")
}

/// Copies, which resize nothing.
fn copies(value: &serde_json::Value) -> serde_json::Value {
    metaspy_probe::hook!("copies", 2, 2, "c=1 self=none", [], []);
    drop(value.clone());
    value.clone()
}

/// What was counted in contexts of a method: objects, bytes, freed ones, their bytes, and their
/// lifetime.
fn counted(store: &Store, method: &str) -> [u64; 5] {
    let profile = store.profile("allocations").expect("it was installed");
    let table: &ProfileTable = profile.table("tree").expect("it was declared");
    assert_eq!(table.lost, 0);
    let rows = table
        .rows
        .iter()
        .filter(|row| matches!(row.key, RowKey::Context(site, _) if store.site_path(site).ends_with(method)));
    let mut sums = [0; 5];
    for row in rows {
        for (sum, column) in
            sums.iter_mut().zip(["objects", "bytes", "freed", "freed bytes", "lifetime"])
        {
            *sum += table.value(row.key, column).number().unwrap_or(0);
        }
    }
    sums
}

/// The other counter's numbers: objects and freed ones, with the resized ones in both.
fn objects(stats: &Stats) -> (u64, u64) {
    let resized = stats.reallocations as u64;
    (stats.allocations as u64 + resized, stats.deallocations as u64 + resized)
}

/// Runs `work` on two threads at once, and returns what the other counter saw meanwhile. Each
/// thread has run it before.
fn on_two_threads<R: Send>(work: impl Fn() -> R + Sync) -> (Stats, Vec<R>) {
    let barrier = Barrier::new(3);
    thread::scope(|scope| {
        let worker = || {
            drop(work());
            barrier.wait();
            barrier.wait();
            let result = work();
            barrier.wait();
            barrier.wait();
            result
        };
        let workers = [scope.spawn(worker), scope.spawn(worker)];
        barrier.wait();
        let region = Region::new(&INSTRUMENTED_SYSTEM);
        barrier.wait();
        barrier.wait();
        let stats = region.change();
        barrier.wait();
        (stats, workers.map(|worker| worker.join().expect("it works")).into())
    })
}

/// One test: the other counter also counts what the harness allocates when a test begins or ends.
#[test]
fn objects_are_counted_as_another_counter_does() {
    totals_of_two_threads_are_those_of_another_counter();
    bytes_are_those_of_another_counter_and_objects_belong_to_the_method_that_allocates_them();
    the_peak_is_the_most_that_was_alive_at_once();
    objects_of_any_alignment_and_size_stay_whole();
}

fn totals_of_two_threads_are_those_of_another_counter() {
    let recording = Recording::memory().collector(false).start().expect("there is memory");
    let text = text();
    for _ in 0..2 {
        let profiler = Profiler::new("objects")
            .method_profiler(Allocations::default())
            .install()
            .expect("there is room");
        let (stats, kept) = on_two_threads(|| parses(&text));
        let once = counted(&recording.store(), "::parses").map(|sum| sum / 2);
        drop(profiler);
        assert!(stats.allocations > 1_000 && stats.reallocations > 2, "{stats:?}");
        let (all, freed) = objects(&stats);
        // Each thread ran twice; the first results are freed, the second ones are kept.
        let live = stats.bytes_allocated as u64 - stats.bytes_deallocated as u64;
        let [counted_objects, bytes, counted_freed, freed_bytes, lifetime] = once;
        assert_eq!(counted_objects, all, "{stats:?}");
        // Beside the objects that were freed meanwhile, half of all results were freed.
        assert_eq!(counted_freed, freed + (all - freed) / 2, "{stats:?}");
        assert_eq!((bytes - freed_bytes) * 2 + BIRTH * (all - freed), live, "{stats:?}");
        assert!(lifetime > 0);
        drop(kept);
    }
}

fn bytes_are_those_of_another_counter_and_objects_belong_to_the_method_that_allocates_them() {
    let recording = Recording::memory().collector(false).start().expect("there is memory");
    let value = parses(&text());
    let profiler = Profiler::new("objects")
        .method_profiler(Allocations::default())
        .install()
        .expect("there is room");
    let (stats, kept) = on_two_threads(|| copies(&value));
    let sums = counted(&recording.store(), "::copies");
    assert_eq!(stats.reallocations, 0, "copies have the right size at once");
    assert_eq!(sums[0], 2 * stats.allocations as u64);
    assert_eq!(sums[1], 2 * (stats.bytes_allocated as u64 - BIRTH * stats.allocations as u64));
    // Freed by the thread of the test, which did not allocate them.
    drop(kept);
    let [objects, bytes, freed, freed_bytes, _] = counted(&recording.store(), "::copies");
    assert_eq!((objects, bytes), (freed, freed_bytes));
    assert_eq!(counted(&recording.store(), "::parses"), [0; 5], "they were allocated before");
    drop(profiler);
    let after = copies(&value);
    assert_eq!(counted(&recording.store(), "::copies")[0], objects);
    drop(after);
}

fn the_peak_is_the_most_that_was_alive_at_once() {
    let recording = Recording::memory().collector(false).start().expect("there is memory");
    let profiler = Profiler::new("objects")
        .method_profiler(Allocations::default())
        .install()
        .expect("there is room");
    for _ in 0..3 {
        drop((vec![0_u8; 10 << 20], vec![0_u8; 10 << 20]));
    }
    drop(vec![0_u8; 15 << 20]);
    drop(profiler);
    let store = recording.store();
    let profile = store.profile("allocations").expect("it was installed");
    let table = profile.table("tree").expect("it was declared");
    let peaks = table.rows.iter().filter_map(|row| table.value(row.key, "peak").number());
    let peak = peaks.max().expect("there is one");
    assert!((20 << 20..21 << 20).contains(&peak), "{peak}");
}

fn objects_of_any_alignment_and_size_stay_whole() {
    use std::alloc::{Layout, alloc, alloc_zeroed, dealloc, realloc};
    for align in [1, 2, 8, 16, 32, 64, 4096] {
        for size in [1, 7, 16, 100, 5000] {
            let layout = Layout::from_size_align(size, align).expect("it is a layout");
            // SAFETY: each object is written within its size, and freed with its layout.
            unsafe {
                let object = alloc(layout);
                assert_eq!(object.addr() % align, 0);
                object.write_bytes(7, size);
                let object = realloc(object, layout, size * 3);
                assert_eq!(object.addr() % align, 0);
                assert!((0..size).all(|at| *object.add(at) == 7));
                dealloc(object, Layout::from_size_align(size * 3, align).expect("it is a layout"));
                let zeroes = alloc_zeroed(layout);
                assert!((0..size).all(|at| *zeroes.add(at) == 0));
                dealloc(zeroes, layout);
            }
        }
    }
}
