//! A grammar that is data is run as it is.

use metaspy::productions::pest::{Grammar, GrammarError, Source, Suite};
use metaspy::productions::{Role, State};

/// Parses the inputs, and reports what they exercised of one of the grammars in
/// `examples/grammars`.
pub fn report(name: &str, rule: &str, inputs: &[(String, String)]) -> Result<(), GrammarError> {
    let text = match name {
        "toml" => include_str!("../grammars/toml.pest"),
        "json" => include_str!("../grammars/json.pest"),
        _ => include_str!("../grammars/pest.pest"),
    };
    let file = format!("{name}.pest");
    let grammar = Grammar::new(&[Source { name: file.clone(), text: text.into() }], rule)?;
    let mut suite = Suite::new(&grammar);
    for (name, text) in inputs {
        suite.parse(name.clone(), text);
    }
    suite.explain(|input| Some(inputs[input].1.clone()));

    let coverage = suite.coverage();
    let (accepted, rejected) = (coverage.accepted_inputs(), coverage.rejected_inputs());
    println!("# {file}: {} inputs, {accepted} accepted, {rejected} rejected\n", inputs.len());
    let rows = grammar.productions().iter().zip(&coverage.productions);
    for (production, row) in rows.filter(|(production, _)| production.role == Role::InUse) {
        let all = row.all();
        let state = match row.state() {
            State::Matched => "",
            State::NeverMatched => "NEVER MATCHED",
            State::NeverEntered => "NEVER ENTERED",
        };
        println!(
            "{:<22} {:>8} entered {:>8} matched  {state}",
            production.name, all.entered, all.matched
        );
    }
    println!();
    for (alternative, shadow) in grammar.alternatives().iter().zip(&coverage.shadows) {
        let Some(shadow) = shadow else { continue };
        let production = &grammar.productions()[alternative.production];
        println!(
            "`{}` in `{}` ({file}:{}) never matches:\n  {}.\n",
            alternative.text,
            production.name,
            production.lines.0,
            coverage.sentence(shadow, grammar.alternatives()),
        );
    }
    Ok(())
}
