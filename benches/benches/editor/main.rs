//! What the editor's numbers cost: the table of *Augmenting Static Source Views in IDEs with Dynamic Metrics* (section 4.3).
//! The time with the shadow stack, with the tree of calling contexts and with counts of objects, over the plain time, for
//! twelve published crates.
//!
//! `--rounds N` (9), `--crates heck,taffy` (all), `--cpu` (by processor time), `--smoke`; `--weaver PATH` is a `cargo-metaspy`
//! in place of the one of this repository.

mod contexts;

use std::path::PathBuf;

use metaspy_benches::child;
use metaspy_benches::weaver::weaver;

fn main() {
    let command = child::option("--weaver").map_or_else(weaver, PathBuf::from);
    contexts::measure(&command);
}
