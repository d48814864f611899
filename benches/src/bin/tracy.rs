//! tracy-client's zone, in a program of its own: its client starts a thread before `main`.
//!
//! Nothing but zones is switched on: no sampling, no system tracing, no broadcast, no call stacks.
//! No server is connected, so the client keeps everything; a part of the time is fresh memory, as
//! it would be for any program that is looked at later.

use metaspy_benches::child::{self, CaseResult, Size, time};
use metaspy_benches::things::Thing;
use metaspy_benches::workload::{Workload, nothing};

/// Few, as each takes memory until the program ends.
const SIZE: Size = Size::of(200_000, 300_000);

#[inline(never)]
fn zone(thing: &mut Thing, by: u64) -> u64 {
    let _zone = tracy_client::span!("zone", 0);
    thing.work(by)
}

fn main() {
    assert_eq!(child::case().as_deref(), Some("tracy"), "the bench `hooks` starts this program");
    let _client = tracy_client::Client::start();
    child::report(&CaseResult::of(time(
        SIZE,
        &mut Workload::new(1_000, 1, Thing::new),
        nothing,
        zone,
    )));
}
