//! Work on many items by several threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Threads at most. More threads do not make memory faster.
const THREADS_MAX: usize = 16;
/// Chunks that justify one more thread.
const CHUNKS_PER_THREAD: usize = 16;

/// The number of threads for a scan of `chunks` chunks.
pub fn threads_for(chunks: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    cores.min(THREADS_MAX).min(chunks / CHUNKS_PER_THREAD).max(1)
}

/// Calls `work` with each item, on `threads` threads. Each thread has a state of its own; the states are returned.
pub fn each<T: Sync, A: Send>(
    items: &[T],
    threads: usize,
    state: impl Fn() -> A + Sync,
    work: impl Fn(&mut A, &T) + Sync,
) -> Vec<A> {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut own = state();
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            work(&mut own, item);
        }
        own
    };
    if threads <= 1 {
        return vec![run()];
    }
    thread::scope(|scope| {
        // If the system refuses a thread, the others do its work.
        let others: Vec<_> =
            (1..threads).filter_map(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let mut states = vec![run()];
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
    use super::*;

    #[test]
    fn every_item_is_worked_on_once_by_some_thread() {
        let items: Vec<u64> = (0..1_000).collect();
        for threads in [1, 4] {
            let sums = each(&items, threads, || 0, |sum, item| *sum += item);
            assert_eq!(sums.iter().sum::<u64>(), 499_500);
        }
    }
}
