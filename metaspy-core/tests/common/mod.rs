//! What the tests of method profilers share.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard};

use metaspy_core::method_profilers::{MethodProfiler, Mirror};
use metaspy_core::{Installed, Profile, Profiler};

/// A lock: one test at a time observes the sites of this process.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A method profiler that is the only one of its profiler.
pub struct Only<P>(Installed, PhantomData<P>);

/// Installs a method profiler.
pub fn install<P: MethodProfiler>(profiler: P) -> Only<P> {
    let profiler = Profiler::new(P::NAME).method_profiler(profiler);
    Only(profiler.install().expect("there is room"), PhantomData)
}

#[allow(dead_code)]
impl<P: MethodProfiler> Only<P> {
    pub fn mirror(&self) -> Arc<Mirror<P>> {
        self.0.so_far().mirror().expect("it is installed")
    }

    pub fn profiler(&self) -> Arc<P> {
        self.0.so_far().method_profiler().expect("it is installed")
    }

    pub fn uninstall(self) -> (Profile, Arc<Mirror<P>>) {
        let mirror = self.mirror();
        (self.0.uninstall(), mirror)
    }
}

/// How often a method ran.
pub fn executions(profile: &Profile, path: &str) -> u64 {
    profile.counts().by_site().at(path).map_or(0, |row| row.measure.count)
}
