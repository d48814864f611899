//! Subscriptions: every event is delivered once, and no hook waits for a subscriber.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::*;

/// Delivered events.
#[derive(Clone, Default)]
struct Delivered(Arc<Mutex<Vec<Event>>>);

impl Delivered {
    fn see(&self) -> impl FnMut(&Store, &Event) + Send + 'static {
        let delivered = self.clone();
        move |_, event| delivered.lock().push(*event)
    }

    fn events(&self) -> Vec<Event> {
        self.lock().clone()
    }

    /// Never waited for, as the thread sanitizer does not see how the standard library waits.
    fn lock(&self) -> MutexGuard<'_, Vec<Event>> {
        loop {
            match self.0.try_lock() {
                Ok(delivered) => return delivered,
                Err(_) => std::thread::yield_now(),
            }
        }
    }

    fn sites(&self, store: &Store) -> String {
        let name = |event: &Event| format!("{} {:?}", store.site_path(event.site), event.outcome);
        self.events().iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

#[test]
fn each_event_is_delivered_once_and_after_its_end() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let delivered = Delivered::default();
    let watching = installed.watch(Filter::all(), delivered.see());
    let outer = enter(&OUTER, node(1));
    enter(&INNER, node(2)).done(Outcome::Succeeded);
    recording.collect();
    assert_eq!(delivered.sites(&recording.store()), "log::INNER Succeeded");
    outer.done(Outcome::Failed);
    recording.collect();
    recording.collect();
    assert_eq!(delivered.sites(&recording.store()), "log::INNER Succeeded, log::OUTER Failed");
    // Events that ended before the subscription are delivered, with or without a collector.
    enter(&INNER, node(3)).done(Outcome::Returned);
    drop(watching);
    enter(&INNER, node(4)).done(Outcome::Returned);
    drop(installed);
    recording.collect();
    assert_eq!(delivered.events().len(), 3);
}

#[test]
fn a_small_ring_with_many_threads_delivers_each_event_once() {
    let _turn = turn();
    let recording = Recording::memory().budget(2 << 20).start().expect("there are 2 MiB");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let delivered = Delivered::default();
    let watching = installed.watch(Filter::all(), delivered.see());
    const EACH: u64 = 60_000;
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            std::thread::spawn(move || {
                let outer = enter(&OUTER, node(thread));
                for n in 0..EACH {
                    enter(&INNER, node(n % 16)).done(Outcome::Returned);
                }
                outer.done(Outcome::Returned);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    drop(watching);
    let profile = installed.uninstall();
    let counts = profile.counts().by_site();
    assert_eq!(counts.at("log::INNER").unwrap().measure.count, 4 * EACH);
    let events = delivered.events();
    let ids: HashSet<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), events.len(), "none is delivered twice");
    // A call without room is no event. All others were delivered, however often the ring went
    // round.
    let totals = recording.store().totals();
    assert_eq!(events.len() as u64, totals.stored + totals.folded, "{totals:?}");
    assert!(totals.folded > 0, "the ring went round: {totals:?}");
}

#[test]
fn only_events_of_the_profiler_that_pass_are_delivered() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
    enter(&OUTER, node(0)).done(Outcome::Returned);
    let one = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    let other = arm([&INNER, &NEVER], Arming::all(Mode::Full)).install().unwrap();
    let (first, second) = (Delivered::default(), Delivered::default());
    let watching = [
        one.watch(Filter::all(), first.see()),
        other.watch("outcome:failed cause:log::OUTER".parse().unwrap(), second.see()),
    ];
    let outer = enter(&OUTER, node(1));
    enter(&INNER, node(2)).done(Outcome::Failed);
    enter(&INNER, node(3)).done(Outcome::Succeeded);
    outer.done(Outcome::Failed);
    enter(&INNER, node(4)).done(Outcome::Failed);
    recording.collect();
    let store = recording.store();
    assert_eq!(
        (first.sites(&store).as_str(), second.sites(&store).as_str()),
        ("log::OUTER Failed", "log::INNER Failed")
    );
    drop(watching);
}

#[test]
fn a_receiver_may_panic_and_call_observed_functions() {
    let _turn = turn();
    let recording =
        Recording::memory().budget(1 << 20).collector(false).start().expect("there is 1 MiB");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    static TOLD: AtomicU64 = AtomicU64::new(0);
    TOLD.store(0, Ordering::Relaxed);
    let watching = installed.watch("site:log::OUTER".parse().unwrap(), |_, _| {
        TOLD.fetch_add(1, Ordering::Relaxed);
        // Its own event is at meta level: else this would never end.
        enter(&OUTER, node(9)).done(Outcome::Returned);
        std::panic::resume_unwind(Box::new("as asked for"));
    });
    for _ in 0..3 {
        enter(&OUTER, node(1)).done(Outcome::Returned);
    }
    for _ in 0..5 {
        recording.collect();
    }
    drop(watching);
    assert_eq!(TOLD.load(Ordering::Relaxed), 3);
    assert_eq!(recording.store().header().handler_panics, 3);
    drop(installed);
}

#[test]
fn an_event_that_left_the_window_is_delivered_as_moved() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is 1 MiB");
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let delivered = Delivered::default();
    let watching = installed.watch("site:log::OUTER".parse().unwrap(), delivered.see());
    let outer = enter(&OUTER, node(1));
    while delivered.events().is_empty() {
        enter(&INNER, node(2)).done(Outcome::Returned);
    }
    outer.done(Outcome::Returned);
    drop(watching);
    assert_eq!(
        delivered.events().iter().map(|event| event.outcome).collect::<Vec<_>>(),
        [Outcome::Moved]
    );
    drop(installed);
    recording.close();
}
