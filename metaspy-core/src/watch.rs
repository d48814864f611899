//! Watching while it happens: who is told of events, and by whom.
//!
//! The collector reads every event once, after it has ended, and tells those who watch. Hooks know nothing of it, and
//! never wait.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::event::{Event, Outcome};
use crate::hook;
use crate::platform::lock::lock;
use crate::recorder::{self, Listener, LiveEvent, Log, Module};
use crate::store::matcher::{Matcher, Memory};
use crate::store::{Filter, Scope, Store};

/// Who watches.
static ALL: Mutex<Vec<Arc<Watch>>> = Mutex::new(Vec::new());
/// How many there are.
static COUNT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// This thread is telling somebody.
    static TELLING: Cell<bool> = const { Cell::new(false) };
}

/// What is done with an event; and which of the filters it passed, the first one at bit 0.
type See = Box<dyn FnMut(&Store, &Event, u64) + Send>;

/// Somebody who watches.
struct Watch {
    /// Of its filter only the others hold.
    scope: Scope,
    /// At most 64.
    filters: Vec<Filter>,
    see: Mutex<See>,
    ended: AtomicBool,
}

/// Watches until it is dropped; see [`crate::Installed::watch`].
#[must_use = "dropping it ends the watching"]
pub struct Watching(Arc<Watch>);

impl Watching {
    /// `see` is told of each event of the scope that passes one of at most 64 filters, once, in the order in which they
    /// ended; in that of their reading where a reading came between. It runs on the collector's thread, or on the one that
    /// ends the watching.
    pub(crate) fn begin(
        scope: Scope,
        filters: Vec<Filter>,
        see: impl FnMut(&Store, &Event, u64) + Send + 'static,
    ) -> Self {
        let (see, ended) = (Mutex::new(Box::new(see) as See), AtomicBool::new(false));
        let watch = Arc::new(Watch { scope, filters, see, ended });
        recorder::listen(Module::Subscriptions, &Subscriptions);
        // What ended before is for those who watched before.
        catch_up();
        let mut all = lock(&ALL);
        all.push(watch.clone());
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        if let Some(log) = recorder::current() {
            log.begin_reading();
        }
        Watching(watch)
    }

    /// Events that nobody who watches was told of, of whatever profiler: those that began while 65,536 others ran.
    pub fn untold(&self) -> u64 {
        recorder::current().map_or(0, |log| log.unwatched())
    }

    /// Tells what has ended until now, so that nothing of it is missed.
    pub fn catch_up(&self) {
        catch_up();
    }
}

fn catch_up() {
    if let Some(log) = recorder::current()
        && !TELLING.get()
    {
        while log.read_on() {
            tell(log);
        }
        tell(log);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.catch_up();
        self.0.ended.store(true, Ordering::Release);
        let mut all = lock(&ALL);
        all.retain(|watch| !Arc::ptr_eq(watch, &self.0));
        COUNT.store(all.len(), Ordering::Release);
        drop(all);
        if !TELLING.get() {
            // Whoever is being told is waited for: after this nothing starts.
            drop(lock(&self.0.see));
        }
    }
}

impl fmt::Debug for Watching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watching").finish_non_exhaustive()
    }
}

/// Lets the collector read events while there is a subscription.
struct Subscriptions;

impl Listener for Subscriptions {
    fn wants_events(&self) -> bool {
        COUNT.load(Ordering::Acquire) != 0
    }

    fn round_ended(&self, log: &Log) {
        tell(log);
    }
}

/// Tells everybody what was read.
fn tell(log: &Log) {
    // One after the other, so that each is told in the order of the reading.
    static TURN: Mutex<()> = Mutex::new(());
    if TELLING.get() {
        return;
    }
    let _turn = lock(&TURN);
    let Some((fed, store)) = log.take_read().filter(|(fed, _)| !fed.is_empty()) else { return };
    let _telling = Telling::begin();
    let all = lock(&ALL).clone();
    for watch in all {
        watch.tell(&store, &fed);
    }
}

struct Telling;

impl Telling {
    fn begin() -> Self {
        TELLING.set(true);
        Telling
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        let _ = TELLING.try_with(|telling| telling.set(false));
    }
}

impl Watch {
    fn tell(&self, store: &Store, fed: &[LiveEvent]) {
        let mut see = lock(&self.see);
        let levels = if self.scope.meta { 0..=3 } else { 0..=0 };
        let compiled = |filter| store.compile(filter, levels.clone()).among(self.scope.members.as_ref());
        let mut matchers: Vec<(Matcher, Memory)> =
            self.filters.iter().map(compiled).map(|matcher| (matcher.clone(), matcher.memory())).collect();
        for LiveEvent { head, slot } in fed.iter().filter(|fed| self.scope.epochs.contains(&fed.head.epoch)) {
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
