//! Taps that lag, and buses that misbehave: what was received and what was missed add up to what
//! was sent.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use metaspy::prelude::*;
use metaspy_instrumenters::channels::announcements;
use proptest::prelude::*;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::{count, events};
use crate::common::quietly;
use crate::turn;

/// A condition that is busy with an announcement until it receives a signal.
struct Busy {
    hears: Receiver<()>,
    go_on: Sender<()>,
}

fn busy<M>() -> (Busy, impl Fn(&M) -> bool + Send + 'static) {
    let ((heard, hears), (go_on, gate)) = (channel(), channel());
    let condition = move |_: &M| {
        // Once the sender is dropped, it is busy no longer.
        let _ = (heard.send(()), gate.recv());
        true
    };
    (Busy { hears, go_on }, condition)
}

impl Busy {
    /// Waits until it has heard something, and is busy with that.
    fn is_busy(&self) {
        self.hears.recv().expect("it hears something");
    }
}

fn gaps(profile: &Profile, missed: &str) -> Vec<u64> {
    let events = events(profile, &format!("site:{missed}"));
    events.iter().map(|event| profile.store().gap(event.id).expect("it carries its gap")).collect()
}

#[test]
fn overwritten_messages_are_a_gap_in_their_place() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(1);
    let (tap, condition) = busy();
    let profiler = Profiler::new("one")
        .observe(announcements(&bus).named("capacity_one").when(condition))
        .install();
    let profiler = profiler.expect("it is a bus");
    bus.send(0_u32).expect("there are receivers");
    tap.is_busy();
    (1..100).for_each(|n| _ = bus.send(n));
    drop(tap.go_on);
    let profile = profiler.uninstall();
    assert_eq!(
        (count(&profile, "capacity_one::u32"), count(&profile, "capacity_one::missed")),
        (2, 98)
    );
    assert_eq!(gaps(&profile, "capacity_one::missed"), [98]);
    let names: Vec<_> = events(&profile, "site:capacity_one::*")
        .iter()
        .map(|event| profile.store().site_path(event.site).to_owned())
        .collect();
    assert_eq!(names, ["capacity_one::u32", "capacity_one::missed", "capacity_one::u32"]);
    assert_eq!(profile.counts().total(), 100);
}

#[test]
fn a_bus_that_closes_during_a_lag_is_counted_read_to_end() {
    let _turn = turn();
    let (bus, _) = broadcast::channel(4);
    let (tap, condition) = busy();
    let profiler = Profiler::new("closes")
        .observe(announcements(&bus).named("closes").when(condition))
        .install();
    let profiler = profiler.expect("it is a bus");
    (0..2_u32).for_each(|n| _ = bus.send(n));
    tap.is_busy();
    (2..50).for_each(|n| _ = bus.send(n));
    drop(bus);
    drop(tap.go_on);
    let profile = profiler.uninstall();
    assert_eq!((count(&profile, "closes::u32"), count(&profile, "closes::missed")), (5, 45));
}

#[test]
fn a_tap_keeps_no_bus_open_and_ends_with_it() {
    let _turn = turn();
    let (bus, mut receiver) = broadcast::channel(4);
    let profiler = Profiler::new("open").observe(announcements(&bus).named("kept_open")).install();
    let profiler = profiler.expect("it is a bus");
    bus.send(1).expect("there are receivers");
    drop(bus);
    assert_eq!(receiver.blocking_recv(), Ok(1));
    assert_eq!(receiver.blocking_recv(), Err(RecvError::Closed));
    assert_eq!(profiler.uninstall().counts().total(), 1);
}

#[test]
fn a_tap_on_a_closed_bus_counts_nothing() {
    let _turn = turn();
    let (bus, receiver) = broadcast::channel::<u32>(4);
    let taps =
        [announcements(&bus).named("has_ended"), announcements(&receiver).named("has_ended")];
    drop(bus);
    for tap in taps {
        let profiler =
            Profiler::new("ended").observe(tap).install().expect("nothing is wrong with that");
        assert_eq!(profiler.uninstall().counts().total(), 0);
    }
}

#[test]
fn a_receiver_of_the_application_that_is_dropped_changes_nothing_for_the_tap() {
    let _turn = turn();
    let (bus, receiver) = broadcast::channel(4);
    let profiler = Profiler::new("dropped").observe(announcements(&bus).named("dropped")).install();
    let profiler = profiler.expect("it is a bus");
    bus.send(1).expect("there are receivers");
    drop(receiver);
    assert_eq!(bus.send(2).ok(), Some(1), "the tap is a receiver: that is what it disturbs");
    assert_eq!(profiler.uninstall().counts().total(), 2);
    assert!(bus.send(3).is_err());
}

/// Its clone panics if it is odd.
#[derive(Debug)]
struct Bomb(u32);

impl Clone for Bomb {
    fn clone(&self) -> Self {
        // On the tap's thread: printing a panic with its stack may take longer than an uninstall
        // waits for the tap.
        quietly(|| assert!(self.0.is_multiple_of(2), "{} is odd", self.0));
        Bomb(self.0)
    }
}

#[test]
fn a_message_whose_clone_panics_is_missed_and_the_tap_goes_on() {
    let _turn = turn();
    let (bus, mut receiver) = broadcast::channel(16);
    let profiler = Profiler::new("bombs")
        .observe(announcements(&bus).named("bombs"))
        .install()
        .expect("it is a bus");
    (0..9).for_each(|n| _ = bus.send(Bomb(n)));
    let profile = profiler.uninstall();
    assert_eq!((count(&profile, "bombs::Bomb"), count(&profile, "bombs::missed")), (5, 4));
    assert_eq!(
        receiver.try_recv().map(|Bomb(n)| n).ok(),
        Some(0),
        "the application gets what it got before"
    );
    quietly(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| receiver.try_recv())))
        .expect_err("it panics, as it did before");
}

#[test]
fn closures_that_panic_are_counted_and_lose_no_announcement() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    let tap = announcements(&bus).named("questions");
    let tap = tap.when(|n: &u32| *n != 0 || panic!("a condition")).subject(|n| -> u32 {
        if *n == 1 { panic!("a subject") } else { *n }
    });
    let tap = tap.kind(|n| if *n == 2 { panic!("a kind") } else { "number" });
    let profiler = Profiler::new("questions").observe(tap).install().expect("it is a bus");
    (0..4).for_each(|n| _ = bus.send(n));
    let profile = profiler.uninstall();
    assert_eq!(
        (count(&profile, "questions::number"), count(&profile, "questions::unknown")),
        (3, 1)
    );
    assert_eq!([0_u32, 1, 2, 3].map(|n| profile.count_of(n)), [1, 0, 1, 1]);
}

#[test]
fn announcements_that_left_the_window_still_add_up() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is a mebibyte");
    let (bus, _receiver) = broadcast::channel(64);
    let profiler = Profiler::new("window").observe(announcements(&bus).named("window")).install();
    let profiler = profiler.expect("it is a bus");
    (0..300_000_u32).for_each(|n| _ = bus.send(n));
    let profile = profiler.uninstall();
    assert_eq!(count(&profile, "window::u32") + count(&profile, "window::missed"), 300_000);
    let totals = recording.store().totals();
    assert_eq!(totals.emitted, 300_000, "{totals:?}");
}

#[test]
fn a_condition_may_use_the_bus_and_a_handler_of_the_tap_may_uninstall_it() {
    let _turn = turn();
    let (bus, mut receiver) = broadcast::channel(16);
    let (hand_over, handed_over) = channel::<metaspy::Installed>();
    let again = bus.downgrade();
    let (said, is_said) = channel();
    let tap = announcements(&bus).named("talks_back").when(move |n: &u32| {
        if *n == 0 {
            again
                .upgrade()
                .map(|bus| bus.send(1))
                .expect("the bus is open")
                .expect("there are receivers");
            drop(handed_over.recv().expect("it is handed over"));
            let _ = said.send(());
        }
        true
    });
    let profiler = Profiler::new("talks").observe(tap).install().expect("it is a bus");
    bus.send(0).expect("there are receivers");
    hand_over.send(profiler).expect("the tap waits");
    is_said.recv().expect("it uninstalled itself");
    assert_eq!([receiver.blocking_recv(), receiver.blocking_recv()], [Ok(0), Ok(1)]);
}

#[test]
fn an_uninstall_abandons_a_tap_that_stays_busy() {
    let _turn = turn();
    let recording = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let (bus, _receiver) = broadcast::channel(16);
    let (tap, condition) = busy();
    let (told, tells) = channel();
    let tapped =
        announcements(&bus).named("hangs").when(condition).each(move |n| _ = told.send(*n));
    let profiler = Profiler::new("hangs").observe(tapped).install().expect("it is a bus");
    (0..3_u32).for_each(|n| _ = bus.send(n));
    tap.is_busy();
    let profile = profiler.uninstall();
    // The one that it is busy with. What it has not received cannot be counted, so a note says that
    // it is missing.
    assert_eq!((profile.counts().total(), count(&profile, "hangs::missed")), (1, 1));
    let notes = recording.store().notes().join("\n");
    assert!(notes.contains("the tap `hangs` was still busy"), "{notes}");
    // Announcements that it receives afterwards belong to no profiler.
    drop(tap.go_on);
    while bus.receiver_count() > 1 {
        thread::yield_now();
    }
    assert_eq!((profile.counts().total(), recording.store().totals().emitted), (1, 1));
    assert_eq!(tells.try_iter().count(), 0, "no handler starts after that");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn received_and_missed_are_sent(
        capacity in 1_usize..40, senders in 1_usize..4, each in 0_u32..400, slow in prop::option::of(1_u32..20),
    ) {
        let _turn = turn();
        let (bus, receiver) = broadcast::channel(capacity);
        drop(receiver);
        let tap = announcements(&bus).named("adds_up").when(move |n: &u32| {
            if slow.is_some_and(|slow| n.is_multiple_of(slow)) {
                thread::yield_now();
            }
            true
        });
        let profiler = Profiler::new("adds up").observe(tap).install().expect("it is a bus");
        thread::scope(|scope| {
            for _ in 0..senders {
                scope.spawn(|| (0..each).for_each(|n| _ = bus.send(n)));
            }
        });
        let profile = profiler.uninstall();
        let missed = count(&profile, "adds_up::missed");
        prop_assert_eq!(count(&profile, "adds_up::u32") + missed, senders as u64 * u64::from(each));
        prop_assert_eq!(gaps(&profile, "adds_up::missed").iter().sum::<u64>(), missed);
    }
}
