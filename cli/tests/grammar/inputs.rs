//! What is an input, what is none, and the messages about that.

use serde_json::json;

use crate::{LIST, TestDirectory, production};

const RULE: [&str; 3] = ["list.pest", "--rule", "list"];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&RULE[..], arguments].concat()
}

#[test]
fn each_line_of_standard_input_is_an_input() {
    let place = TestDirectory::new("lines").file("list.pest", LIST);
    for arguments in [&[][..], &["-"]] {
        let (code, out, _) =
            place.run_with(b"1\r\n#\n\nx!\r\n", &with(&[arguments, &["--json"]].concat()));
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (code, &report["inputs"]["accepted"], &report["inputs"]["rejected"]),
            (0, &json!(2), &json!(2))
        );
        assert_eq!(production(&report, "float")["first_input"], "line 1");
        assert_eq!(production(&report, "mark")["shortest_input"], "line 4");
    }
    // Without an end of line the last one is an input as well.
    let (_, out, _) = place.run_with(b"1\n2", &with(&[]));
    assert!(out.contains("2 inputs (2 accepted, 0 rejected)"), "{out}");
}

#[test]
fn a_line_that_is_not_text_keeps_the_numbers_of_the_others() {
    let place = TestDirectory::new("bad_line").file("list.pest", LIST);
    let (_, out, _) = place.run_with(b"#\n\xff\nx\n", &with(&["--json"]));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["inputs"]["unreadable"], 1);
    assert_eq!(production(&report, "word")["first_input"], "line 3");
}

#[test]
fn an_empty_file_is_an_input() {
    let place = TestDirectory::new("empty")
        .file("any.pest", "any = { SOI ~ \"a\"* ~ EOI }")
        .file("empty.txt", "");
    let (code, out, _) = place.run(&["any.pest", "--rule", "any", "empty.txt"]);
    assert!(code == 0 && out.contains("1 input (1 accepted, 0 rejected)"), "{out}");
}

#[test]
fn without_inputs_it_ends_with_2_and_a_message() {
    let place =
        TestDirectory::with_lists("none").file("bytes/x", b"\xff").file("nothing/sub/.keep", "");
    for (arguments, word) in [
        (&[][..], "there are no inputs"),
        (&["nothing", "--glob", "*.txt"], "--glob does not let 1 file through"),
        (&["bytes"], "bytes/x (not UTF-8 from byte 0 on)"),
        (&["in", "missing"], "cannot read missing"),
        (&["in", "--glob", "{"], "--glob: "),
    ] {
        let (code, out, error) = place.run(&with(arguments));
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

#[test]
fn files_that_are_no_text_are_counted_and_the_first_five_named() {
    let mut place = TestDirectory::with_lists("not_utf8");
    for number in 0..7 {
        place = place.file(&format!("in/bad{number}"), b"1,\xff\xfe");
    }
    let (code, report) = place.json(&with(&["in"]));
    assert_eq!(
        (code, &report["inputs"]["unreadable"], &report["inputs"]["accepted"]),
        (0, &json!(7), &json!(2))
    );
    let (_, out, _) = place.run(&with(&["in"]));
    assert!(
        out.contains("7 inputs left out, as not readable:\n  in/bad0 (not UTF-8 from byte 2 on)\n"),
        "{out}"
    );
    assert!(
        out.contains("  in/bad4 (")
            && !out.contains("in/bad5")
            && out.contains("\n  … and 2 more\n"),
        "{out}"
    );
}

#[test]
fn a_file_that_is_reached_twice_counts_once() {
    let place = TestDirectory::with_lists("twice");
    let (_, report) = place.json(&with(&["in", "in/a.txt", "in/../in/sub"]));
    assert_eq!(
        (&report["inputs"]["accepted"], &report["inputs"]["repeated"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(production(&report, "float")["first_input"], "in/a.txt");
    let (_, out, _) = place.run(&with(&["in", "in"]));
    assert!(out.contains("3 inputs left out, as reached before\n"), "{out}");
}

#[test]
fn a_glob_chooses_among_the_files_of_directories() {
    let place = TestDirectory::with_lists("glob").file("in/list.lst", "7");
    for (glob, accepted) in [("*.lst", 1), ("*.{txt,lst}", 3), ("sub/**", 0), ("a.*", 1)] {
        let (_, report) = place.json(&with(&["in", "--glob", glob]));
        assert_eq!(report["inputs"]["accepted"], accepted, "{glob}");
    }
    // What is named by itself is wanted.
    assert_eq!(place.json(&with(&["in/b.txt", "--glob", "*.lst"])).1["inputs"]["accepted"], 1);
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_back_is_reported_and_not_followed() {
    let place = TestDirectory::with_lists("loop");
    std::os::unix::fs::symlink("..", place.path("in/sub/back")).unwrap();
    std::os::unix::fs::symlink("a.txt", place.path("in/same.txt")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("in/z.txt")).unwrap();
    let (code, report) = place.json(&with(&["in"]));
    let expected = json!({"accepted": 2, "rejected": 1, "stopped": 0, "unreadable": 1, "repeated": 1, "loops": 1});
    assert_eq!((code, &report["inputs"]), (0, &expected));
    let (_, out, _) = place.run(&with(&["in"]));
    assert!(out.contains("leads back to where it stands:\n  in/sub/back\n"), "{out}");
}

#[test]
fn an_input_that_nests_too_deep_or_takes_too_long_is_stopped_and_named() {
    let place = TestDirectory::new("limits")
        .file("nest.pest", "nest = { \"(\" ~ nest? ~ \")\" }")
        .file("ok", "()");
    let place = place.file("deep", "(".repeat(100_000));
    for limit in [["--stack", "1MiB"], ["--steps", "1k"]] {
        let arguments = [&["nest.pest", "--rule", "nest", "ok", "deep"][..], &limit].concat();
        let (code, report) = place.json(&arguments);
        assert_eq!(
            (code, &report["inputs"]["rejected"], &report["inputs"]["stopped"]),
            (0, &json!(1), &json!(1))
        );
        let (_, out, _) = place.run(&arguments);
        assert!(out.contains("1 of them STOPPED") && out.contains("\n  deep ("), "{out}");
    }
}

#[test]
fn an_input_of_100_megabytes_is_an_input() {
    let line = "x".repeat(9_999) + "\n";
    let place = TestDirectory::new("large")
        .file("lines.pest", "lines = { line* ~ EOI }\nline = @{ (!\"\\n\" ~ ANY)* ~ \"\\n\" }");
    let place = place.file("large.txt", line.repeat(10_000));
    let (code, report) = place.json(&["lines.pest", "--rule", "lines", "large.txt"]);
    assert_eq!((code, &report["inputs"]["accepted"]), (0, &json!(1)));
    assert_eq!(production(&report, "line")["matched"], 10_000);
    let _ = std::fs::remove_file(place.path("large.txt"));
}
