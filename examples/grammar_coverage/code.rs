//! A grammar that is code gets names.

use std::error::Error;

use metaspy::prelude::*;
use metaspy::productions::winnow::ParserExt;
use metaspy::{production, productions};
use winnow::ascii::{float, multispace0};
use winnow::combinator::{alt, cut_err, delimited, repeat, separated, separated_pair};
use winnow::token::{any, none_of};
use winnow::{ModalResult, Parser};

/// Parses the inputs, and reports what they exercised of the parser below.
pub fn report(inputs: &[(String, String)]) -> Result<(), Box<dyn Error>> {
    let profiler =
        Profiler::new("json").observe(productions("code::*").mode(Mode::Tally)).install()?;
    let accepted = inputs.iter().filter(|(_, text)| value.parse(text).is_ok()).count();
    let profile = profiler.uninstall();
    let counts = profile.counts().by_site();

    println!(
        "# JSON in winnow: {} inputs, {accepted} accepted, {} rejected\n",
        inputs.len(),
        inputs.len() - accepted
    );
    let sites = metaspy::instrumenter::entries().into_iter().map(|entry| entry.site);
    for production in sites.filter(|site| site.path().contains("::code::")) {
        let measure = counts.at(&production.path()).map(|row| row.measure).unwrap_or_default();
        let matched = measure.count - measure.failed;
        let state = match (measure.count, matched) {
            (0, _) => "NEVER ENTERED",
            (_, 0) => "NEVER MATCHED",
            _ => "",
        };
        println!(
            "{:<22} {:>8} entered {matched:>8} matched  {state}",
            production.def().name,
            measure.count
        );
    }
    Ok(())
}

fn value(input: &mut &str) -> ModalResult<()> {
    let string = string.spied(production!("string"));
    let number = float.map(|_: f64| ()).spied(production!("number"));
    let word = alt(("true", "false", "null")).void().spied(production!("word"));
    let value = alt((string, number, word, array, object)).spied(production!("value"));
    delimited(multispace0, value, multispace0).parse_next(input)
}

fn array(input: &mut &str) -> ModalResult<()> {
    let values = alt((separated(1.., value, ','), multispace0.void()));
    delimited('[', values, cut_err(']')).spied(production!("array")).parse_next(input)
}

fn object(input: &mut &str) -> ModalResult<()> {
    let key = delimited(multispace0, string, multispace0);
    let member = separated_pair(key, cut_err(':'), value).void().spied(production!("member"));
    let members = alt((separated(1.., member, ','), multispace0.void()));
    delimited('{', members, cut_err('}')).spied(production!("object")).parse_next(input)
}

fn string(input: &mut &str) -> ModalResult<()> {
    let escape = ('\\', any).void().spied(production!("escape"));
    let plain = none_of(['"', '\\']).void();
    delimited('"', repeat(0.., alt((plain, escape))), cut_err('"')).parse_next(input)
}
