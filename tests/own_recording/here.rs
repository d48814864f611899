//! Profilers that end with their model, and profilers of a block, in recordings without a collector
//! and without room.

use std::sync::{Arc, mpsc};

use metaspy::prelude::*;
use metaspy::recording::Policy;

use crate::turn;

#[observe]
fn step() {}

#[test]
fn a_profiler_ends_after_the_last_arc_of_its_model_is_dropped() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(4 << 20).collector(false).start().expect("there are 4 MiB");
    let (model, other) = (Arc::new("a model"), Arc::new("another one"));
    let (send, ended) = mpsc::channel();
    let profiler =
        Profiler::new("model").observe(methods(site!(step))).install().expect("it is observed");
    let still =
        Profiler::new("other").observe(methods(site!(step))).install().expect("it is observed");
    profiler.until_dropped(&model, move |profile| _ = send.send(profile.counts().total()));
    still.until_dropped(&other, |_| unreachable!("its model lives"));
    step();
    let clone = Arc::clone(&model);
    drop(model);
    recording.collect();
    step();
    assert!(ended.try_recv().is_err(), "a clone lives");
    drop(clone);
    recording.collect();
    step();
    assert_eq!(ended.try_recv(), Ok(2));
    std::mem::forget(other);
}

#[test]
fn a_profile_of_a_block_without_an_event_is_not_exact() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(1 << 20).policy(Policy::KeepOldest).collector(false).start();
    let recording = recording.expect("there is 1 MiB");
    let block = || {
        Profiler::new("block").observe(methods(site!(step))).profile(step).expect("it is observed")
    };
    let ((), profile) = block();
    assert_eq!((profile.counts().total(), profile.counts().by_site().exact), (1, true));
    let filling =
        Profiler::new("filling").observe(methods(site!(step))).install().expect("it is observed");
    while recording.store().totals().lost == 0 {
        (0..10_000).for_each(|_| step());
        recording.collect();
    }
    drop(filling);
    let ((), profile) = block();
    assert_eq!((profile.counts().total(), profile.counts().by_site().exact), (1, false));
}
