//! Subscriptions to live events.
//!
//! The collector reads every event once, after it has ended, and delivers it to the subscriptions.
//! Hooks are not involved and never wait.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::event::{Event, Outcome};
use crate::hook;
use crate::platform::lock::{lock, lock_for_long};
use crate::recorder::{self, Listener, LiveEvent, Log, Module};
use crate::store::matcher::{Matcher, Memory};
use crate::store::{Filter, Scope, Store};

/// The subscriptions.
static ALL: Mutex<Vec<Arc<Inner>>> = Mutex::new(Vec::new());
/// Their number.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// True while this thread delivers events.
    static DELIVERING: Cell<bool> = const { Cell::new(false) };
}

/// A callback. Its last argument has a bit for each filter that the event passed, the first filter
/// at bit 0.
type See = Box<dyn FnMut(&Store, &Event, u64) + Send>;

/// A subscription.
struct Inner {
    /// The profiler's scope; its filter is not used.
    scope: Scope,
    /// At most 64.
    filters: Vec<Filter>,
    see: Mutex<See>,
    /// The process that it belongs to: a forked child has none of its parent's.
    process: u32,
    ended: AtomicBool,
}

/// A subscription, until it is dropped; see [`crate::Installed::watch`].
#[must_use = "dropping it ends the subscription"]
pub struct Subscription(Arc<Inner>);

impl Subscription {
    /// Calls `see` once for each event in `scope` that matches a filter (at most 64). Within a
    /// batch, events come in the order of their ends; batches come in the order in which they were
    /// read. `see` runs on the collector's thread, or on the one that ends the subscription.
    pub(crate) fn begin(
        scope: Scope,
        filters: Vec<Filter>,
        see: impl FnMut(&Store, &Event, u64) + Send + 'static,
    ) -> Self {
        let see = Mutex::new(Box::new(see) as See);
        let ended = AtomicBool::new(false);
        let watch = Arc::new(Inner { scope, filters, see, process: std::process::id(), ended });
        recorder::listen(Module::Subscriptions, &Subscriptions);
        // Events that have ended belong to the earlier subscriptions.
        catch_up();
        let mut all = lock(&ALL);
        all.retain(|other| other.process == watch.process);
        all.push(watch.clone());
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        if let Some(log) = recorder::current() {
            log.begin_reading();
        }
        Subscription(watch)
    }

    /// Events that no subscription received, because they began while 65,536 others ran. The number
    /// is that of the process.
    pub fn undelivered(&self) -> u64 {
        recorder::current().map_or(0, |log| log.unwatched())
    }

    /// Delivers everything that has ended by now.
    pub fn catch_up(&self) {
        catch_up();
    }
}

fn catch_up() {
    if let Some(log) = recorder::current()
        && !DELIVERING.get()
    {
        while log.read_on() {
            deliver(log);
        }
        deliver(log);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.0.process != std::process::id() {
            // A thread of the parent may run the callback, and is gone here.
            return;
        }
        self.catch_up();
        self.0.ended.store(true, Ordering::Release);
        let mut all = lock(&ALL);
        all.retain(|watch| !Arc::ptr_eq(watch, &self.0));
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        if !DELIVERING.get() {
            // Waits for a callback that runs. None starts after this.
            drop(lock_for_long(&self.0.see));
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").finish_non_exhaustive()
    }
}

/// Lets the collector read events while there is a subscription.
struct Subscriptions;

impl Listener for Subscriptions {
    fn forked(&self) {
        COUNT.store(0, Ordering::Release);
    }

    fn wants_events(&self) -> bool {
        COUNT.load(Ordering::Acquire) != 0
    }

    fn round_ended(&self, log: &Log) {
        deliver(log);
    }
}

/// Delivers the events that were read.
fn deliver(log: &Log) {
    if DELIVERING.get() {
        return;
    }
    let _turn = lock_for_long(&log.delivering);
    let Some((fed, store)) = log.take_read().filter(|(fed, _)| !fed.is_empty()) else { return };
    let _delivering = Delivering::begin();
    let all = lock(&ALL).clone();
    for subscription in all.iter().filter(|subscription| subscription.process == std::process::id())
    {
        subscription.deliver(&store, &fed);
    }
}

struct Delivering;

impl Delivering {
    fn begin() -> Self {
        DELIVERING.set(true);
        Delivering
    }
}

impl Drop for Delivering {
    fn drop(&mut self) {
        let _ = DELIVERING.try_with(|telling| telling.set(false));
    }
}

impl Inner {
    fn deliver(&self, store: &Store, fed: &[LiveEvent]) {
        let mut see = lock_for_long(&self.see);
        let levels = if self.scope.meta { 0..=3 } else { 0..=0 };
        let mut matchers: Vec<(Matcher, Memory)> = self
            .filters
            .iter()
            .map(|filter| store.compile(filter, levels.clone()).among(self.scope.members.as_ref()))
            .map(|matcher| (matcher.clone(), matcher.memory(store)))
            .collect();
        for LiveEvent { head, slot } in
            fed.iter().filter(|fed| self.scope.epochs.contains(&fed.head.epoch))
        {
            let mut passed = 0;
            for (at, (matcher, memory)) in matchers.iter_mut().enumerate() {
                passed |= u64::from(matcher.matches(store.ring(), head, slot, memory)) << at;
            }
            if passed != 0 && !self.ended.load(Ordering::Acquire) {
                let mut event = head.event(slot);
                if event.outcome == Outcome::Running {
                    event.outcome = Outcome::Moved;
                }
                hook::at_meta_level(|| see(store, &event, passed));
            }
        }
    }
}
