//! Tests that take turns, each with a recording of its own: limits, exact totals, failures,
//! channels.
#![cfg(feature = "record")]

mod announcements;
#[path = "../common/mod.rs"]
mod common;
mod edge_cases;
mod faults;
mod here;
mod invariants;
mod limits;
mod live;
mod tally_mode;
mod triggers;

use std::sync::MutexGuard;

use metaspy::Recording;

/// Waits for the other tests, and starts a recording. There is one log per process.
fn turn() -> MutexGuard<'static, ()> {
    let turn = common::turn();
    Recording::memory().budget(64 << 20).start().expect("there are 64 MiB");
    turn
}
