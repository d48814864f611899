//! Conditions on a run, and names that mean nothing: what the command ends with.

use serde_json::{Value, json};

use crate::common::{Package, manifest};

const LIBRARY: &str = "pub fn one() {}\npub fn two() {\n    one();\n}\npub fn never() {}\n#[test]\nfn both() {\n    two();\n}\n\
                       #[test]\nfn first() {\n    one();\n}\n";

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/lib.rs", LIBRARY)])
}

#[test]
fn unknown_names_are_errors_before_the_build() {
    let package = package("meaningless");
    for (line, words) in [
        (["test", "--profile", "nosuch"], &["no profiler `nosuch`", "`coverage`, `calls`"][..]),
        (
            ["test", "--callers", "meaningless::onne"],
            &["no selected function matches `meaningless::onne`", "meaningless::one"],
        ),
        (["test", "--baseline", "none.json"], &["none.json", "--json=FILE"]),
        (["build", "--fail-under", "80"], &["--fail-under needs a recorded run"]),
    ] {
        let did = package.try_metaspy(&line);
        assert_eq!((did.code, did.compiled()), (2, vec![]), "{line:?}: {}", did.stderr);
        words.iter().for_each(|word| {
            assert!(did.stderr.contains(word), "{line:?}: {word}: {}", did.stderr)
        });
    }
}

#[test]
fn a_suite_that_covers_too_little_or_less_than_before_ends_with_1() {
    let package = package("gated");
    let before = package.dir.join("before.json");
    let before = before.to_str().expect("it is UTF-8");
    let did = package.metaspy(&["test", "--lib", "--by-test", "--fail-under", "66"]);
    std::fs::copy(package.dir.join("metaspy.json"), before).expect("it was written");
    let reached = |test: &str| {
        let tests = did.json["tests"].as_array().expect("there is a list");
        let found = tests
            .iter()
            .find(|it| it["test"] == test)
            .unwrap_or_else(|| panic!("{test}: {}", did.json["tests"]));
        (found["methods"].clone(), found["alone"].clone())
    };
    assert_eq!(reached("gated::both"), (json!(["gated::one", "gated::two"]), json!(1)));
    assert_eq!(reached("gated::first"), (json!(["gated::one"]), json!(0)));
    assert!(
        did.stdout.contains("  gated::both: 2 methods, 1 in no other test\n    gated::one"),
        "{}",
        did.stdout
    );

    let did = package.try_metaspy(&["test", "--lib", "--fail-under", "67%"]);
    assert!(
        did.code == 1 && did.stderr.contains("2 of 3 methods ran (66.7 %), and 67 % is required"),
        "{}",
        did.stderr
    );

    let line = ["test", "--lib", "--baseline", before];
    assert_eq!(package.metaspy(&line).json["comparison"]["lost"], json!([]));
    let did = package.try_metaspy(&[&line[..], &["--", "first"]].concat());
    assert!(
        did.code == 1 && did.stderr.contains("1 method ran before and not now: gated::two"),
        "{}",
        did.stderr
    );
    assert_eq!(
        did.json["comparison"],
        json!({ "gained": [], "lost": ["gated::two"], "new": [], "gone": [] })
    );
    assert_eq!(did.json["tests"], Value::Null, "it is not requested");

    // A failed test is the program's error.
    package.write("src/lib.rs", &LIBRARY.replace("fn first() {", "fn first() {\n    panic!();"));
    assert_eq!(package.try_metaspy(&["test", "--lib", "--fail-under", "100"]).code, 101);
}

#[test]
fn a_gate_does_not_hold_where_nothing_ran() {
    let package = package("unrun");
    let did = package.try_metaspy(&["test", "--lib", "--no-run", "--fail-under", "0"]);
    assert!(did.code == 1 && did.stderr.contains("no program recorded anything"), "{}", did.stderr);
}

#[test]
fn a_refused_word_is_followed_by_no_report() {
    let package = package("refused_word");
    let did = package.plain_metaspy(&["test", "--offline", "--nonsense"]);
    assert!(
        did.stderr.contains("--nonsense") && did.stderr.contains("no program recorded anything"),
        "{}",
        did.stderr
    );
    assert_eq!((did.code, did.stdout.as_str()), (1, ""), "{}", did.stderr);
}
