//! Grammars that are none, and command lines that mean nothing.

use crate::{LIST, TestDirectory};

fn check(place: &TestDirectory, arguments: &[&str], words: &[&str]) {
    let (code, out, error) = place.run(arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
    for word in words {
        assert!(error.contains(word), "{arguments:?}: no `{word}` in {error}");
    }
}

#[test]
fn a_grammar_that_does_not_compile_is_refused_with_its_line() {
    let place = TestDirectory::new("invalid")
        .file("open.pest", "a = { \"a\" }\nb = {\n")
        .file("left.pest", "a = { \"x\" }\nb = { b }\n");
    let place = place
        .file("good.pest", "good = { \"a\" }\n")
        .file("in", "a")
        .file("bytes.pest", b"a = { \"\xff\" }");
    let place = place
        .file("any.pest", "ANY = { \"a\" }\n")
        .file("twice.pest", "a = { \"a\" }\na = { \"b\" }\n");
    check(&place, &["any.pest", "--rule", "ANY", "in"], &["any.pest:1:1", "ANY is a pest keyword"]);
    check(
        &place,
        &["twice.pest", "--rule", "a", "in"],
        &["twice.pest:2:1", "rule a already defined"],
    );
    check(&place, &["open.pest", "--rule", "a", "in"], &["open.pest:3:1", "expected expression"]);
    check(&place, &["left.pest", "--rule", "a", "in"], &["left.pest:2:7", "left-recursive"]);
    let two = ["good.pest", "--with", "left.pest", "--rule", "good", "in"];
    check(&place, &two, &["left.pest", "line 2", "left-recursive"]);
    check(&place, &["missing.pest", "--rule", "a", "in"], &["cannot read missing.pest"]);
    check(
        &place,
        &["bytes.pest", "--rule", "a", "in"],
        &["bytes.pest is no grammar: it is not UTF-8"],
    );
}

#[test]
fn a_missing_rule_is_refused_with_the_nearest_names() {
    let place = TestDirectory::new("no_rule").file("list.pest", LIST).file("in", "1");
    check(&place, &["list.pest", "--rule", "valeu", "in"], &["no rule `valeu`", "value"]);
}

#[test]
fn a_rule_in_two_files_is_refused_with_both_places() {
    let place = TestDirectory::new("duplicate")
        .file("one.pest", "a = { \"a\" }\n")
        .file("two.pest", "\nb = { \"b\" }\na = { b }\n");
    let place = place.file("in", "a");
    check(
        &place,
        &["one.pest", "--with", "two.pest", "--rule", "a", "in"],
        &["`a`", "one.pest:1", "two.pest:3"],
    );
}

#[test]
fn a_message_does_not_drive_the_terminal() {
    let place =
        TestDirectory::new("controls").file("a.pest", "a = { \"a\" } \u{1b}[2J\n").file("in", "a");
    let (code, _, error) = place.run(&["a.pest", "--rule", "a", "in"]);
    assert!(code == 2 && !error.contains('\u{1b}') && error.contains('␛'), "{error}");
}

#[test]
fn options_without_effect_are_refused() {
    let place = TestDirectory::with_lists("options");
    let with = |more: &[&'static str]| [&["list.pest", "--rule", "list", "in"][..], more].concat();
    check(&place, &with(&["--fail-under", "101"]), &["0 to 100"]);
    check(&place, &with(&["--steps", "0"]), &["at least one"]);
    check(&place, &with(&["--stack", "deep"]), &["256MiB"]);
    check(&place, &with(&["--stack", "100000TiB"]), &["--stack"]);
    check(&place, &["list.pest", "in"], &["--rule"]);
}
