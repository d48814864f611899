//! Proxied channels of the standard library, crossbeam-channel, flume and async-channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::TrySendError;
use std::thread;

use metaspy::Outcome;
use metaspy::hook::CallView;
use metaspy::prelude::*;
use metaspy_instrumenters::channels::{Bus, async_channel, crossbeam, flume, proxied, std_mpsc};
use tokio::runtime::Builder;

use super::watching::{check_receipts, story, watching};
use super::{count, events};
use crate::turn;

/// A run over one message from each sender of a pair, and over the messages that wait afterwards.
macro_rules! check_library {
    ($bus:literal, $ends:expr, $send:ident, $recv:ident) => {{
        let (sender, receiver) = Bus::new($bus).details().wrap($ends);
        let ((), profile) = watching($bus, || {
            sender.$send(1).expect("there is a receiver");
            assert_eq!(receiver.$recv(), Ok(1));
            (2..5).for_each(|n| sender.$send(n).expect("there is a receiver"));
            assert_eq!(receiver.try_iter().collect::<Vec<u32>>(), [2, 3, 4]);
            assert!(receiver.try_recv().is_err());
            drop(receiver);
            let refused = sender.$send(5).expect_err("nothing receives it");
            assert_eq!(refused.0, 5);
        });
        check_receipts(&profile, $bus, 4);
        let sent = events(&profile, concat!("site:", $bus, "::sent"));
        let outcomes: Vec<Outcome> = sent.iter().map(|event| event.outcome).collect();
        assert_eq!(
            (&outcomes[..4], outcomes[4]),
            (&[Outcome::Succeeded; 4][..], Outcome::Failed),
            $bus
        );
    }};
}

#[test]
fn in_every_library_the_cause_of_a_receipt_is_its_sending() {
    let _turn = turn();
    check_library!("lib_std", std::sync::mpsc::channel(), send, recv);
    check_library!("lib_sync", std::sync::mpsc::sync_channel(8), send, recv);
    check_library!("lib_crossbeam", ::crossbeam_channel::bounded(8), send, recv);
    check_library!("lib_flume", ::flume::unbounded(), send, recv);
    check_library!("lib_async", ::async_channel::bounded(8), send_blocking, recv_blocking);
}

#[test]
fn a_message_that_is_refused_comes_back_and_its_sending_has_failed() {
    let _turn = turn();
    let (sender, _queue) = Bus::new("lib_full").wrap(std::sync::mpsc::sync_channel(1));
    let ((), profile) = watching("lib_full", || {
        assert_eq!(sender.try_send("first"), Ok(()));
        assert_eq!(sender.try_send("second"), Err(TrySendError::Full("second")));
    });
    assert_eq!(
        story(&profile, "lib_full"),
        ["sent succeeded <- nothing", "sent failed <- nothing"]
    );
}

#[test]
fn each_thread_has_a_handle_and_the_last_receipt_of_its_own() {
    let _turn = turn();
    let (sender, queue) = crossbeam::bounded::<u64>(4);
    let (sum, profile) = watching("u64::*", || {
        thread::scope(|scope| {
            let workers: Vec<_> = (0..3).map(|_| queue.clone()).collect();
            let workers = workers.into_iter().map(|queue| {
                scope.spawn(move || {
                    let (mut sum, mut receipts) = (0, Vec::new());
                    while let Ok(n) = queue.recv() {
                        sum += n;
                        receipts.push(queue.received().expect("it was recorded"));
                    }
                    (sum, receipts)
                })
            });
            let workers: Vec<_> = workers.collect();
            drop(queue);
            (0..300).for_each(|n| sender.send(n).expect("there are receivers"));
            drop(sender);
            let done: Vec<_> = workers
                .into_iter()
                .map(|worker| worker.join().expect("it does not panic"))
                .collect();
            let mut receipts: Vec<_> =
                done.iter().flat_map(|(_, receipts)| receipts).copied().collect();
            receipts.sort_unstable();
            receipts.dedup();
            assert_eq!(receipts.len(), 300, "each receipt has an event of its own");
            done.iter().map(|(sum, _)| sum).sum::<u64>()
        })
    });
    assert_eq!(
        (sum, count(&profile, "u64::sent"), count(&profile, "u64::received")),
        (44_850, 300, 300)
    );
}

#[test]
fn an_awaited_sending_ends_when_there_is_room_and_a_dropped_one_is_cancelled() {
    let _turn = turn();
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let (flumes, flume_queue) = Bus::new("lib_awaited").wrap(::flume::bounded(1));
    let (channels, channel_queue) = Bus::new("lib_awaited").wrap(::async_channel::bounded(1));
    let ((), profile) = watching("lib_awaited", || {
        runtime.block_on(async {
            flumes.send_async(1).await.expect("there is room");
            channels.send(1).await.expect("there is room");
            tokio::select! {
                biased;
                _ = flumes.send_async(2) => unreachable!("there is no room"),
                _ = channels.send(2) => unreachable!("there is no room"),
                () = std::future::ready(()) => {}
            }
            assert_eq!(
                (flume_queue.recv_async().await, channel_queue.recv().await),
                (Ok(1), Ok(1))
            );
        });
    });
    let story = story(&profile, "lib_awaited");
    let expected = [
        "sent succeeded <- nothing",
        "sent succeeded <- nothing",
        "sent cancelled <- nothing",
        "sent cancelled <- nothing",
        "received instant <- sent",
        "received instant <- sent",
    ];
    assert_eq!(story, expected);
}

#[test]
fn futures_and_handles_stay_send() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let (sender, queue) = is_send(flume::bounded::<String>(1));
    drop((is_send(sender.send_async(String::new())), is_send(queue.recv_async())));
    let (sender, queue) = is_send(async_channel::bounded::<String>(1));
    drop((is_send(sender.send(String::new())), is_send(queue.recv())));
    let (sender, queue) = is_send(std_mpsc::sync_channel::<String>(1));
    drop((is_send(sender), is_send(queue)));
}

#[derive(Debug)]
struct Job {
    pages: u32,
}

#[test]
fn handlers_get_the_message_by_its_type() {
    let _turn = turn();
    let (sender, queue) = Bus::new("lib_typed").details().wrap(std::sync::mpsc::channel());
    let pages = Arc::new(AtomicU32::new(0));
    let sum = Arc::clone(&pages);
    let add = move |call: &CallView<'_>| {
        let job = call.payload::<Job>().expect("it is a job");
        sum.fetch_add(job.pages, Relaxed);
    };
    let profiler =
        Profiler::new("pages").observe(proxied("lib_typed::received").before(add)).install();
    let profiler = profiler.expect("there is such a channel");
    for pages in [3, 4] {
        sender.send(Job { pages }).expect("there is a receiver");
        queue.recv().expect("there is a message");
    }
    assert_eq!((pages.load(Relaxed), profiler.uninstall().counts().total()), (7, 2));
}
