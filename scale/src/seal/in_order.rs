//! Pieces of a file that several threads make, and that are written in their order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::Result;

/// Threads that make pieces. Each takes some 60 MB.
const THREADS: usize = 2;

/// Makes pieces by number, and passes them on in order. Stops at the first error.
pub fn in_order<T: Send>(
    pieces: usize,
    make: impl Fn(usize) -> Result<T> + Sync,
    mut each: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let next = &AtomicUsize::new(0);
    let make = &make;
    // At most one finished piece of each thread waits.
    let (send, receive) = mpsc::sync_channel(THREADS);
    thread::scope(|scope| {
        for _ in 0..THREADS.min(pieces) {
            let send = send.clone();
            scope.spawn(move || {
                loop {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces || send.send((piece, make(piece))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        // The receiver is dropped at an error, and the threads end.
        for (piece, made) in receive {
            waiting.insert(piece, made);
            while let Some(made) = waiting.remove(&expected) {
                each(made?)?;
                expected += 1;
            }
        }
        Ok(())
    })
}
