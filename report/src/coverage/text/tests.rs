use metaspy_reader::RecordedSite;

use super::*;
use crate::program::testing::{builder, program, woven};
use crate::program::{Identity, Receivers, Returned};

fn method(name: &str) -> Identity {
    Identity::new(&format!("a::{name}"), "src/lib.rs", 1)
}

#[test]
fn methods_are_below_their_types_and_types_below_their_modules() {
    let mut builder = builder(&[
        (woven("a", "main", "c=1"), 1),
        (woven("a::b", "Scene::draw", "type=Scene"), 0),
        (woven("a::b", "Scene::Layout::measure", "type=Scene trait=Layout"), 1_200),
    ]);
    let profile = builder.profile(&method("b::Scene::Layout::measure")).expect("it is there");
    profile.receivers = Some(Receivers { count: 100, is_least: true, places: 0 });
    profile.tests.insert("t".into());
    let program = builder.build();
    let mut run = Run { program, ..Run::default() };
    run.program.profiles.columns.insert("coverage".into(), Vec::new());
    let expected = [
        "         calls  receivers  tests  package, type, method",
        "                                  a  (2 of 3 ran)",
        "             1        n/a      0    main",
        "                                    a::b  (1 of 2 ran)",
        "                                      Scene: Layout  (1 of 2 ran)",
        "         1,200       ≥100      1        Layout::measure",
        "             0        n/a      0        draw",
    ];
    assert_eq!(tree(&run), expected);
    run.program.profiles.columns.clear();
    assert_eq!(
        functions(&run, Top::First(1)),
        [
            "         calls  function",
            "         1,200  a::b::Scene::Layout::measure",
            "             …  1 more function ran; --top all shows all",
        ]
    );
}

#[test]
fn methods_of_one_path_have_their_keys_in_the_list_of_a_test() {
    let path = "Scene::PartialEq::eq";
    let eq = |arguments, line| RecordedSite {
        lines: (line, line),
        ..woven("a", path, &format!("c=1 type=Scene trait=PartialEq traitargs={arguments}"))
    };
    let mut builder =
        builder(&[(eq("<u8>", 1), 1), (eq("<&str>", 2), 1), (woven("a", "other", "c=1"), 1)]);
    for (path, line) in
        [("Scene::PartialEq<u8>::eq", 1), ("Scene::PartialEq<&str>::eq", 2), ("other", 1)]
    {
        let method = Identity::new(&format!("a::{path}"), "src/lib.rs", line);
        builder.profile(&method).expect("it is there").tests.insert("a::t".into());
    }
    let mut lines = tests(&builder.build(), Top::Default);
    lines[2..].sort();
    assert_eq!(
        lines[1..],
        [
            "  a::t: 3 methods, 3 in no other test",
            "    a::Scene::PartialEq<&str>::eq",
            "    a::Scene::PartialEq<u8>::eq",
            "    a::other",
        ]
    );
}

#[test]
fn functions_of_tests_are_not_counted_among_those_that_ran() {
    let all = [
        (woven("a", "main", "c=1"), 1),
        (woven("a", "other", "c=1"), 0),
        (woven("a::tests", "checks", "test test_only"), 1),
        (woven("a::tests", "fixture", "test_only"), 1),
    ];
    assert_eq!(ran(&program(&all)), "1 of 2 methods ran; 2 functions of tests not counted");
    assert_eq!(ran(&program(&all[..1])), "1 of 1 method ran");
}

#[test]
fn methods_of_one_path_differ_by_the_arguments_of_their_traits_or_by_their_lines() {
    let eq = |arguments: &str, line: u32| metaspy_reader::RecordedSite {
        lines: (line, line),
        ..woven("a", "Slice::PartialEq::eq", &format!("type=Slice trait=PartialEq{arguments}"))
    };
    let program = program(&[
        (eq(" traitargs=<&mut~str>", 2), 5),
        (eq(" traitargs=<String>", 4), 4),
        (eq("", 6), 3),
        (eq("", 8), 2),
        (woven("a", "main", "c=1"), 1),
    ]);
    let run = Run { program, ..Run::default() };
    let names: Vec<String> =
        functions(&run, Top::All)[1..].iter().map(|line| line[16..].to_owned()).collect();
    assert_eq!(
        names,
        [
            "a::Slice::PartialEq<&mut str>::eq",
            "a::Slice::PartialEq<String>::eq",
            "a::Slice::PartialEq::eq@src/lib.rs:6",
            "a::Slice::PartialEq::eq@src/lib.rs:8",
            "a::main",
        ]
    );
    let keys = run.program.keys();
    assert_eq!(
        keys.values().collect::<std::collections::BTreeSet<_>>().len(),
        run.program.methods().count()
    );
}

#[test]
fn ratios_and_patterns_are_listed() {
    let lines = |first| metaspy_reader::RecordedSite {
        lines: (1, first),
        ..woven("a", "Never::two", "type=Never")
    };
    let unresolved = woven("a", "X::get", "type=X unresolved");
    let program = program(&[
        (woven("a", "main", "c=1"), 1),
        (woven("a", "Never::one", "type=Never"), 0),
        (lines(12), 0),
        (unresolved, 0),
    ]);
    assert_eq!(
        coverage(&program, Top::All),
        [
            "a: covered 1 of 4 methods (25.0 %), 0 of 1 type (0.0 %)",
            "1 type without a known definition: not counted as types, unlike their methods",
            "absent: no method ran (2 methods)",
            "  a::Never: two (12), one (1)",
            "long and untested: never ran, of the longest tenth (1 method)",
            "  a::Never: two (12)",
        ]
    );
}

#[test]
fn constant_values_are_a_table() {
    let mut builder = builder(&[(woven("a", "same", "c=1"), 2), (woven("a", "other", "c=1"), 2)]);
    for name in ["same", "other"] {
        builder.profile(&method(name)).expect("it is there").calls = 2;
    }
    builder.profile(&method("same")).expect("it is there").returns = Some(Returned::Constant);
    let text = constant_values(&builder.build(), Top::Default);
    assert!(text[2].split_whitespace().eq(["1", "2", "50.0", "%", "0", "a"]), "{text:?}");
    let command = "cargo metaspy test --weave 'a::same' --by-test";
    assert_eq!(
        (text[3].trim(), text.len()),
        (&*format!("a::same  test a cache with: {command}"), 4)
    );
    assert_eq!(constant_values(&program(&[(woven("a", "once", "c=1"), 1)]), Top::Default), [""; 0]);
}

#[test]
fn a_candidate_names_its_tests_and_values_that_cannot_be_compared_name_the_option() {
    let facts = |name, words| (woven("a", name, words), 2);
    let mut builder =
        builder(&[facts("same", "c=1"), facts("kept", "c=1 caching"), facts("hidden", "c=1")]);
    for (name, returns) in [
        ("same", Returned::Constant),
        ("kept", Returned::Constant),
        ("hidden", Returned::NotComparable),
    ] {
        let profile = builder.profile(&method(name)).expect("it is there");
        (profile.calls, profile.returns) = (2, Some(returns));
        profile.tests.extend(["a::tests::one".to_owned(), "a_more::two".to_owned()]);
    }
    let text = constant_values(&builder.build(), Top::Default).join("\n");
    assert!(
        text.contains("a::same  test a cache with: cargo test -- --exact tests::one two\n"),
        "{text}"
    );
    assert!(text.contains("a::kept  it caches already\n"), "{text}");
    assert!(
        text.ends_with(&format!("not comparable: {TRUST}")) && TRUST.contains("--trust"),
        "{text}"
    );
}

#[test]
fn callers_and_callees_are_named_and_a_wrong_selector_gets_a_hint() {
    let mut builder = builder(&[(woven("a", "Scene::measure", "type=Scene"), 1_000)]);
    let profile = builder.profile(&method("Scene::measure")).expect("it is there");
    profile.callers = vec![
        (Some("a::main".into()), Edge { count: 999, total_ns: 5_000, is_least: false }),
        (None, Edge { count: 1, total_ns: 7, is_least: false }),
    ];
    profile.callees = vec![("a::leaf".into(), Edge { count: 2, total_ns: 3, is_least: true })];
    let program = builder.build();
    let lines = |selector: &str| callers(&program, &selector.parse().expect("a selector"));
    assert_eq!(
        lines("Scene::*"),
        [
            "a::Scene::measure: 1,000 calls",
            "           999    5.00 µs  from a::main",
            "             1       7 ns  from code without hooks",
            "            ≥2      ≥3 ns  to   a::leaf",
        ]
    );
    assert!(
        lines("mesure")[0].contains("did you mean a::Scene::measure?"),
        "{:?}",
        lines("mesure")
    );
}
