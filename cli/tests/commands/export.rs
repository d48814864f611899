//! `metaspy export`: where the document goes, and how the command ends. The documents are tested in
//! `tests/exports`.

use std::fs;

use crate::{ended, fixture, text};

#[test]
fn the_document_goes_to_standard_output_or_into_a_file() {
    let path = fixture::closed("export.spy", 3);
    let (code, out, error) =
        ended(&["export", text(&path), "--to", "jsonl", "--filter", "site:measure"]);
    assert_eq!((code, out.lines().count(), error.as_str()), (0, 18, ""));
    let file = fixture::directory().join("export.jsonl");
    let (code, nothing, error) = ended(&[
        "export",
        text(&path),
        "--to",
        "jsonl",
        "--filter",
        "site:measure",
        "-o",
        text(&file),
    ]);
    assert_eq!((code, nothing.as_str()), (0, ""));
    assert!(error.contains("written to ") && error.contains(": 18 events"), "{error}");
    assert_eq!(fs::read_to_string(&file).expect("it was written"), out);
}

#[test]
fn the_formats_are_listed_and_an_unknown_one_is_refused() {
    let (code, out, _) = ended(&["export", "--help"]);
    assert!(code == 0 && out.contains("- chrome:") && out.contains("Examples:"), "{out}");
    let (code, _, error) = ended(&["export", "run.spy", "--to", "chrom"]);
    assert!(code == 2 && error.contains("similar value exists: 'chrome'"), "{error}");
}

#[test]
fn a_filter_that_selects_nothing_is_reported() {
    let path = fixture::closed("export-none.spy", 1);
    let (code, out, error) =
        ended(&["export", text(&path), "--to", "jsonl", "--filter", "subject:#99"]);
    assert_eq!((code, out.as_str()), (0, ""));
    assert!(error.contains("no event passes --filter"), "{error}");
    let (code, _, error) =
        ended(&["export", text(&path), "--to", "jsonl", "--filter", "site:mesure"]);
    assert!(code == 2 && error.contains("measure"), "{error}");
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_the_recording_is_never_overwritten() {
    let path = fixture::closed("export-own.spy", 1);
    let before = fs::read(&path).expect("it was just written");
    let (code, _, error) = ended(&["export", text(&path), "--to", "csv", "-o", text(&path)]);
    assert!(code == 2 && error.contains("it is an input of this command"), "{error}");
    assert_eq!(fs::read(&path).expect("it is still there"), before);
    let nowhere = fixture::directory().join("no such directory").join("x.csv");
    let (code, _, error) = ended(&["export", text(&path), "--to", "csv", "-o", text(&nowhere)]);
    assert!(code == 2 && error.contains("cannot write"), "{error}");
}
