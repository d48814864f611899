//! Draws published crates, and checks that each picture still shows its finding.
//!
//! `cargo run --manifest-path examples/blueprints/Cargo.toml -- target/debug` takes the commands of
//! metaspy from a directory; without an argument they are those on the path. It weaves the programs
//! in `src/bin`, runs them, and writes one page for each into
//! `examples/blueprints/target/pictures`. Each finding is a number of the picture's JSON, so that
//! this program fails if it no longer holds.

mod findings;
mod recorded;

use recorded::Failure;

fn main() -> Result<(), Failure> {
    match findings::all()? {
        0 => Ok(()),
        failed => Err(format!("{failed} findings no longer hold").into()),
    }
}
