//! The document, read by an independent parser.

use metaspy_reader::RecordedSite;
use roxmltree::{Document, Node, ParsingOptions};

use super::*;
use crate::program::testing::{program, woven};

/// The rules of `coverage-04.dtd` for each element: what may be in it, in this order, and which
/// attributes it must have.
const DTD: [(&str, &[&str], &[&str]); 11] = [
    (
        "coverage",
        &["sources", "packages"],
        &[
            "line-rate",
            "branch-rate",
            "lines-covered",
            "lines-valid",
            "branches-covered",
            "branches-valid",
            "complexity",
            "version",
            "timestamp",
        ],
    ),
    ("sources", &["source"], &[]),
    ("source", &[], &[]),
    ("packages", &["package"], &[]),
    ("package", &["classes"], &["name", "line-rate", "branch-rate", "complexity"]),
    ("classes", &["class"], &[]),
    (
        "class",
        &["methods", "lines"],
        &["name", "filename", "line-rate", "branch-rate", "complexity"],
    ),
    ("methods", &["method"], &[]),
    ("method", &["lines"], &["name", "signature", "line-rate", "branch-rate", "complexity"]),
    ("lines", &["line"], &[]),
    ("line", &[], &["number", "hits"]),
];

fn text(program: Program) -> String {
    let mut text = Vec::new();
    Cobertura.export(&Run { program, ..Run::default() }, &mut text).expect("memory takes it");
    String::from_utf8(text).expect("it is UTF-8")
}

fn document(text: &str) -> Document<'_> {
    let document = Document::parse_with_options(
        text,
        ParsingOptions { allow_dtd: true, ..ParsingOptions::default() },
    );
    document.unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn judge(node: Node<'_, '_>) {
    let name = node.tag_name().name();
    let (_, within, attributes) =
        DTD.iter().find(|(known, ..)| *known == name).expect("the DTD knows it");
    assert_eq!(node.attributes().map(|it| it.name()).collect::<Vec<_>>(), *attributes, "{name}");
    let places = node.children().filter(Node::is_element).map(|child| {
        let child = child.tag_name().name();
        within
            .iter()
            .position(|known| *known == child)
            .unwrap_or_else(|| panic!("{child} in {name}"))
    });
    assert!(places.is_sorted(), "{name}");
    node.children().filter(Node::is_element).for_each(judge);
}

#[test]
fn the_document_matches_its_type_and_contains_what_ran() {
    let odd = RecordedSite {
        file: "src/\u{1}ä&.rs".into(),
        ..woven("a::b", "[T]::<&\"'>", "type=[T] c=4")
    };
    let len = RecordedSite { lines: (7, 7), ..woven("a::b", "[T]::len", "type=[T] c=1") };
    let text = text(program(&[(woven("a", "main", "c=1"), 1), (odd, 0), (len, 3)]));
    let document = document(&text);
    judge(document.root_element());
    let root = document.root_element();
    assert_eq!(
        (root.attribute("lines-valid"), root.attribute("lines-covered")),
        (Some("3"), Some("2"))
    );
    let classes: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name("class")).collect();
    let of = |node: &Node<'_, '_>, name: &str| node.attribute(name).unwrap_or_default().to_owned();
    let found: Vec<_> = classes
        .iter()
        .map(|class| (of(class, "name"), of(class, "filename"), of(class, "line-rate")))
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|(name, file, rate)| (name.as_str(), file.as_str(), rate.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("a", "src/lib.rs", "1"),
            ("a::b::[T]", "src/?ä&.rs", "0"),
            ("a::b::[T]", "src/lib.rs", "1")
        ]
    );
    let method =
        classes[1].descendants().find(|node| node.has_tag_name("method")).expect("it has one");
    assert_eq!(
        (of(&method, "name").as_str(), of(&method, "complexity").as_str()),
        ("[T]::<&\"'>", "4")
    );
    let lines: Vec<_> = document.descendants().filter(|node| node.has_tag_name("line")).collect();
    assert!(
        lines.iter().any(|line| (of(line, "number"), of(line, "hits")) == ("7".into(), "3".into()))
    );
}

#[test]
fn an_empty_program_is_a_valid_document() {
    let text = text(Program::default());
    judge(document(&text).root_element());
}

#[test]
fn text_lcov_and_cobertura_count_the_same_methods() {
    let at = |line: u32, name: &str, facts: &str| RecordedSite {
        lines: (line, line),
        ..woven("a", name, facts)
    };
    let skipped = RecordedSite { skipped: Some("const".into()), ..at(5, "at_compile_time", "c=1") };
    let program = program(&[
        (at(1, "main", "c=1"), 1),
        (at(2, "never", "c=1"), 0),
        (at(3, "checks", "c=1 test test_only"), 1),
        (at(4, "fixture", "c=1 test_only"), 1),
        (skipped, 0),
    ]);
    let ratio = program.ratio();
    assert_eq!((ratio.covered, ratio.methods), (1, 2));
    let run = Run { program, ..Run::default() };
    let mut lcov = Vec::new();
    crate::export::lcov::Lcov.export(&run, &mut lcov).expect("memory takes it");
    let lcov = String::from_utf8(lcov).expect("it is UTF-8");
    assert!(lcov.contains("FNF:2\nFNH:1\n") && lcov.contains("LF:2\nLH:1\n"), "{lcov}");
    let text = text(run.program);
    let document = document(&text);
    let root = document.root_element();
    assert_eq!(
        (root.attribute("lines-valid"), root.attribute("lines-covered")),
        (Some("2"), Some("1"))
    );
}
