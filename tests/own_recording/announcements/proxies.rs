//! Channels both of whose ends are watched.

use metaspy::prelude::*;
use metaspy_instrumenters::channels::{Bus, broadcast, mpsc, oneshot, watch};
use metaspy_instrumenters::channels::{Callbacks, proxied};
use tokio::runtime::Builder;
use tokio::sync::mpsc::error::TrySendError;

use super::watching::{check_receipts, story, watching};
use super::{count, events};
use crate::turn;

#[observe]
fn handle_request(run: impl FnOnce()) {
    run();
}

#[observe]
fn reply() {}

#[test]
fn the_cause_of_a_receipt_is_its_sending() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_causes").mpsc::<u32>(4);
    let functions = Profiler::new("functions")
        .observe(methods(site!(reply)))
        .observe(methods("proxies::handle_request"));
    let functions = functions.install().expect("they are observed");
    let ((), profile) = watching("px_causes", || {
        handle_request(|| jobs.try_send(1).expect("there is room"));
        assert_eq!(queue.try_recv(), Ok(1));
        let _because = queue.because();
        reply();
    });
    drop(functions);
    assert_eq!(
        story(&profile, "px_causes"),
        ["sent succeeded <- handle_request", "received instant <- sent"]
    );
    check_receipts(&profile, "px_causes", 1);
    let replied = events(&profile, "site:proxies::reply");
    assert_eq!(
        replied[0].cause,
        queue.received(),
        "what the receiver does next hangs under the receipt"
    );
    assert_eq!(profile.count_of(&jobs), 2);
    assert_eq!(jobs.identify(), queue.identify());
    let name = profile.store().subject_text(jobs.identify());
    assert_eq!(name, "px_causes #1");
}

#[test]
fn a_sending_that_does_not_wait_has_a_start_and_no_length() {
    let _turn = turn();
    let (jobs, queue) = Bus::new("px_length").wrap(std::sync::mpsc::channel());
    // Without details: with them, a sending is a call.
    let profiler = Profiler::new("px_length")
        .observe(proxied("px_length::*"))
        .install()
        .expect("the channel is there");
    jobs.send(1).expect("there is a receiver");
    assert_eq!(queue.try_recv(), Ok(1));
    let profile = profiler.uninstall();
    let sent = &events(&profile, "site:px_length::sent")[0];
    assert_eq!((sent.outcome, sent.timed, sent.span), (Outcome::Succeeded, false, None));
    let received = queue.received().expect("it was observed");
    let queued = profile.store().queued(received).expect("both are in the window");
    assert!(queued > 0, "the start of the sending is read from the clock");
}

#[test]
fn in_every_channel_the_cause_of_a_receipt_is_its_sending() {
    let _turn = turn();
    let (news, mut reader) = Bus::new("px_broadcast").broadcast::<u32>(4);
    let mut second = news.subscribe();
    let (numbers, mut queue) = Bus::new("px_unbounded").unbounded::<u32>();
    let (answer, question) = Bus::new("px_oneshot").oneshot::<u32>();
    let (state, mut seen) = Bus::new("px_watch").watch(0_u32);
    let ((), profile) = watching("px_*", || {
        assert_eq!(news.send(1).ok(), Some(2));
        assert_eq!((reader.blocking_recv(), second.try_recv()), (Ok(1), Ok(1)));
        numbers.send(2).expect("there is a receiver");
        assert_eq!(queue.blocking_recv(), Some(2));
        answer.send(3).expect("there is a receiver");
        assert_eq!(question.blocking_recv(), Ok(3));
        state.send(4).expect("there is a receiver");
        assert_eq!(*seen.borrow_and_update(), 4);
        assert_eq!(*seen.borrow_and_update(), 4);
        assert_eq!(*seen.borrow(), 4);
    });
    for (bus, receipts) in
        [("px_broadcast", 2), ("px_unbounded", 1), ("px_oneshot", 1), ("px_watch", 1)]
    {
        check_receipts(&profile, bus, receipts);
        assert_eq!(count(&profile, &format!("{bus}::sent")), 1, "{bus}");
    }
}

#[test]
fn causes_cross_threads_and_tasks() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_tasks").mpsc::<u32>(4);
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let (sum, profile) = watching("px_tasks", || {
        runtime.block_on(async {
            for sender in 0..4 {
                let jobs = jobs.clone();
                tokio::spawn(async move {
                    for n in 0..250 {
                        jobs.send(sender * 1000 + n).await.expect("there is a receiver");
                    }
                });
            }
            drop(jobs);
            let (mut sum, mut several) = (0, Vec::new());
            while queue.recv_many(&mut several, 7).await > 0 {
                sum += several.drain(..).map(u64::from).sum::<u64>();
            }
            sum
        })
    });
    assert_eq!(sum, (0..4).map(|sender| 250 * sender * 1000 + 249 * 250 / 2).sum::<u64>());
    check_receipts(&profile, "px_tasks", 1000);
}

#[test]
fn a_proxied_watch_has_one_receipt_for_each_seen_change() {
    let _turn = turn();
    let (state, mut seen) = Bus::new("px_conflates").watch(0_u32);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let ((), profile) = watching("px_conflates", || {
        runtime.block_on(async {
            (1..=3).for_each(|n| _ = state.send(n));
            seen.changed().await.expect("it was sent");
            assert_eq!(*seen.borrow_and_update(), 3);
            assert!(!seen.has_changed().expect("it is open"));
            state.send_modify(|n| *n += 1);
            assert!(!state.send_if_modified(|_| false), "nothing is sent");
            assert_eq!(*seen.wait_for(|n| *n == 4).await.expect("it is"), 4);
            assert_eq!(state.send_replace(5), 4);
        });
    });
    assert_eq!(
        [count(&profile, "px_conflates::sent"), count(&profile, "px_conflates::received")],
        [5, 2]
    );
    let receipts = events(&profile, "site:px_conflates::received");
    let sendings = events(&profile, "site:px_conflates::sent");
    assert_eq!(
        receipts.iter().map(|receipt| receipt.cause).collect::<Vec<_>>(),
        [2, 3].map(|n| Some(sendings[n].id))
    );
}

#[derive(Clone, Debug, Announce)]
enum Job {
    Begun(#[expect(dead_code, reason = "it is shown")] u32),
    Done,
}

#[test]
fn kinds_of_messages_have_sites_and_details_have_message_and_line() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_kinds").kinds().details().mpsc(4);
    let listed: Vec<String> =
        metaspy::instrumenter::entries().iter().map(|entry| entry.site.path()).collect();
    for site in ["Begun::sent", "Begun::received", "Done::sent", "Done::received"] {
        assert!(
            listed.contains(&format!("px_kinds::{site}")),
            "{site} is listed before a message has the kind"
        );
    }
    let run = |jobs: &mpsc::Sender<Job>, queue: &mut mpsc::Receiver<Job>| {
        [Job::Begun(7), Job::Done, Job::Done]
            .into_iter()
            .for_each(|job| jobs.try_send(job).expect("there is room"));
        (0..3).for_each(|_| _ = queue.try_recv());
    };
    run(&jobs, &mut queue);
    let ((), profile) = watching("px_kinds", || run(&jobs, &mut queue));
    let sites = ["Begun::sent", "Begun::received", "Done::sent", "Done::received"];
    assert_eq!(sites.map(|site| count(&profile, &format!("px_kinds::{site}"))), [1, 1, 2, 2]);
    let begun = events(&profile, "site:px_kinds::Begun::sent")[0];
    let details = profile.store().details(begun.id);
    let details: Vec<_> =
        details.iter().map(|detail| (detail.name.as_str(), detail.value.as_str())).collect();
    assert_eq!(details[0], ("message", "Begun(7)"));
    assert!(details[1].0 == "caller" && details[1].1.contains("proxies.rs:"), "{details:?}");
}

#[test]
fn the_constructors_are_those_of_tokio_and_name_the_channel_after_its_messages() {
    struct Parcel;
    let _turn = turn();
    let (sender, _receiver) = mpsc::channel::<Parcel>(1);
    let (_again, _receiver) = mpsc::unbounded_channel::<Parcel>();
    let ((), profile) = watching("Parcel", || assert!(sender.try_send(Parcel).is_ok()));
    assert_eq!(
        count(&profile, "announcements::proxies::Parcel::sent"),
        0,
        "a local type is where it stands"
    );
    assert_eq!((profile.counts().total(), profile.count_of(&sender)), (1, 1));
    let (_news, _reader) = broadcast::channel::<u8>(1);
    let (_state, _seen) = watch::channel(0_u8);
    let (_answer, _question) = oneshot::channel::<u8>();
}

#[test]
fn without_observed_sendings_the_cause_is_the_event_around_the_sender() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_half").mpsc::<u32>(4);
    let profiler = Profiler::new("half").observe(methods("proxies::handle_request"));
    let profiler =
        profiler.observe(proxied("px_half::received")).install().expect("they are observed");
    handle_request(|| jobs.try_send(1).expect("there is room"));
    assert_eq!(queue.try_recv(), Ok(1));
    let profile = profiler.uninstall();
    assert_eq!(story(&profile, "px_half"), ["received instant <- handle_request"]);
}

#[test]
fn a_used_permit_is_an_event_and_a_returned_one_is_not() {
    let _turn = turn();
    let (jobs, mut queue) = Bus::new("px_permits").mpsc::<u32>(4);
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let ((), profile) = watching("px_permits", || {
        runtime.block_on(async {
            jobs.reserve().await.expect("there is room").send(1);
            drop(jobs.try_reserve().expect("there is room"));
            for (permit, n) in jobs.reserve_many(2).await.expect("there is room").zip(2..) {
                permit.send(n);
            }
            let owned = jobs.clone().reserve_owned().await.expect("there is room");
            let jobs = owned.send(4).downgrade().upgrade().expect("there are others");
            assert!(matches!(jobs.try_reserve_owned(), Err(TrySendError::Full(_))));
            for n in 1..=4 {
                assert_eq!(queue.recv().await, Some(n));
            }
        });
    });
    assert_eq!(
        [count(&profile, "px_permits::sent"), count(&profile, "px_permits::received")],
        [4, 4]
    );
    check_receipts(&profile, "px_permits", 4);
}

#[test]
fn the_cause_of_a_callback_is_its_caller() {
    let _turn = turn();
    let editor = Callbacks::new("px_editor");
    let on_save: [Box<dyn Fn()>; 2] =
        [(); 2].map(|()| Box::new(move || editor.callback("saved", || ())) as _);
    let sites = [editor.sent("saved"), editor.received("saved")];
    let profiler =
        Profiler::new("saving").observe(proxied(sites)).install().expect("they are sites");
    editor.announce("saved", || on_save.iter().for_each(|callback| callback()));
    let profile = profiler.uninstall();
    let expected =
        ["sent returned <- nothing", "received returned <- sent", "received returned <- sent"];
    assert_eq!(story(&profile, "px_editor"), expected);
    assert_eq!(profile.count_of(editor), 3);
}

#[test]
fn one_of_several_channels_with_one_name_can_be_selected() {
    let _turn = turn();
    let [(one, _), (two, _)] = [(); 2].map(|()| Bus::new("px_chosen").broadcast::<u32>(4));
    let chosen = objects([&two], "px_chosen::sent");
    let profiler = Profiler::new("chosen").observe(chosen).install().expect("they are channels");
    for _ in 0..3 {
        assert!(one.send(1).is_err() && two.send(2).is_err(), "there is no receiver");
    }
    let profile = profiler.uninstall();
    assert_eq!([profile.count_of(&one), profile.count_of(&two)], [0, 3]);
    assert_eq!(
        profile.counts().by_site().at("px_chosen::sent").expect("it was used").measure.failed,
        3
    );
}

#[test]
fn handles_and_futures_are_send_and_sync_like_those_of_tokio() {
    use std::cell::Cell;
    use std::fmt::Debug;

    fn everywhere<T: Send + Sync + Unpin + Debug>(_: &T) {}
    fn to_a_task<T: Send>(_: T) {}
    /// Neither `Sync` nor `Debug`.
    #[derive(Clone)]
    struct Message(#[expect(dead_code, reason = "it is sent")] Cell<u8>);

    let (sender, mut receiver) = mpsc::channel::<Message>(1);
    everywhere(&(&sender, sender.downgrade(), sender.try_reserve().expect("there is room")));
    everywhere(&receiver);
    to_a_task(async move { sender.send(Message(Cell::new(1))).await.is_ok() });
    to_a_task(async move {
        (receiver.recv().await.is_some(), receiver.recv_many(&mut Vec::new(), 2).await)
    });
    let (sender, receiver) = mpsc::unbounded_channel::<Message>();
    everywhere(&(sender.downgrade(), sender, receiver));
    let (sender, mut receiver) = broadcast::channel::<Message>(1);
    everywhere(&(sender.downgrade(), sender));
    everywhere(&receiver);
    to_a_task(async move { receiver.recv().await.is_ok() });
    let (sender, receiver) = oneshot::channel::<Message>();
    everywhere(&(sender, &receiver));
    to_a_task(receiver);
    let (sender, mut receiver) = watch::channel(0_u8);
    everywhere(&sender);
    everywhere(&receiver);
    to_a_task(async move { receiver.changed().await.is_ok() });
}
