//! Allocations as events, in a program whose allocator reports them.
#![cfg(all(feature = "record", any(target_os = "linux", target_vendor = "apple", windows)))]

use std::alloc::System;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::thread;

use metaspy::prelude::*;
use metaspy::store::By;
use metaspy::{Store, store};
use metaspy_core::hook::SpiedAllocator;

#[global_allocator]
static ALLOCATOR: SpiedAllocator<System> = SpiedAllocator::new(System);

#[observe]
fn build(bytes: usize) -> Vec<u8> {
    black_box(Vec::with_capacity(bytes))
}

/// Allocations of this size at a site.
fn count(store: &Store, scope: &store::Scope, site: &str, bytes: u64) -> u64 {
    let rows = store.tally(By::SiteSubject, scope).rows;
    let is_it = |row: &&store::TallyRow| {
        row.site.is_some_and(|at| store.site_path(at) == site)
            && row.subject.is_some_and(|of| of.key == bytes)
    };
    rows.iter().find(is_it).map_or(0, |row| row.measure.count)
}

#[test]
fn an_allocation_is_an_effect_of_the_call_that_makes_it() {
    let profiler =
        Profiler::new("allocations").observe(methods("alloc::*")).observe(methods(site!(build)));
    let ((), profile) = profiler.profile(|| drop(build(12_345))).expect("it is observed");
    let (store, scope) = (profile.store(), profile.scope());
    assert_eq!(
        ["alloc::allocate", "alloc::free"].map(|site| count(store, scope, site, 12_345)),
        [1, 1]
    );
    let filter = "site:alloc::allocate subject:#12345 cause:build".parse().expect("a filter");
    let inside = store.tally(By::Site, &store::Scope { filter, ..scope.clone() });
    assert_eq!(inside.rows.iter().map(|row| row.measure.count).sum::<u64>(), 1);
}

#[test]
fn threads_whose_first_hook_is_in_an_allocation_are_counted() {
    const THREADS: u64 = 16;
    let profiler =
        Profiler::new("threads").observe(methods("alloc::*").mode(Mode::Tally)).install();
    let profiler = profiler.expect("it is observed");
    thread::scope(|scope| {
        (0..THREADS).for_each(|_| {
            scope.spawn(|| {
                (0..1_000).for_each(|_| drop(black_box(Vec::<u8>::with_capacity(54_321))))
            });
        });
    });
    let profile = profiler.uninstall();
    assert_eq!(count(profile.store(), profile.scope(), "alloc::allocate", 54_321), THREADS * 1_000);
}

/// The program of a child process.
#[test]
fn allocates() {
    let pieces: Vec<Vec<u8>> = (0..100).map(|_| black_box(Vec::with_capacity(98_765))).collect();
    assert_eq!(pieces.len(), 100);
}

#[test]
fn a_program_is_recorded_from_its_first_allocation() {
    let path = std::env::temp_dir().join(format!("metaspy-allocations-{}.spy", std::process::id()));
    let mut program = Command::new(std::env::current_exe().expect("a test knows its own program"));
    program
        .args(["allocates", "--exact"])
        .env("METASPY_RECORD", &path)
        .env("METASPY_OBSERVE", "alloc::*");
    let status = program.stdout(Stdio::null()).status().expect("it can be run again");
    assert!(status.success());
    let store = Store::open(&path).expect("it was recorded");
    let _ = std::fs::remove_file(path);
    assert!(count(&store, &store::Scope::default(), "alloc::allocate", 98_765) >= 100);
}

/// The program of a child process. Its one thread begins a recording while it is observed.
#[test]
#[cfg(target_os = "linux")]
fn begins_another_recording() {
    if std::env::var_os("BEGINS").is_none() {
        return;
    }
    let first = Recording::memory().start().expect("it can be recorded");
    let _observed =
        Profiler::new("all").observe(methods("alloc::*")).install().expect("it is observed");
    let second = Recording::memory().start().expect("it can be recorded");
    // Its collector has begun.
    let before = second.store().header().last_tick;
    while second.store().header().last_tick == before {
        thread::yield_now();
    }
    let this = std::fs::read_link("/proc/thread-self").expect("it has a number");
    let own = [
        this.file_name().and_then(|tid| tid.to_str()?.parse().ok()),
        Some(std::process::id().into()),
    ];
    for recording in [first, second] {
        let store = recording.store();
        let others = store.lanes().into_iter().filter(|lane| !own.contains(&Some(lane.thread)));
        for lane in others {
            let filter = format!("lane:{} level:0", lane.id.0).parse().expect("a filter");
            let rows =
                store.tally(By::Site, &store::Scope { filter, ..store::Scope::default() }).rows;
            let sites: Vec<&str> =
                rows.iter().filter_map(|row| Some(store.site_path(row.site?))).collect();
            assert!(sites.is_empty(), "{lane:?}: {sites:?}");
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn threads_of_metaspy_allocate_nothing_of_the_program() {
    for _ in 0..10 {
        let mut program =
            Command::new(std::env::current_exe().expect("a test knows its own program"));
        program
            .args(["begins_another_recording", "--exact", "--test-threads=1"])
            .env("BEGINS", "1");
        let output = program.output().expect("it can be run again");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
