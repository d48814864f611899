//! The story in `examples/coverage`: its README is true.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Did, Package, temporary};

/// The command of the README, at the root of the repository, with these words behind it. What it
/// does goes into this file.
fn metaspy_test(json: &str, more: &[&str]) -> Did {
    let package = Package { dir: Path::new(env!("CARGO_MANIFEST_DIR")).join("..") };
    let file = temporary().join(json);
    let file = file.to_str().expect("a build stands where its path can be written");
    let line =
        ["test", "--manifest-path", "examples/coverage/Cargo.toml", "--weave", "roxmltree::**"];
    let line = [&line[..], more].concat();
    let did = package
        .did(package.command(&line, file).output().expect("it was built for this test"), file);
    assert_eq!(did.code, 0, "cargo metaspy {line:?}:\n{}\n{}", did.stderr, did.stdout);
    did
}

/// The methods of a type that show a pattern.
fn showing<'j>(did: &'j Did, pattern: &str, of: &str) -> BTreeSet<&'j str> {
    let types = did.json["patterns"][pattern].as_array().expect("there is a list");
    let found = types.iter().filter(|found| found["type"] == of);
    let methods = found.flat_map(|found| found["methods"].as_array().expect("it has some"));
    methods.map(|path| path.as_str().expect("it is a path")).collect()
}

fn method<'j>(did: &'j Did, path: &str) -> &'j Value {
    let methods = did.json["methods"].as_array().expect("there is a list");
    methods
        .iter()
        .find(|method| method["path"] == path)
        .unwrap_or_else(|| panic!("{path}: {}", did.json))
}

#[test]
fn the_coverage_story_finds_what_its_tests_leave_out_and_what_they_repeat() {
    let did = metaspy_test("story.json", &[]);
    assert_eq!(did.json["woven"], json!([{ "package": "roxmltree@0.21.2", "functions": 232 }]));
    let ratio = &did.json["ratio"];
    assert_eq!((&ratio["covered"], &ratio["methods"]), (&json!(135), &json!(224)));

    let detector = ["dec_depth", "inc_depth", "inc_references"]
        .map(|name| format!("roxmltree::parse::LoopDetector::{name}"));
    let detector = BTreeSet::from(detector.each_ref().map(String::as_str));
    assert_eq!(showing(&did, "absent", "roxmltree::parse::LoopDetector"), detector);
    let long = BTreeSet::from([
        "roxmltree::parse::_normalize_attribute",
        "roxmltree::parse::process_cdata",
    ]);
    assert_eq!(showing(&did, "long-untested", "roxmltree::parse"), long);
    // The caller ran, and took its short way each time.
    assert_eq!(did.calls("roxmltree::parse::normalize_attribute"), Some(1_240));

    assert_eq!(did.calls("roxmltree::Document::root_element"), Some(408));
    assert_eq!(did.calls("roxmltree::Node::next_sibling"), Some(80_841));
}

#[test]
fn the_coverage_story_finds_an_answer_that_is_always_the_same() {
    let did = metaspy_test(
        "story-returns.json",
        &["--returns", "--top", "all", "--", "every_icon_of_a_long_sheet_is_found"],
    );
    let root = method(&did, "roxmltree::Document::root_element");
    let values = ["executions", "places", "returns"].map(|key| root[key].clone());
    assert_eq!(values, [json!(201), json!(1), json!("constant")], "{root}");
    assert_eq!(root["tests"], json!(["sheet::every_icon_of_a_long_sheet_is_found"]));
    let constant = did.json["constant"][0]["methods"].as_array().expect("there is a list");
    assert!(constant.contains(&root["path"]), "{constant:?}");
}
