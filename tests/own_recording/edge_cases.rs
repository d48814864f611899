//! What is promised of methods and objects, kept in cases that are not everyday ones.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::common::{check, watch};
use crate::turn;
use metaspy::instrumenter::register_dynamic;
use metaspy::prelude::*;
use metaspy::store::{By, Filter, Position, Scope};
use metaspy::{Event, Outcome, SiteDef, SiteKind, Store, hook};

fn recording() -> Recording {
    Recording::memory().budget(4 << 20).start().expect("there are 4 MiB")
}

fn events(store: &Store, filter: &str) -> Vec<Event> {
    let filter: Filter = filter.parse().expect("a filter");
    store.forward(Position::Start, &filter, usize::MAX, usize::MAX).events
}

#[derive(Identify)]
struct NodeId(u64);

/// Its only identity is its address.
struct Plain(#[expect(dead_code, reason = "it takes room")] u64);

#[observe]
impl Plain {
    fn touch(&self) {}
}

#[observe]
impl NodeId {
    fn visit(&self) {}
}

#[test]
fn a_key_and_an_address_of_equal_value_are_two_subjects() {
    let _turn = turn();
    let plain = Box::new(Plain(1));
    let node = NodeId(std::ptr::from_ref(&*plain) as u64);
    let owner = Owner::new("tree");
    let profiler = Profiler::new("one number").observe(methods(site!(Plain::touch)));
    let profiler =
        profiler.observe(methods(site!(NodeId::visit))).install().expect("they are observed");
    plain.touch();
    node.visit();
    let profile = profiler.uninstall();
    let subjects: BTreeSet<_> =
        profile.counts().by_subject().rows.iter().filter_map(|row| row.subject).collect();
    assert_eq!(subjects.len(), 2);
    assert_eq!(
        subjects.iter().map(|subject| subject.key).collect::<BTreeSet<_>>(),
        BTreeSet::from([node.0])
    );
    assert_eq!(
        (profile.count_of(&node), profile.count_of((&owner, node.0)), profile.count_of(node.0)),
        (1, 0, 0)
    );
}

#[test]
fn a_reused_address_is_a_place_and_not_the_old_object() {
    let _turn = turn();
    let spied = Spied::new(Plain(1));
    let (address, identity) = (std::ptr::from_ref(&*spied) as u64, spied.identify());
    let profiler = Profiler::new("reuse")
        .observe(methods(site!(Plain::touch)))
        .install()
        .expect("it is observed");
    spied.touch();
    drop(spied);
    // Until the allocator gives the address out again.
    let mut held = Vec::new();
    let again = (0..10_000).find(|_| {
        held.push(Box::new(Plain(2)));
        held.last().is_some_and(|plain| std::ptr::from_ref(&**plain) as u64 == address)
    });
    let other = held.last().expect("there is one");
    other.touch();
    let next = Spied::new(Plain(3));
    next.touch();
    let profile = profiler.uninstall();
    assert_eq!(
        (profile.count_of(identity), profile.count_of(&next)),
        (1, 1),
        "reused: {}",
        again.is_some()
    );
    let rows = profile.counts().by_subject().rows.clone();
    assert_eq!(rows.len(), 3);
    let place = rows
        .iter()
        .filter_map(|row| row.subject)
        .find(|&subject| subject.key > 1 << 20)
        .expect("a place");
    assert_eq!(place.key, std::ptr::from_ref(&**other) as u64);
    assert!(profile.store().kind(place.kind).is_some_and(|kind| kind.place));
    assert_eq!(
        profile.store().subject_text(place),
        format!("own_recording::edge_cases::Plain @{:x}", place.key)
    );
    assert!(profile.store().ended_at(identity).is_some(), "dropping it ended it");
}

#[test]
fn objects_whose_128_bit_keys_agree_in_64_bits_are_two_subjects() {
    let _turn = turn();
    /// Keys that are too wide are no keys; the identity is made once, with the object.
    #[derive(Identify)]
    struct Wide {
        #[identify(same)]
        identity: ObjectId,
        uuid: u128,
    }
    #[observe]
    impl Wide {
        fn uuid(&self) -> u128 {
            self.uuid
        }
    }
    let wide =
        [1_u128 << 64 | 5, 2 << 64 | 5, 5].map(|uuid| Wide { identity: ObjectId::new(), uuid });
    let seen = watch(methods("Wide::uuid"), "Wide::uuid", || {
        assert_eq!(
            wide.iter().map(Wide::uuid).map(|uuid| uuid as u64).collect::<Vec<_>>(),
            [5, 5, 5]
        );
        wide[1].uuid();
    });
    assert_eq!(wide.each_ref().map(|wide| seen.profile.count_of(wide)), [1, 2, 1]);
}

#[observe(subject = key)]
fn watched_by_many(key: u32) -> u32 {
    key
}

#[test]
fn ten_profilers_on_one_object_cost_one_event() {
    let _turn = turn();
    let recording = recording();
    let install = |n: usize| {
        let object = objects([5_u32], site!(watched_by_many));
        Profiler::new(format!("{n}")).observe(object).install().expect("it is observed")
    };
    let installed: Vec<_> = (0..10).map(install).collect();
    (0..10).for_each(|key| _ = watched_by_many(key));
    assert_eq!(recording.store().totals().emitted, 1);
    for profiler in installed {
        assert_eq!(profiler.uninstall().counts().total(), 1);
    }
}

fn site(name: &'static str) -> SiteDef {
    SiteDef {
        kind: SiteKind::Method,
        module: "later",
        name,
        file: file!(),
        lines: (1, 1),
        skipped: None,
    }
}

#[test]
fn a_site_that_is_registered_later_is_matched_with_installed_selectors() {
    let _turn = turn();
    let recording = recording();
    let call = |site: &'static metaspy::Site| {
        if site.is_armed() {
            hook::enter(site, Subject::NONE).done(Outcome::Returned);
        }
    };
    static HANDLED: AtomicU64 = AtomicU64::new(0);
    call(register_dynamic(site("Grammar::first")));
    let calls = methods("Grammar::*").after(|_| _ = HANDLED.fetch_add(1, Relaxed));
    let installed =
        Profiler::new("grammar").observe(calls).install().expect("there is one already");
    let second = register_dynamic(site("Grammar::second"));
    call(second);
    call(register_dynamic(site("Other::third")));
    let profile = installed.uninstall();
    assert_eq!((recording.store().totals().emitted, HANDLED.load(Relaxed)), (1, 1));
    assert_eq!(profile.counts().total(), 1, "it is in the profile, too");
    assert!(!second.is_armed());
    call(second);
    call(register_dynamic(site("Grammar::fourth")));
    assert_eq!((recording.store().totals().emitted, HANDLED.load(Relaxed)), (1, 1));
}

#[test]
fn calls_of_handlers_predicates_and_expressions_are_left_out() {
    let _turn = turn();
    #[observe(subject = helper(key))]
    fn looked_at(key: u32) -> u32 {
        key
    }
    let recording = recording();
    let chosen = group(|subject| helper(subject.key as u32) < 9, site!(looked_at));
    let chosen =
        chosen.before(|call| _ = helper(call.subject.key as u32)).after(|_| _ = looked_at(7));
    let profiler = Profiler::new("meta").observe(chosen).observe(methods(site!(helper)));
    let (_, profile) = profiler.profile(|| (looked_at(1), helper(2))).expect("they are observed");
    let rows = profile.counts().by_site();
    let count = |path: &str| rows.at(path).map_or(0, |row| row.measure.count);
    assert_eq!((count("looked_at"), count("helper")), (1, 1));
    let meta = events(&recording.store(), "level:>0");
    assert!(meta.len() >= 4, "they are marked, not lost: {meta:?}");
}

#[observe]
fn helper(key: u32) -> u32 {
    key
}

#[test]
fn a_recursion_10_000_deep_is_nested_10_000_deep() {
    let _turn = turn();
    #[observe(args(left), ret)]
    fn descends(left: u64) -> u64 {
        if left == 1 { 1 } else { descends(left - 1) + 1 }
    }
    for (looks_inside, calls) in
        [(false, methods(site!(descends))), (true, methods(site!(descends)).details())]
    {
        let handled = Arc::new(AtomicU64::new(0));
        let counter = handled.clone();
        let calls = if looks_inside {
            calls.after(move |_| _ = counter.fetch_add(1, Relaxed))
        } else {
            calls
        };
        let recording = Recording::memory().budget(32 << 20).start().expect("there are 32 MiB");
        let installed = Profiler::new("deep").observe(calls).install().expect("it is observed");
        let deep = std::thread::Builder::new()
            .stack_size(64 << 20)
            .spawn(|| descends(10_000))
            .expect("a thread");
        assert_eq!(deep.join().expect("there is room"), 10_000);
        let store = recording.store();
        let events = events(&store, "");
        assert_eq!(events.len(), 10_000);
        assert_eq!(events[0].cause, None);
        assert!(events.windows(2).all(|pair| pair[1].cause == Some(pair[0].id)));
        assert_eq!(store.causes(events[9_999].id).count(), 9_999);
        assert_eq!(handled.load(Relaxed), if looks_inside { 10_000 } else { 0 });
        let details: Vec<String> =
            store.details(events[7].id).into_iter().map(|detail| detail.value).collect();
        assert_eq!(details, if looks_inside { vec!["9993", "9993"] } else { vec![] });
        assert_eq!(installed.uninstall().counts().total(), 10_000);
    }
}

#[test]
fn profilers_move_between_threads_and_may_outlive_the_model() {
    let _turn = turn();
    let nodes: Vec<Spied<Plain>> = (0..3).map(|n| Spied::new(Plain(n))).collect();
    let first = nodes[0].identify();
    let profiler = Profiler::new("travels").observe(objects(&nodes[..2], site!(Plain::touch)));
    let installed = std::thread::spawn(|| profiler.install().expect("it is observed"))
        .join()
        .expect("no panic");
    nodes.iter().for_each(|node| node.touch());
    drop(nodes);
    let profile = std::thread::spawn(|| installed.uninstall()).join().expect("no panic");
    assert_eq!((profile.counts().total(), profile.count_of(first)), (2, 1));
}

#[test]
fn uninstalling_during_a_call_keeps_the_whole_call() {
    let _turn = turn();
    #[observe]
    fn taken_out(run: impl FnOnce()) {
        run()
    }
    let recording = recording();
    let lines: Arc<Mutex<Vec<&str>>> = Arc::default();
    let says = |words: [&'static str; 2]| {
        let [before, after] = words.map(|words| (words, lines.clone()));
        methods(site!(helper))
            .before(move |_| before.1.lock().expect("no panic").push(before.0))
            .after(move |_| after.1.lock().expect("no panic").push(after.0))
    };
    let first = Profiler::new("1")
        .observe(says(["before 1", "after 1"]))
        .observe(methods("taken_out"))
        .install();
    let second = Profiler::new("2")
        .observe(says(["before 2", "after 2"]))
        .install()
        .expect("it is observed");
    helper(1);
    assert_eq!(*lines.lock().expect("no panic"), ["before 1", "before 2", "after 2", "after 1"]);
    let (first, gone) = (first.expect("it is observed"), Cell::new(None));
    taken_out(|| {
        gone.set(Some(first.uninstall()));
        helper(2);
    });
    assert_eq!(lines.lock().expect("no panic")[4..], ["before 2", "after 2"]);
    let profile = gone.into_inner().expect("it was uninstalled");
    assert_eq!((profile.counts().total(), second.uninstall().counts().total()), (2, 2));
    let ended = events(&recording.store(), "site:taken_out");
    assert_eq!(ended.iter().map(|event| event.outcome).collect::<Vec<_>>(), [Outcome::Returned]);
}

/// Pending as often as it says.
struct Pending(u32);

impl Future for Pending {
    type Output = u32;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
        match self.0 {
            0 => Poll::Ready(7),
            _ => {
                self.0 -= 1;
                Poll::Pending
            }
        }
    }
}

#[observe]
async fn awaits(polls: u32) -> u32 {
    helper(polls);
    let seven = Pending(polls).await;
    helper(seven)
}

#[test]
fn an_async_call_may_end_on_any_thread_at_any_time() {
    let _turn = turn();
    let recording = recording();
    let profiler =
        Profiler::new("async").observe(methods(site!(awaits))).observe(methods(site!(helper)));
    let installed = profiler.install().expect("they are observed");
    let mut context = Context::from_waker(Waker::noop());
    let (mut cancelled, mut moved) = (Box::pin(awaits(9)), Box::pin(awaits(1)));
    for future in [&mut cancelled, &mut moved] {
        assert!(future.as_mut().poll(&mut context).is_pending());
        assert_eq!(metaspy::current(), None);
        helper(0);
    }
    let profile = installed.uninstall();
    assert_eq!(profile.counts().total(), 6);
    // Uninstalled during a poll: what began still ends, here and elsewhere.
    let finishes = move || moved.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert_eq!(std::thread::spawn(finishes).join().expect("no panic"), Poll::Ready(7));
    drop(cancelled);
    let outcomes: Vec<_> =
        events(&recording.store(), "site:awaits").iter().map(|event| event.outcome).collect();
    assert_eq!(outcomes, [Outcome::Cancelled, Outcome::Returned]);
    let between = events(&recording.store(), "site:helper");
    let under: Vec<bool> = between.iter().map(|event| event.cause.is_some()).collect();
    assert_eq!(under, [true, false, true, false]);
    assert!(pin!(awaits(0)).poll(&mut context).is_ready());
    assert_eq!(recording.store().totals().emitted, 6, "no profiler is installed any more");
}

/// A call that changes its thread, with another inside it that begins and ends on the second one,
/// and a spawned one on the first one.
#[test]
fn own_times_of_async_calls_are_disjoint_on_whatever_threads_they_are_polled() {
    #[observe]
    async fn serves(event: &Mutex<Option<metaspy::EventId>>) -> u32 {
        *event.lock().expect("no panic") = metaspy::current();
        let seven = Pending(1).await;
        reads().await + helper(seven)
    }
    #[observe]
    async fn reads() -> u32 {
        helper(1) + Pending(1).await
    }
    #[observe]
    async fn spawned() -> u32 {
        helper(2)
    }

    let _turn = turn();
    let recording = recording();
    let mut profiler = Profiler::new("threads").observe(methods(site!(helper)));
    for site in [site!(serves), site!(reads), site!(spawned)] {
        profiler = profiler.observe(methods(site));
    }
    let installed = profiler.install().expect("they are observed");
    let event = Mutex::new(None);
    let mut serving = Box::pin(serves(&event));
    let poll = |serving: Pin<&mut dyn Future<Output = u32>>| {
        serving.poll(&mut Context::from_waker(Waker::noop()))
    };
    assert!(poll(serving.as_mut()).is_pending());
    {
        let _because = metaspy::because(event.lock().expect("no panic").expect("it has an event"));
        assert_eq!(poll(pin!(spawned())), Poll::Ready(2));
    }
    let elsewhere = || {
        assert!(poll(serving.as_mut()).is_pending());
        assert_eq!(poll(serving.as_mut()), Poll::Ready(15));
    };
    std::thread::scope(|scope| scope.spawn(elsewhere).join()).expect("no panic");
    drop(installed.uninstall());
    let tally = recording.store().tally(By::Site, &Scope::default());
    let store = recording.store();
    let of = |name: &str| {
        let mut rows = tally.rows.iter();
        let row = rows
            .find(|row| row.site.is_some_and(|site| store.site_path(site).ends_with(name)))
            .expect("it ran");
        (row.measure.total_ticks, row.measure.self_ticks.expect("it is known"))
    };
    let [serves, reads, spawned, helper] = ["serves", "reads", "spawned", "helper"].map(of);
    assert_eq!(helper.0, helper.1);
    assert_eq!(serves.1 + reads.1 + spawned.1 + helper.1, serves.0 + spawned.0);
    assert!(serves.1 <= serves.0 - reads.0, "{serves:?} {reads:?}");
}

#[test]
fn marks_of_all_events_are_those_of_each_event() {
    #[observe(args(polls), ret)]
    async fn answers(polls: u32) -> u32 {
        Pending(polls).await
    }
    fn finish(futures: Vec<Pin<Box<impl Future>>>) {
        let mut context = Context::from_waker(Waker::noop());
        for mut future in futures {
            while future.as_mut().poll(&mut context).is_pending() {
                helper(9);
            }
        }
    }

    let _turn = turn();
    let recording = recording();
    let profiler = Profiler::new("marks")
        .observe(methods(site!(answers)).details())
        .observe(methods(site!(helper)));
    let installed = profiler.install().expect("they are observed");
    let mut context = Context::from_waker(Waker::noop());
    let mut begun: Vec<_> = (0..200).map(|call| Box::pin(answers(call % 4))).collect();
    begun.retain_mut(|future| future.as_mut().poll(&mut context).is_pending());
    // The blocks in which they began are full when they end, some of them on another thread.
    (0..500).for_each(|filler| _ = helper(filler));
    let last = begun.split_off(begun.len() - 1);
    let elsewhere = begun.split_off(begun.len() / 2);
    std::thread::scope(|scope| scope.spawn(|| finish(elsewhere)).join()).expect("no panic");
    finish(begun);

    let live = recording.store();
    let marks_of_live = live.all_marks();
    finish(last);
    drop(installed);
    recording.close();
    let closed = recording.store();
    for (store, marks) in [(&live, &marks_of_live), (&closed, &closed.all_marks())] {
        let mut details = 0;
        let mut polls = [0; 5];
        for event in events(store, "") {
            let own = store.details(event.id);
            assert_eq!(marks.details(&event), own, "{event:?}");
            details += own.len();
            let own = store.polls(event.id);
            assert_eq!(marks.polls(&event), own, "{event:?}");
            own.into_iter().for_each(|own| polls[own.polls as usize - 1] += 1);
        }
        assert_eq!(polls, [50, 50, 50, 50, 0]);
        assert_eq!(details, 400, "each call has an argument and what it returned");
    }
}

#[test]
fn a_spied_value_behaves_like_the_value() {
    fn goes_anywhere<T: Send + Sync>(_: &T) {}
    let (one, two) = (Spied::from(1_u32), Spied::new(2_u32));
    goes_anywhere(&one);
    assert!(one < two && one != two && one.max(Spied::default()) == Spied::new(1));
    let hash = RandomState::new();
    assert_eq!(hash.hash_one(&two), hash.hash_one(2_u32));
    assert_eq!((format!("{two:?} {two}"), two.clone() == two), ("2 2".into(), true));
    assert_ne!(two.clone().identify(), two.identify());
    let places: HashMap<Spied<u32>, u32> = HashMap::from([(two, 5)]);
    assert_eq!(places[&Spied::new(2)], 5);
}

#[test]
fn the_payload_of_a_panic_is_unchanged() {
    let _turn = turn();
    #[derive(Debug, PartialEq)]
    struct Thrown(u32);
    #[observe]
    fn throws(n: u32) {
        std::panic::resume_unwind(Box::new(Thrown(n)))
    }
    #[observe]
    async fn throws_later(n: u32) {
        throws(n)
    }
    let caught = |run: &dyn Fn()| {
        let caught =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).expect_err("it throws");
        *caught.downcast::<Thrown>().expect("it is what was thrown")
    };
    let calls = || {
        assert_eq!(caught(&|| throws(1)), Thrown(1));
        let later = || _ = pin!(throws_later(2)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(caught(&later), Thrown(2));
    };
    check(
        "edge_cases::throws*",
        calls,
        "throws panicked\nthrows_later panicked\n  throws panicked\n",
    );
}

#[test]
fn every_way_out_of_a_loop_is_a_return() {
    let _turn = turn();
    #[observe]
    fn breaks_with_a_value(from: u32) -> Option<u32> {
        let found = 'search: loop {
            for n in from.. {
                if n > 8 {
                    return None;
                }
                if n.is_multiple_of(4) {
                    break 'search n;
                }
            }
        };
        Some(found)
    }
    check(
        "breaks_with_a_value",
        || assert_eq!([3, 9].map(breaks_with_a_value), [Some(4), None]),
        "breaks_with_a_value succeeded\nbreaks_with_a_value failed\n",
    );
}
