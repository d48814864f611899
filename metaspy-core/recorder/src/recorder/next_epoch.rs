//! Begins epochs.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use crate::format::arena::Entry;
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::arena::Draft;
use crate::recorder::boundaries::Boundary;
use crate::recorder::epoch::{EPOCH, epoch};
use crate::recorder::listener;
use crate::recorder::log::current;

/// Epochs begin one after another.
static BEGINNING: Mutex<()> = Mutex::new(());

/// Begins a new epoch that no view distinguishes, and writes the reason into the recording.
pub fn next_epoch(why: &str) {
    let beginning = lock(&BEGINNING);
    begin(epoch() + 1, why);
    drop(beginning);
    listener::epoch_began();
}

/// Begins a new epoch at which a view begins or ends, and writes the reason into the recording.
pub fn next_boundary(why: &str) -> Boundary {
    let beginning = lock(&BEGINNING);
    // First the boundary: whoever sees the epoch does not merge it with the one before.
    let boundary = Boundary::at(epoch() + 1);
    begin(boundary.epoch(), why);
    drop(beginning);
    listener::epoch_began();
    boundary
}

fn begin(epoch: u32, why: &str) {
    EPOCH.store(epoch, Ordering::Release);
    if let Some(log) = current() {
        log.word(sb::EPOCH).store(u64::from(epoch), Ordering::Release);
        log.append(Draft::new(Entry::Epoch, epoch).word(crate::clock::now()).text(why));
    }
}
