//! Engines trust the files that they read: some damage makes them panic. [`caught`] makes an error
//! of it.

use std::any::Any;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use futures::FutureExt;

/// The number of works whose panics are caught, on whatever threads these run.
static CAUGHT: AtomicUsize = AtomicUsize::new(0);

/// A panic as an error.
#[derive(Debug)]
struct Panicked(String);

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the engine stopped: {}", self.0)
    }
}

impl std::error::Error for Panicked {}

/// Prints no panic that is caught.
pub fn quiet_if_caught() {
    let print = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if CAUGHT.load(Ordering::Relaxed) == 0 {
            print(panic);
        }
    }));
}

/// Runs something that reads files. Its panic becomes an error.
pub async fn caught<T>(work: impl Future<Output = Result<T>>) -> Result<T> {
    let _catching = Catching::begin();
    // What panics is dropped, and nothing of it is used again.
    let ended = AssertUnwindSafe(work).catch_unwind().await;
    ended.unwrap_or_else(|panic| Err(Panicked(text(&*panic)).into()))
}

/// Counts one work until it is dropped.
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
