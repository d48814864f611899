//! The machine beside pest's own.

mod coverage;
mod same_as_pest;

use super::{Grammar, Limits, Source, Suite};
use crate::productions::Verdict;

/// A grammar in one file.
pub(super) fn grammar(text: &str, start: &str) -> Grammar {
    let source = Source { name: "test.pest".into(), text: text.into() };
    Grammar::new(&[source], start).unwrap_or_else(|error| panic!("{error}"))
}

/// A suite with these inputs; each is its own name.
pub(super) fn suite<'g>(grammar: &'g Grammar, inputs: &[&str]) -> Suite<'g> {
    let mut suite = Suite::new(grammar);
    for input in inputs {
        suite.parse((*input).into(), input);
    }
    suite
}

/// What became of the only input.
pub(super) fn verdict(grammar: &Grammar, limits: Limits, input: &str) -> Verdict {
    let mut suite = Suite::new(grammar).with_limits(limits);
    suite.parse("it".into(), input);
    suite.coverage().inputs[0].verdict.clone()
}

/// The text of a grammar that another package ships.
pub(super) fn shipped(name: &str) -> &'static str {
    match name {
        "toml" => include_str!("../../../../../examples/grammars/toml.pest"),
        "json" => include_str!("../../../../../examples/grammars/json.pest"),
        "pest" => include_str!("../../../../../examples/grammars/pest.pest"),
        _ => panic!("no grammar {name}"),
    }
}
