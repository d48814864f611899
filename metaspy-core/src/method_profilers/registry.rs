//! The installed method profilers.

use std::any::Any;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use crate::method_profilers::block::Block;
use crate::method_profilers::call::{Call, CallEnd};
use crate::method_profilers::call_stack::{self, Entry};
use crate::method_profilers::contexts::{self, Tree};
use crate::method_profilers::dispatch::{self, guarded};
use crate::method_profilers::hook_cost;
use crate::method_profilers::method_profiler::{Interest, MethodProfiler};
use crate::method_profilers::mirror::Mirror;
use crate::method_profilers::observer::{Observer, Sight};
use crate::method_profilers::present::{self, Present};
use crate::method_profilers::receivers;
use crate::method_profilers::refusal::{MOST, OtherTree, Refusal, TooManyProfilers};
use crate::method_profilers::spans::Spans;
use crate::method_profilers::table::{self, Table, Tables};
use crate::platform::lock::{Locked, lock};
use crate::platform::readers::Replaced;
use crate::recorder::{self, Listener, Log, Module};
use crate::recording::Recording;

/// Uninstalls a method profiler when it is dropped.
pub(crate) struct Installed(Arc<dyn Observer>);

impl Installed {
    /// The profiler, as hooks see it.
    pub fn observer(&self) -> &Arc<dyn Observer> {
        &self.0
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        let mut registry = lock(&REGISTRY);
        let is_its = |observer: &Arc<dyn Observer>| {
            std::ptr::addr_eq(Arc::as_ptr(observer), Arc::as_ptr(&self.0))
        };
        if let Some(at) = registry.observers.iter().position(is_its) {
            registry.observers.remove(at);
            registry.spans.end(self.0.installation());
        }
        // In a forked child no profiler is called.
        let unused = if present::is_there() { registry.publish() } else { Vec::new() };
        drop(registry);
        drop_all(unused);
        self.0.tables().iter().for_each(|table| table.uninstall());
        if let Some(tree) = self.0.context_tree() {
            tree.end();
        }
    }
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    process: 0,
    observers: Vec::new(),
    spans: Spans::NONE,
    replaced: Vec::new(),
});

struct Registry {
    /// The process of these profilers: a forked child has none of its parent's.
    process: u32,
    observers: Vec<Arc<dyn Observer>>,
    /// Which of them see the calls of others.
    spans: Spans,
    /// The values that hooks read before. A call may still refer to one.
    replaced: Vec<Replaced<Present>>,
}

impl Registry {
    /// An error if the profiler cannot be installed beside the others.
    fn accepts(&self, new: &dyn Observer) -> Result<(), Refusal> {
        if self.observers.len() >= MOST {
            return Err(Refusal::TooMany(TooManyProfilers));
        }
        let has_tree = self.observers.iter().any(|observer| observer.context_tree().is_some());
        if has_tree && new.context_tree().is_some() {
            return Err(Refusal::OtherTree(OtherTree));
        }
        Ok(())
    }

    /// Makes hooks call these profilers. Returns the replaced values that no call refers to any
    /// more, to be dropped without the lock.
    #[must_use]
    fn publish(&mut self) -> Vec<Present> {
        for observer in &self.observers {
            let within = self.spans.of(observer.installation());
            observer.tables().iter().for_each(|table| table.put_within(within));
        }
        self.replaced.extend(dispatch::publish(dispatch::present(&self.observers)));
        Replaced::take_unread(&mut self.replaced, Present::is_unused)
    }
}

/// Drops profilers: their destructors are the program's.
fn drop_all(unused: Vec<Present>) {
    guarded(|| drop(unused));
}

/// Writes the tables of installed profilers into recordings that begin later, and forgets the
/// profilers in forked children.
struct Events;

impl Listener for Events {
    fn replaced(&self, log: &'static Log) {
        table::continue_all(log);
        hook_cost::write(log);
    }

    fn hand_over(&self, log: &'static Log) {
        table::hand_over(log);
    }

    fn forked(&self) {
        dispatch::forget_profilers();
    }

    fn thread_ended(&self) {
        call_stack::end_thread();
        receivers::end_thread();
        contexts::end_thread();
        table::end_thread();
    }
}

/// Installs a profiler on all methods that it selects. Its mirror stays as long as a profile or a
/// call refers to it.
pub(crate) fn install<P: MethodProfiler>(
    mut profiler: P,
    installation: u64,
    block: Option<&Arc<Block>>,
) -> Result<Installed, Refusal> {
    recorder::listen(Module::MethodProfilers, &Events);
    recorder::watch_forks();
    let log = Recording::current()?.log();
    let installation = installation as u32;
    registry_with_room()?.spans.begin(P::NAME, installation, block);
    let mut made = Vec::new();
    let mut tables = Tables { log, profile: P::NAME, installation, made: &mut made };
    let mirror = Mirror::new(&profiler, &mut tables);
    profiler.install(&mut tables);
    let profiler = Arc::new(profiler);
    let mirror = Arc::new(mirror);
    let block = block.cloned();
    let observing = Observing { profiler, mirror, tables: made, installation, block };
    let mut registry = lock(&REGISTRY);
    if let Err(error) = registry.accepts(&observing) {
        registry.spans.end(installation);
        observing.tables.iter().for_each(|table| table.uninstall());
        return Err(error);
    }
    let observer: Arc<dyn Observer> = Arc::new(observing);
    registry.observers.push(Arc::clone(&observer));
    let unused = registry.publish();
    drop(registry);
    drop_all(unused);
    if P::TIMED {
        hook_cost::measure_for(recorder::current().unwrap_or(log));
    }
    Ok(Installed(observer))
}

/// The registry, if there is room for one more profiler.
fn registry_with_room() -> Result<Locked<'static, Registry>, Refusal> {
    let mut registry = lock(&REGISTRY);
    if registry.process != std::process::id() {
        // They belong to the parent, and so does their memory.
        std::mem::forget(std::mem::take(&mut registry.observers));
        std::mem::forget(std::mem::take(&mut registry.replaced));
        registry.spans = Spans::NONE;
        registry.process = std::process::id();
    }
    if registry.observers.len() < MOST {
        Ok(registry)
    } else {
        Err(Refusal::TooMany(TooManyProfilers))
    }
}

/// A profiler and its mirror.
pub(crate) struct Observing<P: MethodProfiler> {
    pub profiler: Arc<P>,
    pub mirror: Arc<Mirror<P>>,
    pub tables: Vec<Arc<Table>>,
    installation: u32,
    block: Option<Arc<Block>>,
}

impl<P: MethodProfiler> Observer for Observing<P> {
    fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    fn installation(&self) -> u32 {
        self.installation
    }

    fn block(&self) -> Option<&Block> {
        self.block.as_deref()
    }

    fn is_interested(&self, site: usize) -> bool {
        self.mirror.at_site(site).is_some()
    }

    fn is_timed(&self) -> bool {
        P::TIMED
    }

    fn sees_only_ends(&self) -> bool {
        P::ONLY_ENDS
    }

    fn callers(&self) -> Option<u32> {
        self.profiler.times()?.number()
    }

    fn context_tree(&self) -> Option<&'static Tree> {
        self.profiler.context_tree().0
    }

    fn before(
        &self,
        entry: &Entry,
        around: &[Entry],
        seen: Sight<'_>,
    ) -> Option<Box<dyn Any + Send>> {
        let spy = self.mirror.at_site(entry.site as usize)?;
        let Sight { test, arguments } = seen;
        let call = Call { entry, around, test, arguments, places: self.mirror.places() };
        let before = || {
            let kept = self.profiler.around(spy, &call);
            self.profiler.before(spy, &call);
            kept
        };
        let kept = if P::TRUSTED { before() } else { guarded(before).flatten() };
        kept.map(|kept| Box::new(kept) as Box<dyn Any + Send>)
    }

    fn settled(
        &self,
        entry: &Entry,
        around: &[Entry],
        test: u32,
    ) -> Option<(Option<&'static AtomicU64>, bool)> {
        if self.block.is_some() {
            return None;
        }
        let spy = self.mirror.at_site(entry.site as usize)?;
        let call = Call { entry, around, test, arguments: &[], places: self.mirror.places() };
        let interest = || self.profiler.interest(spy, &call);
        let interest = if P::TRUSTED { interest() } else { guarded(interest)? };
        let (count, is_of_all) = match interest {
            Interest::Each => return None,
            Interest::OtherObjects(count) => (count, false),
            Interest::Nothing(count) => (count, true),
        };
        match count {
            None => Some((None, is_of_all)),
            Some(count) => Some((Some(count.word()?), is_of_all)),
        }
    }

    fn after(&self, entry: &Entry, around: &[Entry], test: u32, ended: &CallEnd<'_>) {
        if let Some(spy) = self.mirror.at_site(entry.site as usize) {
            let call = Call { entry, around, test, arguments: &[], places: self.mirror.places() };
            let after = || self.profiler.after(spy, &call, ended);
            if P::TRUSTED {
                after();
            } else {
                guarded(after);
            }
        }
    }
}
