//! Profilers on the mirror do not change the program that they look at.

mod asked;
mod ends;
#[cfg(unix)]
mod forked;
mod names;
mod tables;
mod values;

use std::future::Future;
use std::marker::PhantomData;
use std::pin::{Pin, pin};
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use metaspy_core::method_profilers::{MethodProfiler, MethodSpy, Mirror};
use metaspy_core::{Installed, Profile, Profiler};

/// Who looks at the sites of this process is one thing at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What a profiler knows of the method with this name.
fn method<'m, P: MethodProfiler>(mirror: &'m Mirror<P>, name: &str) -> &'m MethodSpy<P> {
    mirror.methods().iter().find(|method| method.facts.name == name).unwrap_or_else(|| panic!("{name} is there"))
}

/// Is pending once.
struct Pause(bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Polls a future until it is done.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// A method profiler that is installed alone.
struct Only<P>(Installed, PhantomData<P>);

fn install<P: MethodProfiler>(profiler: P) -> Only<P> {
    let profiler = Profiler::new(P::NAME).method_profiler(profiler);
    Only(profiler.install().expect("there is room"), PhantomData)
}

#[allow(dead_code)]
impl<P: MethodProfiler> Only<P> {
    fn mirror(&self) -> &'static Mirror<P> {
        self.0.so_far().mirror().expect("it is installed")
    }

    fn profiler(&self) -> &'static P {
        self.0.so_far().method_profiler().expect("it is installed")
    }

    fn uninstall(self) -> (Profile, &'static Mirror<P>) {
        let mirror = self.mirror();
        (self.0.uninstall(), mirror)
    }
}

/// How often a method ran.
fn executions(profile: &Profile, path: &str) -> u64 {
    profile.counts().by_site().at(path).map_or(0, |row| row.measure.count)
}
