//! Reads that end early because nobody waits for their result any more.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static READ: RefCell<Option<Interruptible>> = const { RefCell::new(None) };
}

/// State of a call of [`interruptible`], which the threads of its scans share.
#[derive(Clone)]
pub(super) struct Interruptible {
    goes_on: Arc<dyn Fn() -> bool + Send + Sync>,
    is_interrupted: Arc<AtomicBool>,
}

/// Calls `read`, whose scans ask `goes_on` between chunks. If it returns false, they end early, and
/// the result is `None`.
///
/// ```no_run
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
/// use metaspy_reader::{By, Scope, Store, interruptible};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open("run.spy".as_ref())?;
/// let began = Instant::now();
/// let in_time = Arc::new(move || began.elapsed() < Duration::from_secs(1));
/// match interruptible(in_time, || store.tally(By::Site, &Scope::default())) {
///     Some(tally) => println!("{} sites", tally.rows.len()),
///     None => println!("the recording is too large for a second"),
/// }
/// # Ok(())
/// # }
/// ```
pub fn interruptible<T>(
    goes_on: Arc<dyn Fn() -> bool + Send + Sync>,
    read: impl FnOnce() -> T,
) -> Option<T> {
    let own = Interruptible { goes_on, is_interrupted: Arc::default() };
    let result = within(Some(own.clone()), read);
    (!own.is_interrupted.load(Ordering::Relaxed)).then_some(result)
}

/// Returns true if the read of this thread is interrupted. What it has read is then incomplete, and
/// must not be kept.
pub(crate) fn is_interrupted() -> bool {
    READ.with_borrow(|read| {
        read.as_ref().is_some_and(|read| {
            let is_interrupted = read.is_interrupted.load(Ordering::Relaxed) || !(read.goes_on)();
            if is_interrupted {
                read.is_interrupted.store(true, Ordering::Relaxed);
            }
            is_interrupted
        })
    })
}

/// Returns the read of this thread, for the other threads of a scan.
pub(super) fn current() -> Option<Interruptible> {
    READ.with_borrow(Clone::clone)
}

/// Calls `work` as a part of a read.
pub(super) fn within<T>(read: Option<Interruptible>, work: impl FnOnce() -> T) -> T {
    struct Restored(Option<Interruptible>);
    impl Drop for Restored {
        fn drop(&mut self) {
            READ.set(self.0.take());
        }
    }
    let _restored = Restored(READ.replace(read));
    work()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use crate::parallel;

    #[test]
    fn the_threads_of_a_scan_end_when_the_read_is_interrupted() {
        let items: Vec<usize> = (0..10_000).collect();
        for threads in [1, 4] {
            let asked = Arc::new(AtomicUsize::new(0));
            let worked = AtomicUsize::new(0);
            let counting = asked.clone();
            let goes_on = Arc::new(move || counting.fetch_add(1, Ordering::Relaxed) < 100);
            let scan = || {
                parallel::each(
                    &items,
                    threads,
                    || (),
                    |(), _| _ = worked.fetch_add(1, Ordering::Relaxed),
                )
            };
            assert!(interruptible(goes_on, scan).is_none());
            assert_eq!(worked.load(Ordering::Relaxed), 100);
            // The next read of the thread is another one.
            scan();
            assert!(!is_interrupted() && worked.load(Ordering::Relaxed) == 10_100);
        }
    }
}
