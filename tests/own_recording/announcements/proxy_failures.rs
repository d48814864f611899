//! Channels whose other end is gone or too slow, whose receives are dropped half-way, and
//! recordings that move on.

use std::task::{Context, Poll, Waker};

use metaspy::Outcome;
use metaspy::prelude::*;
use metaspy_instrumenters::channels::Bus;
use metaspy_instrumenters::channels::proxied;
use tokio::runtime::Builder;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc::error::TrySendError;

use super::watching::{check_receipts, story, watching};
use super::{count, events};
use crate::turn;

#[test]
fn a_message_without_a_receiver_is_a_failed_sending() {
    let _turn = turn();
    let (news, reader) = Bus::new("px_failed").broadcast::<u32>(4);
    let (jobs, queue) = Bus::new("px_failed").mpsc::<u32>(1);
    let (answer, question) = Bus::new("px_failed").oneshot::<u32>();
    drop((reader, question));
    let ((), profile) = watching("px_failed", || {
        assert_eq!(news.send(1).map_err(|error| error.0), Err(1));
        assert_eq!(answer.send(2), Err(2));
        jobs.try_send(3).expect("there is room");
        assert!(matches!(jobs.try_send(4), Err(TrySendError::Full(4))));
        drop(queue);
        assert!(matches!(jobs.try_send(5), Err(TrySendError::Closed(5))));
        let runtime = Builder::new_current_thread().build().expect("a runtime");
        assert_eq!(runtime.block_on(jobs.send(6)).map_err(|error| error.0), Err(6));
        assert_eq!(jobs.blocking_send(7).map_err(|error| error.0), Err(7));
    });
    let outcomes = |outcome: Outcome| {
        events(&profile, "site:px_failed::sent")
            .iter()
            .filter(|event| event.outcome == outcome)
            .count()
    };
    assert_eq!([outcomes(Outcome::Succeeded), outcomes(Outcome::Failed)], [1, 6]);
}

#[test]
fn a_lagging_receiver_gets_its_error_and_the_gap_is_recorded() {
    let _turn = turn();
    let (news, mut reader) = Bus::new("px_lag").broadcast::<u32>(1);
    let ((), profile) = watching("px_lag", || {
        (0..10).for_each(|n| _ = news.send(n));
        assert_eq!(reader.try_recv(), Err(TryRecvError::Lagged(9)));
        assert_eq!(reader.blocking_recv(), Ok(9));
        (0..3).for_each(|n| _ = news.send(n));
        assert_eq!(reader.blocking_recv(), Err(RecvError::Lagged(2)));
        drop(news);
        assert_eq!(reader.blocking_recv(), Ok(2));
        assert_eq!(reader.blocking_recv(), Err(RecvError::Closed));
    });
    let counts =
        ["sent", "received", "missed"].map(|end| count(&profile, &format!("px_lag::{end}")));
    assert_eq!(counts, [13, 2, 11]);
    let gaps = events(&profile, "site:px_lag::missed");
    assert_eq!(
        gaps.iter().map(|gap| profile.store().gap(gap.id)).collect::<Vec<_>>(),
        [Some(9), Some(2)]
    );
}

#[test]
fn a_receive_that_select_drops_loses_no_message() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_select").mpsc::<u32>(4);
    let (news, mut reader) = Bus::new("px_select").broadcast::<u32>(4);
    let (state, mut seen) = Bus::new("px_select").watch(0_u32);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let ((), profile) = watching("px_select", || {
        runtime.block_on(async {
            for round in 0..20 {
                tokio::select! {
                    biased;
                    job = queue.recv() => panic!("{job:?} was not sent"),
                    news = reader.recv() => panic!("{news:?} was not sent"),
                    changed = seen.changed() => panic!("{changed:?}: nothing was sent"),
                    () = tokio::task::yield_now() => {}
                }
                jobs.send(round).await.expect("there is room");
                news.send(round).expect("there is a reader");
                state.send(round).expect("there is a receiver");
                assert_eq!(queue.recv().await, Some(round));
                assert_eq!(reader.recv().await, Ok(round));
                seen.changed().await.expect("it was sent");
            }
        });
    });
    assert_eq!(
        [count(&profile, "px_select::sent"), count(&profile, "px_select::received")],
        [60, 60]
    );
    check_receipts(&profile, "px_select", 60);
}

#[test]
fn a_change_in_place_that_panics_is_no_event() {
    let _turn = turn();
    let (state, seen) = Bus::new("px_panics").watch(0_u32);
    let ((), profile) = watching("px_panics", || {
        crate::common::panics(|| state.send_modify(|_| panic!("no change")))
    });
    assert_eq!(profile.counts().total(), 0);
    assert!(!seen.has_changed().expect("it is open"));
}

#[test]
fn unobserved_channels_make_no_events_and_into_inner_returns_the_channel() {
    let _turn = turn();
    let recording = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let (jobs, mut queue) = Bus::new("px_unarmed").mpsc::<u32>(4);
    jobs.try_send(1).expect("there is room");
    assert_eq!((queue.try_recv(), queue.received()), (Ok(1), None));
    assert_eq!(recording.store().totals().emitted, 0);
    let inside = queue.into_inner();
    assert_eq!((inside.max_capacity(), jobs.into_inner().capacity()), (4, 4));
}

#[test]
fn a_send_that_is_dropped_while_it_waits_for_room_sends_nothing() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_dropped").mpsc::<u32>(1);
    let ((), profile) = watching("px_dropped", || {
        jobs.try_send(1).expect("there is room");
        let mut waits = Box::pin(jobs.send(2));
        let mut context = Context::from_waker(Waker::noop());
        assert!(matches!(waits.as_mut().poll(&mut context), Poll::Pending));
        drop(waits);
        assert_eq!(queue.try_recv(), Ok(1));
        assert!(queue.try_recv().is_err());
    });
    assert_eq!(profile.counts().total(), 2);
}

#[test]
fn events_that_left_the_window_still_add_up_on_every_thread() {
    const EACH: u64 = 60_000;
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is a mebibyte");
    let (jobs, mut queue) = Bus::new("px_window").mpsc::<u64>(64);
    let profiler = Profiler::new("window")
        .observe(proxied("px_window::*"))
        .install()
        .expect("it is a channel");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let jobs = jobs.clone();
            scope.spawn(move || {
                for n in 0..EACH {
                    match n % 3 {
                        0 => jobs.blocking_send(n).expect("there is a receiver"),
                        _ => while jobs.try_send(n).is_err() {},
                    }
                }
            });
        }
        drop(jobs);
        let received =
            scope.spawn(move || std::iter::from_fn(|| queue.blocking_recv()).count() as u64);
        assert_eq!(received.join().expect("it receives"), 3 * EACH);
    });
    let profile = profiler.uninstall();
    let rows = profile.counts().by_site();
    let measure = |end: &str| rows.at(&format!("px_window::{end}")).expect("it was used").measure;
    let (sent, received) = (measure("sent"), measure("received"));
    assert_eq!((sent.count - sent.failed, received.count), (3 * EACH, 3 * EACH));
    assert_eq!((sent.running, sent.panicked, received.running, received.failed), (0, 0, 0, 0));
    let totals = recording.store().totals();
    assert_eq!((totals.emitted, totals.unnamed), (sent.count + received.count, 0), "{totals:?}");
}

#[test]
fn a_message_that_was_sent_in_another_recording_has_no_cause_in_this_one() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_recordings").mpsc::<u32>(4);
    let ((), _) = watching("px_recordings", || jobs.try_send(1).expect("there is room"));
    let _another = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let ((), profile) = watching("px_recordings", || assert_eq!(queue.try_recv(), Ok(1)));
    assert_eq!(story(&profile, "px_recordings"), ["received instant <- nothing"]);
}
