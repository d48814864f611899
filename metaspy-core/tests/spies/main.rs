//! Profilers on the mirror do not change the program that they look at.

#[path = "../common/mod.rs"]
mod common;
mod ends;
#[cfg(unix)]
mod forked;
mod names;
mod on_request;
mod scopes;
mod tables;
mod values;

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use metaspy_core::method_profilers::{MethodProfiler, MethodSpy, Mirror};

use common::{alone, executions, install};

/// What a profiler knows of the method with this name.
fn method<'m, P: MethodProfiler>(mirror: &'m Mirror<P>, name: &str) -> &'m MethodSpy<P> {
    mirror
        .methods()
        .iter()
        .find(|method| method.facts.name == name)
        .unwrap_or_else(|| panic!("{name} is there"))
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
