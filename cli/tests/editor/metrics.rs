//! Metrics that only some recordings have.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::Client;
use crate::common::schemas::assert_changes_are_noticed;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
pub fn boxes() -> usize {
    let kept: Vec<Box<u64>> = (0..5).map(Box::new).collect();
    kept.len()
}

pub fn spin() -> u64 {
    let mut at = 0;
    while at < 2_000 {
        at += 1;
    }
    at
}

fn main() {
    boxes();
    boxes();
    spin();
}
";

/// The values of `boxes` and `spin`, with the words that a lens has of the first.
fn values(package: &Package, metric: &str) -> (Value, Value, String) {
    let mut client = Client::start(&[package], json!({ "metric": metric, "runs": ["1"] }));
    client.open_file(package, SOURCE);
    client.await_numbers(package);
    let heat = client.about("metaspy/heat", package);
    assert_eq!(heat["metric"], metric);
    let (_, title) = client.lenses(package).remove(0);
    let function = |at: usize| heat["functions"][at]["value"].clone();
    (function(0), function(1), title)
}

#[test]
fn objects_and_bytes_are_metrics_of_a_run_that_counted_them() {
    let package = package("editor_allocations");
    package.metaspy(&["run", "--allocations"]);
    let (boxes, spin, title) = values(&package, "allocations");
    // Each time five boxes, and the vector.
    assert_eq!((boxes, spin), (json!(12.0), json!(0.0)));
    assert!(title.contains(" 12 allocations · 2 calls"), "{title}");
    let (boxes, spin, title) = values(&package, "allocations-per-call");
    assert_eq!((boxes, spin), (json!(6.0), json!(0.0)));
    assert!(title.contains(" 6 allocations a call · 2 calls"), "{title}");
    let (boxes, _, title) = values(&package, "memory");
    assert_eq!(boxes, json!(2.0 * (5 * 8 + 5 * size_of::<usize>()) as f64));
    assert!(title.contains(" 160 B allocated · 2 calls"), "{title}");
    let (_, _, title) = values(&package, "memory-per-call");
    assert!(title.contains(" 80 B allocated a call · 2 calls"), "{title}");
    let (boxes, ..) = values(&package, "instructions");
    assert_eq!(boxes, Value::Null, "they were not counted");
}

#[test]
fn instructions_are_a_metric_of_a_run_with_those_of_callgrind() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: callgrind: valgrind is not installed");
        return;
    }
    let package = package("editor_instructions");
    package.metaspy(&["run"]);
    let mut command = package.clean_command(Path::new(env!("CARGO_BIN_EXE_metaspy")));
    command
        .arg("instructions")
        .arg(package.runs().join("1"))
        .args(["--json=instructions.json", "--"]);
    let output =
        command.args([env!("CARGO_BIN_EXE_cargo-metaspy"), "metaspy", "run", "--offline"]).output();
    let output = output.expect("it was built for this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = std::fs::read(package.dir.join("instructions.json")).expect("it was written");
    let json = serde_json::from_slice(&json).expect("it is JSON");
    assert_changes_are_noticed(&["metaspy", "instructions", "--json"], &json);
    let (_, spin, title) = values(&package, "instructions");
    assert!(spin.as_f64().is_some_and(|count| count > 4_000.0), "{spin}");
    assert!(title.contains(" instructions · 2 calls"), "{title}");
    let (_, each, title) = values(&package, "instructions-per-call");
    assert_eq!(each, spin, "it was called once");
    assert!(title.contains(" instructions a call · 2 calls"), "{title}");
}

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", SOURCE)])
}
