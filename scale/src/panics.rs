//! Engines trust the files that they read, so some damage makes them panic. [`caught`] converts
//! such a panic to an error.

use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use futures::FutureExt;

/// Number of running tasks whose panics are caught, on any thread.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// Panic as an error.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine stopped: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Replaces the panic hook by a hook that does not print panics that are caught.
pub fn quiet_if_caught() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if CAUGHT.load(Ordering::Relaxed) == 0 {
            print(panic);
        }
    }));
}

/// Runs work that reads files. A panic of the work becomes an error.
pub async fn caught<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let _catching = Catching::begin();
    // The work is dropped after a panic, so none of its state is used again.
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    ended.unwrap_or_else(|panic| Err(Panicked(text(&*panic)).into()))
}

/// Guard that counts one such task until it is dropped.
struct Catching;

impl Catching {
    fn begin() -> Self {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
        Catching
    }
}

impl Drop for Catching {
    fn drop(&mut self) {
        CAUGHT.fetch_sub(1, Ordering::Relaxed);
    }
}

fn text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked".to_owned())
}
