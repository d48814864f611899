//! Tasks: causes that cross tasks and threads, and what becomes of them.

use std::time::Duration;

use crate::common::{Seen, panics, quietly, turn, watch};
use metaspy::prelude::*;
use metaspy::tasks::{self, FutureExt, JoinSet, carry, tasks, thread};
use tokio::runtime::{Builder, Runtime};

/// Runs on a runtime of one thread, in an event, and hands back what the tasks of this file did.
fn on_one_thread(run: impl AsyncFnOnce()) -> Seen {
    on(Builder::new_current_thread(), run)
}

fn on(mut runtime: Builder, run: impl AsyncFnOnce()) -> Seen {
    let runtime = runtime.enable_time().build().expect("a runtime");
    watch(tasks(), "tasks::**", || runtime.block_on(run()))
}

async fn second() {
    tokio::task::yield_now().await;
}

async fn first() {
    tasks::spawn(second()).await.expect("it ends well");
}

#[test]
fn the_cause_of_a_task_is_the_event_that_spawned_it() {
    let seen = on_one_thread(async || {
        tasks::spawn(first()).await.expect("it ends well");
        // This one is not awaited. Its cause is known all the same.
        drop(tasks::spawn(second()));
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    });
    assert_eq!(seen.text(), "task returned\n  task returned\ntask returned\n");
    let names: Vec<&str> =
        seen.events.iter().map(|event| seen.profile.store().site_path(event.site)).collect();
    let own = |name| format!("shared_recording::tasks::{name}::task");
    assert_eq!(names, [own("first"), own("second"), own("second")]);
    // Each task is one of its own.
    assert_ne!(seen.events[1].subject, seen.events[2].subject);
    let polls: Vec<u64> = seen
        .events
        .iter()
        .map(|event| seen.profile.store().polls(event.id).expect("polled").polls)
        .collect();
    assert_eq!(polls, [2, 2, 2]);
    assert!(seen.details(0)[0].starts_with("waited="), "{:?}", seen.details(0));
}

#[test]
fn causes_between_tasks_cross_threads() {
    let seen = on(Builder::new_multi_thread(), async || {
        let mut set = JoinSet::new();
        for _ in 0..20 {
            set.spawn(first());
        }
        set.spawn_blocking(|| ());
        while let Some(ended) = set.join_next().await {
            ended.expect("it ends well");
        }
        assert!(set.is_empty());
    });
    let of = |name: &str| {
        seen.events
            .iter()
            .filter(|event| seen.profile.store().site_path(event.site).ends_with(name))
            .count()
    };
    assert_eq!((of("first::task"), of("second::task"), of("::blocking")), (20, 20, 1));
    assert_eq!(seen.text().lines().filter(|line| line.starts_with("  ")).count(), 20);
}

#[test]
fn the_cause_of_a_thread_and_of_carried_work_is_where_they_were_started() {
    let seen = watch(tasks(), "tasks::**", || {
        let outer = thread::spawn(|| {
            let inner = std::thread::spawn(carry(|| thread::spawn(|| ()).join()));
            inner.join().expect("it ends well").expect("it does, too");
        });
        outer.join().expect("it ends well");
        let named = thread::build(std::thread::Builder::new().name("named".into()), || 7)
            .expect("it starts");
        assert_eq!(named.join().expect("it ends well"), 7);
    });
    assert_eq!(seen.text(), "thread returned\n  thread returned\nthread returned\n");
}

#[test]
fn a_carried_future_has_a_cause_and_no_event() {
    let seen = on_one_thread(async || {
        let carried = async { tasks::spawn(second()).await }.carried();
        // As a task that knows no cause would.
        let elsewhere =
            std::thread::spawn(|| Builder::new_current_thread().build().unwrap().block_on(carried));
        elsewhere.join().expect("it ends").expect("it ends well");
    });
    assert_eq!(seen.text(), "task returned\n");
}

#[test]
fn a_named_future_is_an_event() {
    let seen = on_one_thread(async || {
        let answer = async { 42 }.spied("answer");
        assert_eq!(answer.await, 42);
        drop(second().spied("never polled"));
    });
    assert_eq!(seen.text(), "answer returned\n");
}

#[test]
fn a_task_that_is_dropped_is_cancelled_and_one_that_panics_panicked() {
    let seen = on_one_thread(async || {
        let aborted = tasks::spawn(std::future::pending::<()>());
        tokio::task::yield_now().await;
        aborted.abort();
        assert!(aborted.await.expect_err("it was aborted").is_cancelled());
        let select = tokio::select! {
            biased;
            () = std::future::pending().spied("loser") => false,
            () = std::future::ready(()) => true,
        };
        assert!(select);
        let panicking = tasks::spawn(async { quietly(|| panic!("on purpose")) });
        assert!(panicking.await.expect_err("it panicked").is_panic());
        let blocking = tasks::spawn_blocking(|| quietly(|| panic!("on purpose")));
        assert!(blocking.await.expect_err("it panicked").is_panic());
    });
    let text = seen.text();
    let (aborted, others) = text.split_once('\n').expect("there are several");
    // What has no function is named after the line that spawned it.
    assert!(aborted.starts_with("task_") && aborted.ends_with(" cancelled"), "{text}");
    assert_eq!(others, "loser cancelled\ntask panicked\nblocking panicked\n");
}

#[test]
fn a_runtime_that_shuts_down_cancels_what_is_pending() {
    let seen = watch(tasks(), "tasks::**", || {
        let runtime = Builder::new_multi_thread().enable_time().build().expect("a runtime");
        let (polled, is_polled) = tokio::sync::oneshot::channel();
        let pending = async {
            polled.send(()).expect("it is waited for");
            tokio::time::sleep(Duration::from_secs(3600)).await;
        };
        let spawned = runtime.block_on(async {
            let spawned = [tasks::spawn(pending)];
            is_polled.await.expect("it is polled");
            spawned
        });
        drop(runtime);
        assert!(spawned[0].is_finished());
    });
    assert_eq!(seen.text(), "task cancelled\n");
}

#[test]
fn dropping_a_runtime_inside_another_panics_as_without_metaspy() {
    let plain = || {
        let outer = Runtime::new().expect("a runtime");
        outer.block_on(async { drop(Runtime::new().expect("a runtime")) });
    };
    panics(plain);
    let seen = on_one_thread(async || {
        let inner = Builder::new_multi_thread().build().expect("a runtime");
        let spawned = inner.spawn(std::future::pending::<()>().spied("inner"));
        while !spawned.is_finished() && inner.metrics().num_alive_tasks() == 0 {
            tokio::task::yield_now().await;
        }
        std::thread::sleep(Duration::from_millis(20));
        panics(|| drop(inner));
        // Its threads shut down all the same, each when it comes to it.
        while !spawned.is_finished() {
            std::thread::yield_now();
        }
    });
    assert_eq!(seen.text(), "inner cancelled\n");
}

#[test]
fn a_hundred_thousand_tasks_are_counted_one_by_one() {
    let _turn = turn();
    let runtime = Builder::new_multi_thread().build().expect("a runtime");
    async fn counted() {
        tokio::task::yield_now().await;
    }
    let profiler = Profiler::new("many")
        .observe(tasks().mode(Mode::Tally))
        .install()
        .expect("they are observed");
    runtime.block_on(async {
        let mut set: JoinSet<()> = (0..100_000).map(|_| counted()).collect();
        while set.join_next().await.is_some() {}
    });
    let profile = profiler.uninstall();
    let counts = profile.counts().by_site();
    assert_eq!(
        counts
            .at("tasks::a_hundred_thousand_tasks_are_counted_one_by_one::counted::task")
            .expect("it ran")
            .measure
            .count,
        100_000
    );
}

#[test]
fn an_unobserved_task_returns_its_value() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    assert_eq!(
        runtime.block_on(async { tasks::spawn(async { 7 }).await.expect("it ends well") }),
        7
    );
    let local = tokio::task::LocalSet::new();
    let not_send = std::rc::Rc::new(8);
    let value =
        local.block_on(&runtime, async move { tasks::spawn_local(async move { *not_send }).await });
    assert_eq!(value.expect("it ends well"), 8);
}
