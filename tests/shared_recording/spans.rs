//! Spans of `tracing`: one event each, wherever they are entered, and what causes what.

use std::collections::HashSet;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use crate::common::spans::{seen, with_layer};
use crate::common::watch;
use metaspy::prelude::*;
use metaspy::store::Position;
use metaspy::{Event, Outcome};
use metaspy_instrumenters::spans::spans;
use tracing::{Span, info, info_span, instrument};

#[test]
fn a_span_is_one_event_and_the_cause_of_calls_inside_it() {
    let seen = seen("once", || {
        let span = info_span!(target: "once", "request");
        for _ in 0..3 {
            span.in_scope(|| {
                info_span!(target: "once", "step")
                    .in_scope(|| info!(name: "said", target: "once", "so"))
            });
        }
        info_span!(target: "once", "next");
    });
    let step = "  step returned\n    said instant\n";
    assert_eq!(seen.text(), format!("request returned\n{step}{step}{step}next returned\n"));
    let store = seen.profile.store();
    let polls = store.polls(seen.events[0].id).expect("it was entered");
    assert_eq!(polls.polls, 3);
    assert!(polls.busy_ticks > 0 && polls.busy_ticks <= seen.events[0].span.expect("it ended"));
    assert_eq!(
        store.polls(seen.events[7].id).map(|polls| (polls.polls, polls.busy_ticks)),
        Some((0, 0))
    );
    assert_eq!(store.polls(seen.events[2].id), None, "what has no length is not entered");
}

// The attribute that is written first is expanded first, and so the inner one.
#[instrument(target = "both")]
#[observe]
fn tracing_is_within() {
    helper();
}

#[observe]
#[instrument(target = "both")]
fn metaspy_is_within() {
    helper();
}

#[observe]
fn helper() {
    info!(name: "helped", target: "both", "helped");
}

#[observe]
async fn answers() {}

/// As where a future that is instrumented with a span is polled by a task that carries the span.
#[test]
fn an_async_call_inside_a_span_is_no_task_of_it_where_the_span_was_named_as_its_cause() {
    let profiler =
        Profiler::new("named").observe(spans("named::*")).observe(methods("spans::answers"));
    let answer = || {
        let answered = pin!(answers()).poll(&mut Context::from_waker(Waker::noop()));
        assert!(answered.is_ready());
    };
    let ((), profile) = profiler
        .profile(|| {
            with_layer(|| {
                let span = info_span!(target: "named", "request");
                let event = span.in_scope(metaspy::current).expect("it is an event");
                let _because = metaspy::because(event);
                span.in_scope(answer);
                answer();
            });
        })
        .expect("they are observed");
    let store = profile.store();
    let filter = "site:spans::answers".parse().expect("a filter");
    let events = store.forward(Position::Start, &filter, 9, usize::MAX).events;
    let is_apart = |event: &Event| store.polls(event.id).map(|polls| polls.is_apart);
    assert_eq!(events.iter().map(is_apart).collect::<Vec<_>>(), [Some(false), Some(true)]);
}

#[test]
fn a_function_with_both_attributes_has_two_nested_events() {
    let profiler =
        Profiler::new("both").observe(spans("both::*")).observe(methods("spans::*_is_within"));
    let ((), profile) = profiler
        .observe(methods("spans::helper"))
        .profile(|| {
            with_layer(|| {
                tracing_is_within();
                metaspy_is_within();
            });
        })
        .expect("they are observed");
    let counts = profile.counts();
    let counted = |path: &str| counts.by_site().at(path).map(|row| row.measure.count);
    for path in [
        "both::tracing_is_within",
        "spans::tracing_is_within",
        "both::metaspy_is_within",
        "spans::metaspy_is_within",
    ] {
        assert_eq!(counted(path), Some(1), "{path}");
    }
    assert_eq!((counted("spans::helper"), counted("both::helped")), (Some(2), Some(2)));
    let store = profile.store();
    let all = store
        .forward(Position::Start, &"site:both::helped".parse().unwrap(), 99, usize::MAX)
        .events;
    let root = profile.scope().under;
    let chains: Vec<Vec<&str>> = (all.iter())
        .map(|event| {
            store
                .causes(event.id)
                .filter(|cause| Some(cause.id) != root)
                .map(|cause| store.site_path(cause.site))
        })
        .map(Iterator::collect)
        .collect();
    assert_eq!(
        chains,
        [
            [
                "shared_recording::spans::helper",
                "both::tracing_is_within",
                "shared_recording::spans::tracing_is_within"
            ],
            [
                "shared_recording::spans::helper",
                "shared_recording::spans::metaspy_is_within",
                "both::metaspy_is_within"
            ]
        ]
    );
}

#[test]
fn a_span_is_entered_on_several_threads_and_closed_on_another() {
    let seen = watch(spans("threads::*"), "threads::*", || {
        with_layer(|| {
            let span = info_span!(target: "threads", "shared");
            let work =
                |span: Span| std::thread::spawn(move || span.in_scope(|| helper_of_threads(&span)));
            // Clones are the same span, which lasts as long as any of them.
            let threads = [work(span.clone()), work(span.clone())];
            drop(span);
            threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
        });
    });
    assert_eq!(seen.text(), "shared returned\n  inner returned\n  inner returned\n");
    let lanes: Vec<_> = seen.events.iter().map(|event| event.lane).collect();
    assert!(lanes[0] != lanes[1] && lanes[1] != lanes[2], "{lanes:?}");
    assert_eq!(seen.profile.store().polls(seen.events[0].id).map(|polls| polls.polls), Some(2));
}

/// A thread without a subscriber uses the subscriber of its span.
fn helper_of_threads(span: &Span) {
    span.with_subscriber(|(_, dispatch)| {
        tracing::dispatcher::with_default(dispatch, || {
            drop(info_span!(target: "threads", "inner").entered())
        });
    });
}

#[test]
fn the_thread_returns_to_its_event_when_spans_exit_out_of_order() {
    let seen = seen("order", || {
        let [a, b, c] = ["a", "b", "c"].map(|subject| info_span!(target: "order", "span", subject));
        let (in_a, in_b, in_c) = (a.enter(), b.enter(), c.enter());
        info!(name: "all", target: "order", "");
        drop(in_b);
        info!(name: "without_b", target: "order", "");
        drop(in_c);
        info!(name: "without_c", target: "order", "");
        drop(in_a);
        info!(name: "nowhere", target: "order", "");
    });
    let [a, b, c] = [0, 1, 2].map(|at| Some(seen.events[at].id));
    assert_eq!(
        seen.events[3..].iter().map(|event| event.cause).collect::<Vec<_>>(),
        [c, c, a, seen.events[0].cause]
    );
    let busy = [a, b, c]
        .map(|id| seen.profile.store().polls(id.expect("it has one")).map(|polls| polls.polls));
    assert_eq!(busy, [Some(1); 3]);
}

#[test]
fn the_busy_time_of_a_span_within_itself_counts_once() {
    let seen = seen("itself", || {
        let span = info_span!(target: "itself", "again");
        span.in_scope(|| {
            span.in_scope(|| info!(name: "deep", target: "itself", ""));
            info!(name: "shallow", target: "itself", "");
        });
        info!(name: "outside", target: "itself", "");
    });
    assert_eq!(seen.text(), "again returned\n  deep instant\n  shallow instant\noutside instant\n");
    let polls = seen.profile.store().polls(seen.events[0].id).expect("it was entered");
    assert!(
        polls.polls == 2 && polls.busy_ticks <= seen.events[0].span.expect("it ended"),
        "{polls:?}"
    );
}

#[test]
fn a_kept_span_is_running_and_a_forgotten_guard_does_not_hold_the_thread() {
    let mut kept = None;
    let seen = seen("kept", || {
        kept = Some(info_span!(target: "kept", "open"));
        let forgotten = info_span!(target: "kept", "forgotten");
        std::mem::forget(forgotten.enter());
        drop(forgotten);
        info!(name: "afterwards", target: "kept", "");
    });
    assert_eq!(seen.text(), "open running\nforgotten returned\nafterwards instant\n");
    drop(kept);
    assert_eq!(
        seen.profile.store().event(seen.events[0].id).map(|event| event.outcome),
        Some(Outcome::Returned)
    );
}

#[test]
fn ids_of_the_registry_are_reused_and_event_ids_are_not() {
    let seen = seen("ids", || {
        for at in 0..1000_u64 {
            let _one = info_span!(target: "ids", "one", at).entered();
            drop(info_span!(target: "ids", "two", subject = at));
        }
    });
    let ids: HashSet<_> = seen.events.iter().map(|event| event.id).collect();
    assert_eq!(ids.len(), 2000);
    for pair in seen.events.chunks(2) {
        assert_eq!((pair[1].cause, pair[1].outcome), (Some(pair[0].id), Outcome::Returned));
    }
}

#[test]
fn more_spans_than_the_table_has_cells_are_recorded() {
    let seen = seen("many", || {
        let mut open: Vec<Span> =
            (0..5000_u64).map(|at| info_span!(target: "many", "open", subject = at)).collect();
        open.iter().for_each(|span| span.in_scope(|| info!(name: "inside", target: "many", "")));
        for span in &open {
            span.record("subject", 1);
        }
        open.reverse();
    });
    let (open, inside): (Vec<&Event>, Vec<&Event>) =
        seen.events.iter().partition(|event| event.outcome != Outcome::Instant);
    assert_eq!((open.len(), inside.len()), (5000, 5000));
    assert!(open.iter().all(|event| event.outcome == Outcome::Returned));
    assert!(open.iter().zip(&inside).all(|(open, inside)| inside.cause == Some(open.id)));
    let polls = |id| seen.profile.store().polls(id).map(|polls| polls.polls);
    assert!(open.iter().step_by(97).all(|event| polls(event.id) == Some(1)));
}

/// Pending twice.
struct Pending(u8);

impl Future for Pending {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        info!(name: "polled", target: "future", "");
        self.0 += 1;
        if self.0 > 2 { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[instrument(target = "future")]
async fn fetch() {
    Pending(0).await;
}

#[test]
fn a_future_polled_on_several_threads_is_one_span() {
    fn poll<F: Future>(mut future: Pin<Box<F>>) -> (Pin<Box<F>>, bool) {
        let is_ready = future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        (future, is_ready)
    }
    let seen = seen("future", || {
        let (future, is_ready) = poll(Box::pin(fetch()));
        info!(name: "between", target: "future", "");
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        let elsewhere = || tracing::dispatcher::with_default(&dispatch, || poll(future));
        let (future, was_ready) =
            std::thread::scope(|scope| scope.spawn(elsewhere).join().expect("it does not panic"));
        assert!(!is_ready && !was_ready && poll(future).1);
    });
    assert_eq!(
        seen.events.iter().filter(|event| event.cause == Some(seen.events[0].id)).count(),
        3
    );
    assert_eq!(
        seen.text().matches("\nbetween instant\n").count(),
        1,
        "it is not in the span: {}",
        seen.text()
    );
    // The one more is that `tracing` enters a span to drop its future in it.
    let polls = seen.profile.store().polls(seen.events[0].id).expect("it was polled");
    let took = seen.events[0].span.expect("it is done");
    assert!(
        polls.polls == 4 && polls.busy_ticks > 0 && polls.busy_ticks < took,
        "{polls:?} of {took}"
    );
}

#[test]
fn threads_that_share_spans_lose_no_event() {
    const SPANS: u64 = 64;
    const ROUNDS: u64 = 200;
    let seen = watch(spans("shared::*"), "shared::*", || {
        with_layer(|| {
            let dispatch = tracing::dispatcher::get_default(Clone::clone);
            let spans: Vec<Span> =
                (0..SPANS).map(|at| info_span!(target: "shared", "span", subject = at)).collect();
            std::thread::scope(|scope| {
                for thread in 0..4_u64 {
                    let (spans, dispatch) = (&spans, &dispatch);
                    scope.spawn(move || {
                        tracing::dispatcher::with_default(dispatch, || {
                            for round in 0..ROUNDS {
                                let at = (round * 7 + thread * 13) % SPANS;
                                let (outer, inner) = (
                                    spans[at as usize].enter(),
                                    info_span!(target: "shared", "inner"),
                                );
                                let in_inner = inner.enter();
                                // Every other round leaves them in the wrong order.
                                if round % 2 == 0 {
                                    drop(outer);
                                    drop(in_inner);
                                } else {
                                    drop(in_inner);
                                    drop(outer);
                                }
                                drop(inner);
                            }
                            info!(name: "last", target: "shared", "");
                        });
                    });
                }
            });
        });
    });
    let store = seen.profile.store();
    let of = |name: &str| {
        let events = seen
            .events
            .iter()
            .filter(|event| store.site_path(event.site) == format!("shared::{name}"));
        events.copied().collect::<Vec<Event>>()
    };
    let (spans, inner) = (of("span"), of("inner"));
    assert_eq!((spans.len() as u64, inner.len() as u64), (SPANS, 4 * ROUNDS));
    assert!(
        seen.events
            .iter()
            .all(|event| matches!(event.outcome, Outcome::Returned | Outcome::Instant))
    );
    let entered: u64 =
        spans.iter().filter_map(|event| store.polls(event.id)).map(|polls| polls.polls).sum();
    assert_eq!(entered, 4 * ROUNDS);
    let ids: HashSet<_> = spans.iter().map(|event| event.id).collect();
    assert!(inner.iter().all(|event| event.cause.is_some_and(|cause| ids.contains(&cause))));
}

#[test]
fn a_named_parent_is_the_cause_and_a_root_has_none() {
    let profiler = Profiler::new("parents")
        .observe(spans("parents::*"))
        .install()
        .expect("there may be none yet");
    with_layer(|| {
        let parent = info_span!(target: "parents", "parent");
        // It is not observed, so what is in it hangs under what it is in.
        let between = info_span!(target: "elsewhere", parent: &parent, "between");
        info_span!(target: "parents", "around").in_scope(|| {
            info_span!(target: "parents", parent: &parent, "child");
            info_span!(target: "parents", parent: &between, "grandchild");
            info!(name: "said", target: "parents", parent: &parent, "");
            info_span!(target: "parents", parent: None, "root");
            info_span!(target: "parents", "inside");
        });
    });
    let profile = profiler.uninstall();
    let store = profile.store();
    let filter = "site:parents::*".parse().expect("a filter");
    let events = store.forward(Position::Start, &filter, 99, usize::MAX).events;
    let name = |id| store.site_path(store.event(id).expect("it is there").site);
    let causes: Vec<_> =
        (events.iter()).map(|event| (name(event.id), event.cause.map(name))).collect();
    assert_eq!(
        causes,
        [
            ("parents::parent", None),
            ("parents::around", None),
            ("parents::child", Some("parents::parent")),
            ("parents::grandchild", Some("parents::parent")),
            ("parents::said", Some("parents::parent")),
            ("parents::root", None),
            ("parents::inside", Some("parents::around")),
        ]
    );
}

#[test]
fn follows_from_is_a_link() {
    let seen = seen("links", || {
        let [first, second] =
            [info_span!(target: "links", "first"), info_span!(target: "links", "second")];
        let effect = info_span!(target: "links", "effect");
        effect.follows_from(&first);
        let (other, cause) = (effect.clone(), second.clone());
        std::thread::spawn(move || _ = other.follows_from(&cause))
            .join()
            .expect("it does not panic");
        // One that is not observed is no reason.
        effect.follows_from(&info_span!(target: "elsewhere", "unseen"));
    });
    let [first, second, effect] = [0, 1, 2].map(|at| seen.events[at].id);
    assert_eq!(seen.profile.store().links(effect), [first, second]);
}
