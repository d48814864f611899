//! Profilers of one thread, while other threads do the same.

use std::sync::Barrier;
use std::thread;

use metaspy::prelude::*;
use metaspy::tasks;

#[observe]
fn work() {}

const TESTS: u64 = 8;

#[test]
fn a_profiler_of_a_thread_has_what_the_thread_does_and_causes_and_nothing_else() {
    let barrier = Barrier::new(TESTS as usize);
    let test = |calls: u64| {
        let profiler = Profiler::new("here")
            .observe(methods(site!(work)))
            .install_here()
            .expect("it is observed");
        barrier.wait();
        (0..calls).for_each(|_| work());
        tasks::thread::spawn(work).join().expect("it does not panic");
        assert_eq!(profiler.so_far().counts().total(), calls + 1);
        barrier.wait();
        let counts = profiler.uninstall();
        assert_eq!((counts.counts().total(), counts.counts().by_site().exact), (calls + 1, true));
    };
    thread::scope(|scope| {
        let test = &test;
        (1..=TESTS).for_each(|number| _ = scope.spawn(move || test(10 * number)));
    });
}

#[test]
fn a_block_has_the_self_time_of_its_calls() {
    let ((), profile) =
        Profiler::new("block").observe(methods(site!(work))).profile(work).expect("it is observed");
    let rows = profile.counts().by_site();
    let measure = rows.at("parallel::work").expect("it was called").measure;
    assert_eq!((measure.count, measure.self_ticks), (1, Some(measure.total_ticks)));
    assert_eq!(rows.shares.self_time(&measure), (measure.total_ticks > 0).then_some(100.0));
    let table = rows.to_string();
    assert!(table.lines().next().is_some_and(|titles| titles.contains(" self ")), "{table}");
}
