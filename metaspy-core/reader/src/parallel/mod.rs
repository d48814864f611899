//! Work on many items by several threads.

pub(crate) mod interrupt;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::platform::own_thread::without_signals;

pub(crate) use interrupt::is_interrupted;

/// Maximum number of threads. More threads do not make memory faster.
const THREADS_MAX: usize = 16;
/// Number of chunks that justify a further thread.
const CHUNKS_PER_THREAD: usize = 16;

/// Returns the number of threads for a scan of `chunks` chunks.
pub(crate) fn threads_for(chunks: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.min(THREADS_MAX).min(chunks / CHUNKS_PER_THREAD).max(1)
}

/// Calls `work` with each item, on `threads` threads. Each thread has its own state, and all states
/// are returned. They lack items if the read is interrupted.
pub fn each<T: Sync, A: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) + Sync,
) -> Vec<A> {
    each_watched(items, threads, state, work, &|_| true)
}

/// Calls `work` like [`each`]. The calling thread passes the number of each of its items to `watch`
/// before it works on it. If `watch` returns false, the work stops, and the states lack the
/// remaining items.
pub(crate) fn each_watched<T: Sync, A: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) + Sync,
    watch: &dyn Fn(usize) -> bool,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let take = || next.fetch_add(1, Ordering::Relaxed);
    let run_watched = |watch: &dyn Fn(usize) -> bool| {
        let mut own = state();
        let mut at = take();
        while let Some(item) = items.get(at) {
            if !watch(at) || interrupt::is_interrupted() {
                next.store(items.len(), Ordering::Relaxed);
                break;
            }
            work(&mut own, item);
            at = take();
        }
        own
    };
    if threads <= 1 {
        return vec![run_watched(watch)];
    }
    let read = interrupt::current();
    let run = |read| interrupt::within(read, || run_watched(&|_| true));
    thread::scope(|scope| {
        // If the system refuses a thread, the others do its work.
        let spawn = |_| {
            let read = read.clone();
            thread::Builder::new().spawn_scoped(scope, || run(read)).ok()
        };
        let others: Vec<_> = without_signals(|| (1..threads).filter_map(spawn).collect());
        let mut states = vec![run_watched(watch)];
        for other in others {
            match other.join() {
                Ok(state) => states.push(state),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        states
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_stops_when_it_is_watched_and_the_watcher_returns_false() {
        // The other threads need half a minute for all items, so the calling thread has its turn
        // before they are done.
        let items: Vec<u64> = (0..100_000).collect();
        let work = |count: &mut usize, _: &u64| {
            *count += 1;
            thread::sleep(Duration::from_millis(1));
        };
        for threads in [1, 4] {
            let worked = each_watched(&items, threads, || 0, work, &|_| false);
            assert!(worked[0] == 0 && worked.iter().sum::<usize>() < items.len(), "{worked:?}");
        }
    }

    #[test]
    fn every_item_is_worked_on_once_by_some_thread() {
        let items: Vec<u64> = (0..1_000).collect();
        for threads in [1, 4] {
            let sums = each(&items, threads, || 0, |sum, item| *sum += item);
            assert_eq!(sums.iter().sum::<u64>(), 499_500);
        }
    }
}
