//! Threads that know why they were started.

use std::io;
use std::panic::Location;
use std::thread::{self, JoinHandle};

use super::name;
use super::work::observed;

/// As [`std::thread::spawn`]: what the thread does has the event as its cause that this one is in now. The thread is an
/// event at the site `FUNCTION::thread`.
#[track_caller]
pub fn spawn<F, T>(work: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    thread::spawn(observed(work, name::of_type::<F>("thread", Location::caller())))
}

/// As [`std::thread::Builder::spawn`], likewise.
#[track_caller]
pub fn build<F, T>(builder: thread::Builder, work: F) -> io::Result<JoinHandle<T>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    builder.spawn(observed(work, name::of_type::<F>("thread", Location::caller())))
}
