//! Taps that hear everything.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use metaspy::Carried;
use metaspy::prelude::*;
use metaspy_instrumenters::channels::{
    Callbacks, SpiedStream, announcements, announcements_in, proxied,
};
use tokio::sync::{broadcast, watch};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError::Lagged;

use super::{count, events};
use crate::turn;

#[derive(Clone, Debug, PartialEq)]
enum Job {
    Begun(u32),
    Done { job: u32 },
}

#[test]
fn the_kind_of_a_message_is_the_first_name_of_its_debug() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    let profiler = Profiler::new("jobs")
        .observe(announcements(&bus).named("by_debug"))
        .install()
        .expect("it is a bus");
    [Job::Begun(1), Job::Begun(2), Job::Done { job: 1 }]
        .into_iter()
        .for_each(|job| _ = bus.send(job));
    let profile = profiler.uninstall();
    assert_eq!([count(&profile, "by_debug::Begun"), count(&profile, "by_debug::Done")], [2, 1]);
    assert_eq!(profile.counts().total(), 3);
    let subjects = profile.counts().by_subject();
    assert_eq!(subjects.name(&subjects.rows[0]), "by_debug");
}

#[test]
fn derived_kinds_are_listed_also_those_that_never_come() {
    #[derive(Clone, Debug, Announce)]
    enum Change {
        Added(#[expect(dead_code, reason = "it is sent")] u32),
        #[expect(dead_code, reason = "it never comes")]
        r#Removed {
            node: u32,
        },
        Cleared,
    }
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    let tap = announcements(&bus).named("by_derive");
    let profiler = Profiler::new("changes").observe(tap).install().expect("it is a bus");
    bus.send(Change::Added(1)).expect("there are receivers");
    bus.send(Change::Cleared).expect("there are receivers");
    let profile = profiler.uninstall();
    assert_eq!(Change::KINDS, ["Added", "Removed", "Cleared"]);
    let counts = Change::KINDS.iter().map(|kind| count(&profile, &format!("by_derive::{kind}")));
    assert_eq!(counts.collect::<Vec<_>>(), [1, 0, 1]);
    assert!(
        metaspy::instrumenter::entries()
            .iter()
            .any(|entry| entry.site.path() == "by_derive::Removed")
    );
}

#[test]
fn closures_choose_kind_subject_and_announcements() {
    let _turn = turn();
    // Neither `Debug` nor `Announce`.
    #[derive(Clone)]
    struct Plain(u32);
    let (bus, _receiver) = broadcast::channel(64);
    let tap = announcements(&bus).named("by_closure");
    let tap =
        tap.kind(|Plain(n)| if n % 2 == 0 { "even" } else { "odd" }).when(|Plain(n)| *n >= 10);
    let tap = tap.subject(|Plain(n)| n % 5);
    let profiler = Profiler::new("numbers").observe(tap).install().expect("it is a bus");
    (0..20).for_each(|n| _ = bus.send(Plain(n)));
    let profile = profiler.uninstall();
    assert_eq!([count(&profile, "by_closure::even"), count(&profile, "by_closure::odd")], [5, 5]);
    assert_eq!((0..5_u32).map(|subject| profile.count_of(subject)).collect::<Vec<_>>(), [2; 5]);
}

#[test]
fn a_handler_runs_for_each_selected_announcement() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    let (give, given) = mpsc::channel();
    let tap = announcements(&bus).named("handled").when(|n: &u32| n % 2 == 1);
    let tap = tap
        .each(|n| assert_ne!(*n, 3, "the tap survives a panic"))
        .each(move |n| _ = give.send(*n));
    let profiler = Profiler::new("handled").observe(tap).install().expect("it is a bus");
    (0..6).for_each(|n| _ = bus.send(n));
    assert_eq!(profiler.uninstall().counts().total(), 3);
    assert_eq!(given.iter().collect::<Vec<_>>(), [1, 3, 5]);
}

#[test]
fn details_contain_the_message() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    let tap = announcements(&bus).named("shown").details();
    let profiler = Profiler::new("jobs").observe(tap).install().expect("it is a bus");
    bus.send(Job::Done { job: 7 }).expect("there are receivers");
    let profile = profiler.uninstall();
    let done = events(&profile, "site:shown::Done")[0];
    let details = profile.store().details(done.id);
    assert_eq!(
        (details[0].name.as_str(), details[0].value.as_str()),
        ("message", "Done { job: 7 }")
    );
}

#[test]
fn messages_that_wait_at_the_uninstall_are_counted() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(1024);
    for sent in [0_u32, 1, 2, 500] {
        let profiler =
            Profiler::new("waiting").observe(announcements(&bus).named("waiting")).install();
        let profiler = profiler.expect("it is a bus");
        (0..sent).for_each(|n| _ = bus.send(n));
        let profile = profiler.uninstall();
        assert_eq!(
            (profile.counts().total(), count(&profile, "waiting::u32")),
            (sent.into(), sent.into())
        );
        assert_eq!(bus.receiver_count(), 1, "the tap is gone");
    }
}

#[test]
fn messages_before_the_install_and_after_the_uninstall_are_not_counted() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(16);
    bus.send(1).expect("there are receivers");
    let tap = announcements(&bus).named("in_between");
    bus.send(2).expect("there are receivers");
    let profiler = Profiler::new("in between").observe(tap).install().expect("it is a bus");
    bus.send(3).expect("there are receivers");
    let profile = profiler.uninstall();
    bus.send(4).expect("there are receivers");
    assert_eq!(profile.counts().total(), 1);
}

#[test]
fn two_profilers_on_one_bus_each_count_what_was_sent_while_they_were_installed() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(64);
    let install = |name: &str| {
        Profiler::new(name)
            .observe(announcements(&bus).named("two_profilers"))
            .install()
            .expect("it is a bus")
    };
    let one = install("one");
    (0..10).for_each(|n| _ = bus.send(n));
    let two = install("two");
    assert_eq!(bus.receiver_count(), 3);
    (0..5).for_each(|n| _ = bus.send(n));
    let one = one.uninstall();
    (0..3).for_each(|n| _ = bus.send(n));
    let two = two.uninstall();
    assert_eq!([one.counts().total(), two.counts().total()], [15, 8]);
    // They agree on which bus it was.
    let subject = |profile: &Profile| profile.counts().by_subject().rows[0].subject;
    assert_eq!(subject(&one), subject(&two));
}

#[test]
fn two_taps_of_one_profiler_with_one_name_and_different_conditions_add_up() {
    let _turn = turn();
    let (bus, _receiver) = broadcast::channel(64);
    let small = announcements(&bus).named("conditions").when(|n| *n < 3);
    let large = announcements(&bus).named("conditions").when(|n| *n >= 8);
    let small = Profiler::new("small").observe(small).install().expect("it is a bus");
    let large = Profiler::new("large").observe(large).install().expect("it is a bus");
    (0..10).for_each(|n| _ = bus.send(n));
    assert_eq!([small.uninstall().counts().total(), large.uninstall().counts().total()], [3, 2]);
}

#[test]
fn a_tap_uninstalls_at_once_and_lists_its_side_effects() {
    let _turn = turn();
    let (bus, receiver) = broadcast::channel::<u32>(16);
    let tap = announcements(&receiver).named("prompt");
    assert!(tap.disturbs().contains("receiver_count() says one more"), "{}", tap.disturbs());
    let profiler = Profiler::new("prompt").observe(tap).install().expect("it is a bus");
    assert_eq!(bus.receiver_count(), 2);
    let began = Instant::now();
    drop(profiler);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(bus.receiver_count(), 1);
}

#[test]
fn a_tap_works_beside_a_runtime_of_one_thread_that_is_busy() {
    let _turn = turn();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let total = runtime.block_on(async {
        let (bus, mut receiver) = broadcast::channel(4);
        let (heard, hears) = mpsc::channel();
        let tap = announcements(&bus).named("one_thread").when(move |_| heard.send(()).is_ok());
        let profiler = Profiler::new("one thread").observe(tap).install().expect("it is a bus");
        for n in 0..100 {
            bus.send(n).expect("there are receivers");
            assert_eq!(receiver.recv().await, Ok(n));
            // The runtime's only thread waits for the tap, which needs it for nothing.
            hears.recv().expect("it is heard");
        }
        profiler.uninstall().counts().total()
    });
    assert_eq!(total, 100);
}

#[test]
fn a_tap_works_beside_a_runtime_of_many_threads() {
    let _turn = turn();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let (bus, _receiver) = broadcast::channel(4096);
    let tap = announcements(&bus).named("many_threads");
    let profiler = Profiler::new("many threads").observe(tap).install().expect("it is a bus");
    runtime.block_on(async {
        let send = |_| {
            let bus = bus.clone();
            tokio::spawn(async move {
                for n in 0..500_u32 {
                    bus.send(n).expect("there are receivers");
                    tokio::task::yield_now().await;
                }
            })
        };
        let sending: Vec<_> = (0..4).map(send).collect();
        for sending in sending {
            sending.await.expect("it sends");
        }
    });
    assert_eq!(profiler.uninstall().counts().total(), 2000);
}

#[test]
fn a_tap_of_a_watch_counts_the_changes_that_it_sees() {
    let _turn = turn();
    let (state, _receiver) = watch::channel(0);
    let ((heard, hears), (open, gate)) = (mpsc::channel(), mpsc::channel::<()>());
    let tap = announcements(&state)
        .named("a_watch")
        .when(move |n| heard.send(*n).is_ok() && gate.recv().is_ok());
    assert!(tap.disturbs().contains("are one change"));
    let profiler = Profiler::new("state").observe(tap).install().expect("it is a watch");
    state.send(1).expect("there are receivers");
    assert_eq!(hears.recv(), Ok(1));
    // 2 to 9 are missed: the tap is still busy with 1.
    (2..=10).for_each(|n| _ = state.send(n));
    open.send(()).expect("the tap waits");
    assert_eq!(hears.recv(), Ok(10));
    open.send(()).expect("the tap waits");
    let profile = profiler.uninstall();
    assert_eq!((count(&profile, "a_watch::i32"), count(&profile, "a_watch::missed")), (2, 0));
}

#[test]
fn the_last_change_of_a_watch_is_counted_after_its_sender_is_dropped() {
    let _turn = turn();
    let (state, receiver) = watch::channel(0);
    let profiler =
        Profiler::new("state").observe(announcements(&receiver).named("a_last_change")).install();
    let profiler = profiler.expect("it is a watch");
    state.send(1).expect("there are receivers");
    drop(state);
    assert_eq!(profiler.uninstall().counts().total(), 1);
}

#[test]
fn a_tapped_stream_reports_its_gaps() {
    let _turn = turn();
    let (bus, receiver) = broadcast::channel(4);
    (0..10_u32).for_each(|n| _ = bus.send(n));
    let tap = announcements_in(BroadcastStream::new(receiver), |item| match item {
        Err(Lagged(missed)) => Some(*missed),
        Ok(_) => None,
    });
    let profiler =
        Profiler::new("stream").observe(tap.named("a_stream")).install().expect("it is a stream");
    bus.send(10).expect("there are receivers");
    let profile = profiler.uninstall();
    let missed = count(&profile, "a_stream::missed");
    assert_eq!(count(&profile, "a_stream::Ok") + missed, 11);
    assert!((6..=7).contains(&missed), "{missed}");
}

#[test]
fn a_spied_stream_is_unchanged_and_its_items_are_events() {
    let _turn = turn();
    let items = [Ok(1), Err("noise"), Ok(2)];
    let mut spied = SpiedStream::new("passed_on", tokio_stream::iter(items));
    assert_eq!(tokio_stream::Stream::size_hint(&spied), (3, Some(3)));
    let sites = [spied.site("Ok"), spied.site("Err")];
    let profiler =
        Profiler::new("items").observe(proxied(sites)).install().expect("they are sites");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let passed = runtime.block_on(async {
        let mut passed = Vec::new();
        while let Some(item) = spied.next().await {
            passed.push(item);
        }
        passed
    });
    assert_eq!(passed, items);
    let profile = profiler.uninstall();
    assert_eq!([count(&profile, "passed_on::Ok"), count(&profile, "passed_on::Err")], [2, 1]);
    assert_eq!(profile.count_of(&spied), 3);
}

#[test]
fn an_item_of_a_stream_has_cause_subject_and_gap() {
    /// What is under way, and where it was sent.
    enum Sent {
        Here(Carried),
        Missed(u64),
    }
    let _turn = turn();
    let sender = ObjectId::new();
    let (about, bus) = (sender.identify(), Callbacks::new("envelopes"));
    // As bytes would carry it; the last one names no event.
    let carried = |bits: u64| Sent::Here(Carried::from_bits(bits));
    let sites = [
        bus.sent("letter"),
        SpiedStream::new("letters", tokio_stream::empty::<u32>()).site("letter"),
    ];
    let missed = SpiedStream::new("letters", tokio_stream::empty::<u32>()).site("missed");
    let profiler = Profiler::new("letters").observe(proxied(sites)).observe(proxied(missed));
    let profiler = profiler.install().expect("they are sites");
    let sent = bus.announce("letter", || carried(metaspy::carried().to_bits()));
    let items = [sent, Sent::Missed(4), carried(u64::MAX)];
    let mut letters =
        SpiedStream::new("letters", tokio_stream::iter(items).map(|item| (item, "letter")))
            .kind(|(_, kind): &(Sent, &str)| kind)
            .subject(move |_| about)
            .gaps(|(item, _)| if let Sent::Missed(missed) = item { Some(*missed) } else { None })
            .caused_by(
                |(item, _)| if let Sent::Here(sent) = item { *sent } else { Carried::NOTHING },
            );
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut received = Vec::new();
    runtime.block_on(async {
        while letters.next().await.is_some() {
            let _because = letters.because();
            assert_eq!(metaspy::current(), letters.received());
            received.extend(letters.received());
        }
    });
    assert_eq!(letters.received(), None, "it has ended");
    let profile = profiler.uninstall();
    let store = profile.store();
    let [letter, gap, stranger] = received.try_into().expect("three events");
    let cause = store.causes(letter).next().expect("the letter was sent");
    assert_eq!(store.site_path(cause.site), "envelopes::letter::sent");
    assert_eq!(
        (store.gap(gap), store.event(stranger).expect("it is there").cause),
        (Some(4), None)
    );
    assert_eq!([count(&profile, "letters::letter"), count(&profile, "letters::missed")], [2, 4]);
    // The two letters, and what was missed.
    assert_eq!(profile.count_of(&sender), 6);
}
