//! Tests that compare the machine with pest's own parsers.

mod coverage;
mod same_as_pest;

use super::{Grammar, Limits, Source, Suite};
use crate::productions::Verdict;

/// Reads a grammar from a single text.
pub(super) fn grammar(text: &str, start: &str) -> Grammar {
    let source = Source { name: "test.pest".into(), text: text.into() };
    Grammar::new(&[source], start).unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a suite of these inputs, whose names are their texts.
pub(super) fn suite<'g>(grammar: &'g Grammar, inputs: &[&str]) -> Suite<'g> {
    let mut suite = Suite::new(grammar);
    for input in inputs {
        suite.parse((*input).into(), input);
    }
    suite
}

/// Returns the verdict on a single input.
pub(super) fn verdict(grammar: &Grammar, limits: Limits, input: &str) -> Verdict {
    let mut suite = Suite::new(grammar).with_limits(limits);
    suite.parse("it".into(), input);
    suite.coverage().inputs[0].verdict.clone()
}

/// Returns the text of a grammar that another package ships.
pub(super) fn shipped(name: &str) -> &'static str {
    match name {
        "toml" => include_str!("../../../../../examples/grammars/toml.pest"),
        "json" => include_str!("../../../../../examples/grammars/json.pest"),
        "pest" => include_str!("../../../../../examples/grammars/pest.pest"),
        _ => panic!("no grammar {name}"),
    }
}
