//! Locks: who waited, who held, and that they are locks all the same.

use std::sync::{Arc, TryLockError};
use std::time::Duration;

use crate::common::{check, quietly, watch};
use metaspy::locks::{Condvar, Mutex, RwLock, tokio as asynchronous};
use metaspy::prelude::*;
use metaspy::state;

#[test]
fn waiting_and_holding_are_events_without_effects() {
    let lock = Mutex::new("Waiting::lock", 1);
    check(
        "Waiting::lock::*",
        || {
            let outer = lock.lock().expect("no holder panicked");
            assert!(matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
            drop(outer);
            *lock.try_lock().expect("it is free") += 1;
        },
        "wait returned\nhold returned\nwait failed\nwait succeeded\nhold returned\n",
    );
    assert_eq!(lock.into_inner().expect("no holder panicked"), 2);
}

#[test]
fn the_wait_for_a_lock_lasts_until_another_thread_releases_it() {
    let lock = Mutex::new("Long::lock", ());
    let seen = watch(methods("Long::lock::*"), "Long::lock::*", || {
        let (held, free) = (std::sync::Barrier::new(2), Duration::from_millis(30));
        std::thread::scope(|scope| {
            scope.spawn(metaspy::tasks::carry(|| {
                let guard = lock.lock();
                held.wait();
                std::thread::sleep(free);
                drop(guard);
            }));
            held.wait();
            drop(lock.lock());
        });
    });
    let spans: Vec<u64> = seen.events.iter().filter_map(|event| event.span).collect();
    assert_eq!(spans.len(), 4);
    let store = seen.profile.store();
    let waited =
        spans.iter().map(|&span| store.span_ns(span)).filter(|&ns| ns > 20_000_000).count();
    // The one held it, the other waited for it.
    assert_eq!(waited, 2, "{spans:?}");
}

#[test]
fn locks_may_be_released_in_any_order() {
    let (first, second) = (Mutex::new("Order::first", ()), RwLock::new("Order::second", ()));
    check(
        "Order::**",
        || {
            let one = first.lock().unwrap();
            let two = second.write().unwrap();
            drop(one);
            drop(two);
            drop((second.read().unwrap(), second.read().unwrap()));
            assert!(second.try_read().is_ok() && second.try_write().is_ok());
        },
        "wait returned\nhold returned\nwait returned\nhold returned\nwait returned\nhold returned\nwait returned\n\
         hold returned\nwait succeeded\nhold returned\nwait succeeded\nhold returned\n",
    );
}

#[test]
fn a_panic_poisons_the_lock_and_its_hold_has_panicked() {
    let (mutex, lock) = (Mutex::new("Poison::mutex", 1), RwLock::new("Poison::rwlock", 1));
    check(
        "Poison::**::hold",
        || {
            let unwound = std::panic::catch_unwind(|| {
                let (_mutex, _lock) = (mutex.lock(), lock.write());
                quietly(|| panic!("on purpose"))
            });
            assert!(unwound.is_err() && mutex.is_poisoned() && lock.is_poisoned());
            assert_eq!(*mutex.lock().expect_err("it is poisoned").into_inner(), 1);
            assert!(matches!(lock.try_read(), Err(TryLockError::Poisoned(_))));
            mutex.clear_poison();
            assert!(mutex.lock().is_ok());
        },
        "hold panicked\nhold panicked\nhold returned\nhold returned\nhold returned\n",
    );
}

#[test]
fn a_lock_is_not_held_while_its_condition_is_awaited() {
    let (lock, ready) = (Mutex::new("Condition::lock", false), Condvar::new());
    check(
        "Condition::lock::*",
        || {
            std::thread::scope(|scope| {
                let guard = lock.lock().unwrap();
                scope.spawn(|| {
                    *lock.lock().unwrap() = true;
                    ready.notify_one();
                });
                drop(ready.wait_while(guard, |ready| !*ready).unwrap());
                let (guard, timeout) =
                    ready.wait_timeout(lock.lock().unwrap(), Duration::from_millis(1)).unwrap();
                assert!(*guard && timeout.timed_out());
            });
        },
        // The other thread's are not under this block's event.
        "wait returned\nhold returned\nhold returned\nwait returned\nhold returned\nhold returned\n",
    );
}

#[test]
fn tasks_wait_for_locks_of_tokio() {
    let mutex = asynchronous::Mutex::new("Async::mutex", 1);
    let lock = asynchronous::RwLock::new("Async::rwlock", 1);
    let permits = Arc::new(asynchronous::Semaphore::new("Async::permits", 2));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    check(
        "Async::**",
        || {
            runtime.block_on(async {
                let held = mutex.lock().await;
                // Dropped while it waits: it has lost its place in the queue, and nothing else.
                let waits = tokio::time::timeout(Duration::from_millis(1), mutex.lock()).await;
                assert!(waits.is_err() && mutex.try_lock().is_err());
                drop(held);
                assert_eq!(*mutex.lock().await, 1);
                drop((lock.read().await, lock.read().await));
                *lock.write().await += 1;
                drop(permits.acquire().await.expect("it is open"));
                drop(permits.clone().acquire_many_owned(2).await.expect("it is open"));
                assert_eq!(permits.available_permits(), 2);
                permits.close();
                assert!(permits.acquire().await.is_err());
            });
        },
        "wait returned\nhold returned\nwait cancelled\nwait failed\nwait returned\nhold returned\n\
         wait returned\nhold returned\nwait returned\nhold returned\nwait returned\nhold returned\n\
         wait returned\nhold returned\nwait returned\nhold returned\nwait returned\n",
    );
}

#[test]
fn the_subject_is_the_lock_or_its_owner() {
    let owner = ObjectId::new();
    let (own, owned) =
        (Mutex::new("Owned::own", ()), Mutex::new("Owned::owned", ()).owned_by(&owner));
    let profiler =
        Profiler::new("owned").observe(methods("Owned::**")).install().expect("they are observed");
    for lock in [&own, &owned, &owned] {
        drop(lock.lock());
    }
    let profile = profiler.uninstall();
    assert_eq!((profile.count_of(&own), profile.count_of(&owner)), (2, 4));
}

#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "it is shown")]
enum Phase {
    Idle,
    Busy(u8),
}

#[test]
fn a_transition_is_an_instant_at_a_site_of_its_name() {
    use Phase::Idle;
    let machine = ObjectId::new();
    let next = Phase::Busy(3);
    let seen = watch(methods("locks::**").details(), "locks::**", || {
        state!(machine, Phase::Idle, Phase::Idle);
        state!(machine, Idle, next);
        state!(machine, Phase::Busy(1), Phase::Idle);
    });
    assert_eq!(
        seen.text(),
        "Idle->Idle instant\nIdle->next instant\nBusy(1)->Phase::Idle instant\n"
            .replace("Busy(1)->Phase::", "")
    );
    assert_eq!(seen.details(1), ["from=Idle", "to=Busy(3)"]);
    assert_eq!(seen.profile.count_of(&machine), 3);
}
