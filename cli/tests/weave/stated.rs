//! `metaspy findings` of runs of woven programs: types, tests and returned values.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::common::Package;
use crate::common::schemas::assert_valid;

const MANIFEST: &str = r#"
[package]
name = "stated"
version = "0.1.0"
edition = "2021"

[workspace]
"#;

/// A shape that nobody makes, a parameter for one shape, an area that never changes, and an
/// exporter without a test.
const ART: &str = "
pub trait Shape {
    fn area(&self) -> u64;
}
pub struct Square(pub u64);
pub struct Circle(pub u64);
pub struct Never(pub u64);
impl Shape for Square {
    fn area(&self) -> u64 {
        edge(self.0) * self.0
    }
}
impl Shape for Circle {
    fn area(&self) -> u64 {
        3 * self.0 * self.0
    }
}
impl Shape for Never {
    fn area(&self) -> u64 {
        self.0
    }
}
fn edge(length: u64) -> u64 {
    length
}
pub fn only(shape: &dyn Shape) -> u64 {
    shape.area()
}
pub struct Exporter;
impl Exporter {
    pub fn export(&self, rows: &[u64]) -> u64 {
        let mut sum = 0;
        for row in rows {
            if *row > 3 {
                sum += 1;
            } else if *row > 2 {
                sum += 2;
            }
        }
        sum
    }
}
#[test]
fn areas() {
    let square = Square(4);
    for _ in 0..50 {
        assert_eq!(square.area(), 16);
    }
    assert_eq!(only(&Circle(2)), 12);
}
";

/// The kinds that a search states, each with the path of its first site.
fn stated(package: &Package, more: &[&str]) -> BTreeSet<(String, String)> {
    let run = std::fs::read_dir(package.runs())
        .expect("there are runs")
        .last()
        .expect("there is one")
        .expect("it is read");
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let output = command
        .args(["findings", "--json"])
        .args(more)
        .arg(run.path())
        .output()
        .expect("it was built");
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}{output:?}"));
    assert_valid(&["metaspy", "findings", "--json"], &report);
    let word = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let listed = report["findings"]
        .as_array()
        .expect("there is a list")
        .iter()
        .filter(|it| it["small"] == false);
    listed.map(|it| (word(&it["kind"]), word(&it["sites"][0]["path"]))).collect()
}

#[test]
fn types_tests_and_returned_values_are_stated_where_they_are_asked_for() {
    let package = Package::new("stated", &[("Cargo.toml", MANIFEST), ("src/lib.rs", ART)]);
    package.metaspy(&["test", "--types", "--returns"]);
    assert_eq!(stated(&package, &[]), BTreeSet::new(), "nothing of it costs anything in this run");
    let kinds =
        ["never-arrived", "wide-parameter", "megamorphic", "untested", "more-tests", "same-result"];
    let asked: Vec<&str> = kinds.iter().flat_map(|kind| ["--kind", kind]).collect();
    let expected = [
        ("never-arrived", "stated::Shape"),
        ("same-result", "stated::Square::Shape::area"),
        ("untested", "stated::Exporter::export"),
        ("untested", "stated::Never::Shape::area"),
        ("wide-parameter", "stated::only"),
    ];
    assert_eq!(
        stated(&package, &asked),
        expected.map(|(kind, path)| (kind.to_owned(), path.to_owned())).into()
    );
}

/// A kind of which each run of the package that lays out has a finding.
const OFTEN: &str = r#"
[[findings.own]]
kind = "often"
when = "count(site:*::layout) > 5"
title = "{site} runs {count} times"
"#;

#[test]
fn a_run_with_events_ends_with_the_number_of_its_findings() {
    let main = "fn layout(node: u64) -> u64 {\n    node + 1\n}\n\nfn main() {\n    \
                let height: u64 = (0..9).map(layout).sum();\n    println!(\"{height}\");\n}\n";
    let package = Package::new(
        "mentioned",
        &[("Cargo.toml", MANIFEST), ("src/main.rs", main), ("metaspy.toml", OFTEN)],
    );
    let full = [("METASPY_MODE", "full".as_ref())];
    let did = package.metaspy_in(&["run"], &full);
    let line = did.stderr.lines().find(|line| line.contains("1 finding: metaspy findings "));
    let (_, run) =
        line.and_then(|line| line.rsplit_once(' ')).unwrap_or_else(|| panic!("{}", did.stderr));
    assert!(!did.stdout.contains("metaspy findings"), "{}", did.stdout);
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let output =
        command.current_dir(&package.dir).args(["findings", run]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.starts_with("1 finding in 10 events") && text.contains("layout runs 9 times"),
        "{text}"
    );
    // Without a finding there is no line, and so of a run that only counts.
    for settings in [("metaspy.toml", OFTEN), ("metaspy.toml", "")] {
        package.write(settings.0, settings.1);
        let environment = if settings.1.is_empty() { &full[..] } else { &[] };
        let did = package.metaspy_in(&["run"], environment);
        assert!(
            did.stderr.contains("browse the run:") && !did.stderr.contains("metaspy findings"),
            "{}",
            did.stderr
        );
    }
}
