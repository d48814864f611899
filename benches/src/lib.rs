//! What metaspy costs, measured beside its peers.
//!
//! `cargo bench --manifest-path benches/Cargo.toml --bench hooks` prints the table of the README;
//! `papers` repeats the two benchmarks of the MetaSpy paper, `scan` reads a large recording.
//! Numbers of a busy machine mean nothing: each bench interleaves its cases over several rounds and
//! shows how far they spread.

pub mod arming;
pub mod cases;
pub mod check;
pub mod child;
pub mod clock;
pub mod growth;
pub mod instructions;
pub mod live_cost;
pub mod package;
pub mod programs;
pub mod recording;
pub mod report;
pub mod rounds;
pub mod scan;
pub mod stats;
pub mod stress;
pub mod things;
pub mod weaver;
pub mod workload;
