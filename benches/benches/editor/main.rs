//! What the editor's numbers cost: the table of *Augmenting Static Source Views in IDEs with
//! Dynamic Metrics* (section 4.3). The time with the shadow stack, with the tree of calling
//! contexts and with counts of objects, over the plain time, for twelve published crates. And what
//! the language server takes on a workspace of 100,000 lines.
//!
//! `--only server` (or `contexts`), `--rounds N` (9), `--crates heck,taffy` (all), `--cpu` (by
//! processor time), `--smoke`; `--words 'lines>=6'` (further conditions on woven functions);
//! `--weaver PATH` is a `cargo-metaspy` in place of the one of this repository.

mod contexts;
mod server;

use std::path::PathBuf;

use metaspy_benches::child;
use metaspy_benches::weaver::weaver;

fn main() {
    let command = child::option("--weaver").map_or_else(weaver, PathBuf::from);
    let only = child::option("--only");
    let is_wanted = |part: &str| only.as_ref().is_none_or(|only| only == part);
    if is_wanted("server") {
        server::measure(&command);
    }
    if is_wanted("contexts") {
        contexts::measure(&command);
    }
}
