//! What is written: the text, the JSON, the tracefile; and the percentage that decides.

use std::process::Command;

use serde_json::{Value, json};

use crate::schemas::{assert_changes_are_noticed, assert_valid};
use crate::{TestDirectory, production};

const LISTS: [&str; 4] = ["list.pest", "--rule", "list", "in"];

#[test]
fn the_text_begins_with_what_is_not_covered_and_why() {
    let (code, out, error) = TestDirectory::with_lists("text").run(&LISTS);
    assert_eq!((code, error.as_str()), (0, ""));
    insta::assert_snapshot!("lists", out);
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn all_shows_every_production_and_timed_shows_times() {
    let place = TestDirectory::with_lists("all");
    let (_, out, _) = place.run(&[&LISTS[..], &["--top", "all"]].concat());
    assert!(out.contains("\nhex "), "{out}");
    let (_, out, _) = place.run(&[&LISTS[..], &["--timed"]].concat());
    assert!(
        out.contains("  self ") && out.contains("  total ") && !out.contains("\nhex "),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn the_json_has_the_verdict_of_each_production() {
    let (code, report) = TestDirectory::with_lists("json").json(&LISTS);
    assert_eq!(code, 0);
    assert_eq!(
        (&report["format"], &report["grammar"], &report["rule"]),
        (&json!(1), &json!(["list.pest"]), &json!("list"))
    );
    assert_eq!(report["accepted_inputs"], json!(["in/a.txt", "in/b.txt"]));
    let rejection =
        json!({"input": "in/sub/c.txt", "line": 1, "column": 4, "expected": "expected value"});
    assert_eq!(report["rejections"], json!([rejection]));
    let inputs = json!({"accepted": 2, "rejected": 1, "stopped": 0, "unreadable": 0, "repeated": 0, "loops": 0});
    assert_eq!(report["inputs"], inputs);
    assert_eq!(report["comparison"], json!(null));
    let word = production(&report, "word");
    let expected = json!({
        "name": "word", "file": "list.pest", "line": 6, "entered": 3, "matched": 2, "failed": 1,
        "backtracked_bytes": 0, "depth": 3, "self_ns": null, "total_ns": null, "state": "matched", "role": "in-use",
        "accepted": {"entered": 1, "matched": 1}, "rejected": {"entered": 2, "matched": 1},
        "first_input": "in/a.txt", "shortest_input": "in/sub/c.txt", "shadowed_by": null,
    });
    assert_eq!(word, &expected);
    let shadow =
        json!({"alternative": "float", "would_match": 3, "as_far": 2, "input": "in/a.txt"});
    assert_eq!(production(&report, "integer")["shadowed_by"], shadow);
    assert_eq!(production(&report, "date")["state"], "never-matched");
    assert_eq!(production(&report, "year")["state"], "never-entered");
    assert_eq!(production(&report, "hex")["role"], "unused");
    let in_use =
        report["productions"].as_array().unwrap().iter().filter(|it| it["role"] == "in-use");
    let (matched, other): (Vec<_>, Vec<_>) = in_use.partition(|it| it["state"] == "matched");
    let percent = 100.0 * matched.len() as f64 / (matched.len() + other.len()) as f64;
    assert_eq!(report["coverage"].as_f64(), Some(percent));
    let alternative = &report["alternatives"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["text"] == "integer")
        .unwrap();
    assert_eq!(
        (&alternative["production"], &alternative["shadowed_by"]),
        (&json!("value"), &shadow)
    );
}

#[test]
fn times_are_numbers_only_if_they_were_taken() {
    let (_, report) = TestDirectory::with_lists("timed").json(&[&LISTS[..], &["--timed"]].concat());
    let list = production(&report, "list");
    assert!(list["self_ns"].as_u64().unwrap() <= list["total_ns"].as_u64().unwrap(), "{list}");
}

#[test]
fn the_tracefile_has_a_record_for_each_file_of_the_grammar() {
    let place = TestDirectory::new("lcov")
        .file("ab.pest", "ab = { (a | b | b)+ }\na = { \"a\" }\nunused = { \"u\" }\n");
    let place = place.file("b.pest", "b = { \"b\" ~ c? }\n\nc = { \"c\" }\n").file("in.txt", "aba");
    let (code, _, error) =
        place.run(&["ab.pest", "--with", "b.pest", "--rule", "ab", "in.txt", "--lcov", "out.info"]);
    assert_eq!((code, error.as_str()), (0, ""));
    insta::assert_snapshot!("lcov", std::fs::read_to_string(place.path("out.info")).unwrap());
    let (code, _, error) =
        place.run(&["ab.pest", "--with", "b.pest", "--rule", "ab", "in.txt", "--lcov", "no/out"]);
    assert!(code == 2 && error.contains("cannot write no/out"), "{error}");
}

#[test]
fn a_percentage_that_is_not_reached_ends_with_1() {
    let place = TestDirectory::with_lists("fail_under");
    let coverage = place.json(&LISTS).1["coverage"].as_f64().unwrap();
    for (percent, expected) in
        [("0", 0), ("50%", 0), (&coverage.to_string(), 0), ("99.5", 1), ("100", 1)]
    {
        let (code, out, _) = place.run(&[&LISTS[..], &["--fail-under", percent]].concat());
        assert_eq!(
            (code, out.contains("FAILED: --fail-under")),
            (expected, expected == 1),
            "{percent}: {out}"
        );
    }
    let (code, out, error) = place.run(&[&LISTS[..], &["--fail-under", "99.5", "--json"]].concat());
    assert!(
        code == 1 && out.starts_with('{') && error.contains("FAILED: --fail-under 99.5"),
        "{error}"
    );
}

#[test]
fn a_production_that_matched_in_rejected_inputs_only_is_named() {
    let (_, out, _) = TestDirectory::with_lists("rejected").run(&LISTS);
    assert!(out.contains("matched only in rejected inputs: mark\n"), "{out}");
}

#[test]
fn if_no_input_is_accepted_the_parser_error_is_shown() {
    let place = TestDirectory::with_lists("none_accepted").file("in2", "#\u{1b}[2J");
    let (code, out, _) = place.run(&["list.pest", "--rule", "list", "in2"]);
    assert!(code == 0 && out.contains("NO INPUT WAS ACCEPTED") && out.contains("--> 1:1"), "{out}");
    assert!(!out.contains('\u{1b}'), "{out}");
}

#[test]
fn the_parses_are_recorded_event_by_event() {
    let place = TestDirectory::with_lists("recorded");
    let (code, out, error) = place.run(&[&LISTS[..], &["--record", "parses.spy"]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.ends_with("metaspy open parses.spy\n"), "{out}");
    let report = |by: &str| -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let run = command
            .args(["report", "--json", "--by", by])
            .arg(place.path("parses.spy"))
            .output()
            .unwrap();
        let mut report: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_valid(&["metaspy", "report", "--json"], &report);
        serde_json::from_value(report["rows"].take()).unwrap()
    };
    let sites = report("site");
    let float = sites
        .iter()
        .find(|row| row["label"] == "list::float" || row["key"] == "list::float")
        .unwrap();
    // As the coverage says, and what was only tried out is not among them.
    let (_, json) = place.json(&LISTS);
    let counted = production(&json, "float");
    assert_eq!(
        (&float["count"], &float["failed"]),
        (&counted["entered"], &counted["failed"]),
        "{float}"
    );
    // The command can record its own demo, but this is the recording of a grammar.
    let store = metaspy_core::Store::open(&place.path("parses.spy")).expect("it was recorded");
    let paths: Vec<&str> = store.sites().iter().map(|site| site.path.as_str()).collect();
    assert!(paths.len() == 10 && paths.iter().all(|path| path.starts_with("list::")), "{paths:?}");
    let inputs = report("subject");
    assert!(
        inputs
            .iter()
            .any(|row| row["label"].as_str().is_some_and(|label| label.contains("in/b.txt"))),
        "{inputs:?}"
    );
}

/// The fault of the grammar is found without its name, and that parsers try what does not match is
/// none.
#[test]
fn findings_of_recorded_parses_are_what_is_wrong_in_the_grammar() {
    let place = TestDirectory::with_lists("findings");
    let many = "1,22,abc,".repeat(200) + "x";
    let place = place.file("in/many.txt", many);
    let (code, _, error) = place.run(&[&LISTS[..], &["--record", "parses.spy"]].concat());
    assert_eq!((code, error.as_str()), (0, ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let run = command.args(["findings", "--json"]).arg(place.path("parses.spy")).output().unwrap();
    let report: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_valid(&["metaspy", "findings", "--json"], &report);
    let found: Vec<Value> = serde_json::from_value(report["findings"].clone()).unwrap();
    let listed = found.iter().filter(|finding| finding["small"] == false);
    let listed: Vec<_> =
        listed.map(|finding| (&finding["kind"], &finding["sites"][0]["path"])).collect();
    assert_eq!(listed, [(&Value::from("shadowed"), &Value::from("list::integer"))], "{report}");
    let text = found[0]["evidence"]["text"].as_str().unwrap();
    assert!(
        text.contains("tried 200 times") || text.contains("`float` matches where it would"),
        "{text}"
    );
}

#[test]
fn a_picture_that_cannot_be_written_leaves_no_recording_behind() {
    let place = TestDirectory::with_lists("undrawn");
    let rest = place.path("rest");
    std::fs::create_dir(&rest).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    command
        .arg("grammar")
        .args(LISTS)
        .args(["--blueprint", "nowhere/list.html"])
        .current_dir(place.path("."));
    let run = command.env("TMPDIR", &rest).env_remove("METASPY_RECORD").output().unwrap();
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && error.contains("nowhere/list.html"), "{error}");
    let left = || {
        std::fs::read_dir(&rest)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect::<Vec<_>>()
    };
    assert!(left().is_empty(), "{:?}", left());
}

#[test]
fn productions_are_drawn_with_their_states_shadows_and_inputs() {
    let place = TestDirectory::with_lists("drawn");
    let (code, _, error) =
        place.run(&[&LISTS[..], &["--blueprint", "list.html", "--record", "parses.spy"]].concat());
    assert_eq!((code, error.as_str()), (0, "written to list.html\n"));
    let html = std::fs::read_to_string(place.path("list.html")).unwrap();
    assert!(
        html.contains("grammar blueprint of list.pest") && html.contains("never matched"),
        "{html}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let run = command
        .args(["blueprint", "grammar", "--json"])
        .arg(place.path("parses.spy"))
        .output()
        .unwrap();
    let scene: Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_changes_are_noticed(&["metaspy", "blueprint", "grammar", "--json"], &scene);
    let of = |name: &str| {
        let method =
            scene["methods"].as_array().unwrap().iter().position(|method| method[0] == name);
        let method = method.unwrap_or_else(|| panic!("{name}: {scene}"));
        let node = scene["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| node[5] == json!([method]))
            .unwrap();
        (node[4].as_str().unwrap().to_owned(), node[6]["tip"].as_str().unwrap().to_owned())
    };
    let (fill, tip) = of("word");
    assert!(
        fill.starts_with('g') && tip.contains("in 2 inputs, the shortest parse is in/sub/c.txt"),
        "{fill} {tip}"
    );
    let (fill, tip) = of("integer");
    assert!(fill == "failed" && tip.contains("`float`"), "{fill} {tip}");
    assert_eq!(of("date").0, "failed");
    assert_eq!(of("year").0, "never");
    let cover = &scene["lists"].as_array().unwrap()[2][1];
    assert!(cover[0][1].as_str().unwrap().starts_with("in/a.txt: "), "{cover}");
}

/// A path of JSON: `index` comes before `slice`, so `[1:]` is rejected although `[:2]` is accepted.
#[test]
fn an_alternative_that_is_cut_short_is_found_although_it_matches_elsewhere() {
    const PATH: &str = "path = { SOI ~ \"[\" ~ selector ~ \"]\" ~ EOI }\nselector = { index | slice }\n\
        index = @{ ASCII_DIGIT+ }\nslice = @{ index? ~ \":\" ~ index? }\n";
    let place = TestDirectory::new("cut").file("path.pest", PATH);
    let arguments = ["path.pest", "--rule", "path"];
    let (code, out, error) = place.run_with(b"[1]\n[:2]\n[1:]\n", &arguments);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(out.contains("ALTERNATIVES CUT SHORT (1)\n  selector: | slice"), "{out}");
    assert!(out.contains("`index` comes first and takes 1 byte of 2, as in line 3"), "{out}");
    assert!(out.contains("1 input rejected, at:\n  line 3:1:3  "), "{out}");
    let (_, json, _) =
        place.run_with(b"[1]\n[:2]\n[1:]\n", &[&arguments[..], &["--json"]].concat());
    let report: Value = serde_json::from_str(&json).unwrap();
    let cut =
        json!({"alternative": "index", "inputs": 1, "taken": 1, "bytes": 2, "input": "line 3"});
    assert_changes_are_noticed(&["metaspy", "grammar", "--json"], &report);
    assert_eq!(
        (&report["alternatives"][1]["cut_by"], &report["alternatives"][1]["shadowed_by"]),
        (&cut, &json!(null))
    );
}

/// What `metaspy findings` states of a grammar whose inputs are these lines: the kind, the title
/// and the evidence.
fn cut_short(test: &str, grammar: &str, lines: &str) -> Vec<[String; 3]> {
    let place = TestDirectory::new(test).file("it.pest", grammar);
    let (code, _, error) =
        place.run_with(lines.as_bytes(), &["it.pest", "--rule", "it", "--record", "parses.spy"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let command =
        command.args(["findings", "--kind", "cut-short", "--json"]).arg(place.path("parses.spy"));
    let found: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
    assert_eq!(found["looked_for"], json!(["cut-short"]), "{found}");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let found = found["findings"].as_array().expect("a list");
    found
        .iter()
        .map(|it| [text(&it["certainty"]), text(&it["title"]), text(&it["evidence"]["text"])])
        .collect()
}

#[test]
fn alternatives_that_are_cut_short_in_recorded_parses_are_findings() {
    const PATH: &str = "it = { SOI ~ \"[\" ~ selector ~ \"]\" ~ EOI }\nselector = { index | slice }\n\
        index = @{ ASCII_DIGIT+ }\nslice = @{ index? ~ \":\" ~ index? }\n";
    let title = "an alternative of it::selector takes too little, because it comes first";
    let evidence = "In 1 rejected input, `index` comes before `slice` and takes 1 byte where that would take 2, as in \
                    line 3.";
    let expected = ["estimated", title, evidence].map(str::to_owned);
    assert_eq!(cut_short("cut_path", PATH, "[1]\n[:2]\n[1:]\n"), [expected]);

    const OPERATORS: &str = "it = { SOI ~ number ~ (operator ~ number)* ~ EOI }\nnumber = @{ ASCII_DIGIT+ }\n\
        operator = { \"<\" | \"<\" ~ \"=\" | \"-\" ~ \">\" | \"=\" }\n";
    // The alternative with two signs never matches, so it is shadowed, not cut short.
    assert_eq!(cut_short("cut_operators", OPERATORS, "1<2\n1=2\n1<=2\n"), [] as [[String; 3]; 0]);

    const UNITS: &str = "it = { SOI ~ length ~ (\",\" ~ length)* ~ EOI }\nlength = { number ~ unit }\n\
        number = @{ ASCII_DIGIT+ }\nunit = { metre | milli }\nmetre = { \"m\" }\nmilli = { \"m\"? ~ \"u\"? ~ \"mm\" }\n";
    let title = "an alternative of it::unit takes too little, because it comes first";
    let evidence = "In 2 rejected inputs, `metre` comes before `milli` and takes 1 byte where that would take 3, as in \
                    line 3.";
    let expected = ["estimated", title, evidence].map(str::to_owned);
    assert_eq!(cut_short("cut_units", UNITS, "1m,2m\n1umm\n1mmm\n2m,1mmm\n"), [expected]);
}

#[test]
fn grammars_that_reject_inputs_for_other_reasons_have_no_alternative_that_is_cut_short() {
    let silent = |test: &str, grammar: &str, lines: &str| {
        assert_eq!(cut_short(test, grammar, lines), [] as [[String; 3]; 0], "{test}");
    };
    // The longer alternative comes first.
    const PATH: &str = "it = { SOI ~ \"[\" ~ selector ~ \"]\" ~ EOI }\nselector = { slice | index }\n\
        index = @{ ASCII_DIGIT+ }\nslice = @{ index? ~ \":\" ~ index? }\n";
    silent("cut_right", PATH, "[1]\n[:2]\n[1:]\n[1:x]\n");
    // The shorter alternative comes first, and no input needs the longer one there.
    const FIRST: &str = "it = { SOI ~ \"[\" ~ selector ~ \"]\" ~ EOI }\nselector = { index | slice }\n\
        index = @{ ASCII_DIGIT+ }\nslice = @{ index? ~ \":\" ~ index? }\n";
    silent("cut_unneeded", FIRST, "[1]\n[:2]\n[22]\n");
    // An input that is rejected at a place which no alternative takes.
    silent("cut_elsewhere", FIRST, "[1]\n[:2]\n[1x]\n");
}
