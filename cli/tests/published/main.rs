//! The test suites of published crates of five kinds, plain and woven, lightly and deeply: the same
//! tests pass, and the functions that ran are those that the compiler's own coverage names.
//!
//! A small one always; all with `METASPY_LONG=1` in the environment, as that takes half an hour and
//! needs a network. `METASPY_PUBLISHED` names some of the crates. The comparison with coverage
//! needs `llvm-profdata` and `llvm-cov`, of a version that reads what the compiler writes, in
//! `METASPY_LLVM` or on the path.

mod coverage;
mod crates;

use std::collections::{BTreeMap, BTreeSet};

use crates::Copy;
use serde_json::Value;

/// A layout engine, a parser, a serializer, an async service, and a library of graphs.
const LARGE: [&str; 5] = ["taffy", "winnow", "serde_json", "mini-redis", "petgraph"];

/// A library without dependencies, whose source is at hand wherever metaspy was built.
const SMALL: &str = "heck";

/// Where a function stands, and how often it ran.
type Ran = BTreeMap<(String, u64), u64>;

#[test]
fn their_test_suites_do_as_they_did() {
    for name in wanted() {
        let copy = Copy::of(name);
        let selector = format!("{}::**", name.replace('-', "_"));
        let plain = copy.test(&["test", "--lib", "--tests"]);
        assert!(!plain.is_empty(), "{name} has tests");
        let (light, json) = copy.woven_test(&["--weave", &selector]);
        assert_eq!(light, plain, "{name}, light");
        let (deep, deep_json) = copy.woven_test(&["--weave", &selector, "--returns", "--args"]);
        assert_eq!(deep, plain, "{name}, deep");
        let (light, deep) = (ran(&json), ran(&deep_json));
        let left = |json: &Value, list: &str| json[list].as_array().map_or(0, Vec::len);
        println!(
            "{name} {}: {} tests, {} methods, {} ran; deep: {} seen less of, {} without a hook; constant: {}",
            copy.version,
            plain.len(),
            light.len(),
            light.values().filter(|count| **count > 0).count(),
            left(&deep_json, "light"),
            left(&deep_json, "skipped"),
            deep_json["constant"]
                .as_array()
                .into_iter()
                .flatten()
                .map(constant)
                .collect::<Vec<_>>()
                .join(", "),
        );
        assert_eq!(executed(&light), executed(&deep), "{name}: the same functions ran");
        match coverage::of(&copy) {
            None => println!("  not compared with coverage: no LLVM tools that read it"),
            Some(covered) => compare(name, &light, &covered),
        }
    }
}

/// The crates to test.
fn wanted() -> Vec<&'static str> {
    if std::env::var_os("METASPY_LONG").is_none() {
        println!(
            "SKIPPED: published-suites: only {SMALL} is tested; METASPY_LONG=1 runs the suites of {}",
            LARGE.join(", ")
        );
        return vec![SMALL];
    }
    let only = std::env::var("METASPY_PUBLISHED").unwrap_or_default();
    let is_wanted = |name: &&str| only.is_empty() || only.split(',').any(|it| it == *name);
    [SMALL].into_iter().chain(LARGE).filter(is_wanted).collect()
}

fn constant(package: &Value) -> String {
    let count = package["methods"].as_array().map_or(0, Vec::len);
    format!("{count} of {}, {} not comparable", package["of"], package["not_comparable"])
}

/// The functions that were in a program, and their executions.
fn ran(json: &Value) -> Ran {
    let methods = json["methods"].as_array().expect("there is a list").iter();
    let mut ran = Ran::new();
    for method in methods {
        let place = (
            method["file"].as_str().unwrap_or_default().to_owned(),
            method["line"].as_u64().unwrap_or_default(),
        );
        *ran.entry(place).or_default() += method["executions"].as_u64().unwrap_or_default();
    }
    ran
}

fn executed(ran: &Ran) -> BTreeSet<&(String, u64)> {
    ran.iter().filter(|(_, count)| **count > 0).map(|(place, _)| place).collect()
}

fn compare(name: &str, woven: &Ran, covered: &Ran) {
    let both: Vec<&(String, u64)> =
        woven.keys().filter(|place| covered.contains_key(*place)).collect();
    let differing: Vec<_> =
        both.iter().filter(|place| (woven[**place] > 0) != (covered[**place] > 0)).collect();
    let equal = both.iter().filter(|place| woven[**place] == covered[**place]).count();
    println!(
        "  {} functions known to both: {} differ in whether they ran, {equal} have equal counts",
        both.len(),
        differing.len()
    );
    assert!(differing.is_empty(), "{name}: {differing:?}");
    // The serializer is also what its own tests depend on, and that copy is not where coverage was
    // asked for.
    assert!(
        both.len() * 10 >= woven.len() * 9 || name == "serde_json",
        "{name}: most are known to both"
    );
}
