//! Events as they happen.

use std::time::Duration;

use crate::turn;
use metaspy::prelude::*;
use tokio_stream::StreamExt;

struct Counter(u64);

#[observe]
impl Counter {
    fn add(&mut self, by: u64) {
        self.0 += by;
    }
    fn check(&self) -> Option<u64> {
        self.0.is_multiple_of(2).then_some(self.0)
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_program_watches_itself() {
    let _turn = turn();
    let profiler =
        Profiler::new("live").observe(methods("Counter::*")).install().expect("it is observed");
    let events = profiler.events_of("site:check outcome:failed".parse().expect("it is a filter"));
    let mut counter = Counter(0);
    for _ in 0..3 {
        counter.add(1);
        counter.check();
    }
    let first = events.next_within(LONG).expect("one is odd");
    let second = events.next_within(LONG).expect("three is");
    assert!(first.id < second.id);
    assert_eq!((events.try_next(), events.missed()), (None, 0));
    counter.add(2);
    counter.check();
    assert_eq!(events.catch_up().len(), 1);
    assert_eq!(events.next_within(Duration::from_millis(1)), None);
}

#[test]
fn a_slow_consumer_learns_how_many_events_it_missed() {
    let _turn = turn();
    let profiler =
        Profiler::new("slow").observe(methods("Counter::*")).install().expect("it is observed");
    let events = profiler.events_with("".parse().expect("it is a filter"), 10);
    let mut counter = Counter(0);
    (0..1_000).for_each(|_| counter.add(1));
    let taken = events.catch_up();
    assert_eq!((taken.len(), events.missed()), (10, 990));
    // The oldest are kept: they come in their order.
    assert!(taken.is_sorted_by_key(|event| event.id));
}

#[test]
fn events_are_a_stream() {
    let _turn = turn();
    let profiler =
        Profiler::new("stream").observe(methods("Counter::*")).install().expect("it is observed");
    let events = profiler.events();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let ids = runtime.block_on(async {
        let work = tokio::task::spawn_blocking(|| {
            let mut counter = Counter(0);
            (0..100).for_each(|_| counter.add(1));
        });
        let ids: Vec<_> = events.take(100).map(|event| event.id).collect().await;
        work.await.expect("it ends well");
        ids
    });
    assert!(ids.len() == 100 && ids.is_sorted());
}

#[test]
fn a_dropped_consumer_receives_nothing() {
    let _turn = turn();
    let profiler =
        Profiler::new("gone").observe(methods("Counter::*")).install().expect("it is observed");
    drop(profiler.events());
    let mut counter = Counter(0);
    counter.add(1);
    let events = profiler.events();
    counter.add(1);
    drop(profiler);
    // It outlives its profiler, and gets nothing more.
    assert_eq!(events.catch_up().len(), 1);
    counter.add(1);
    assert_eq!(events.catch_up().len(), 0);
}
