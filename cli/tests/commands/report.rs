//! The report: what stands in its JSON, what its conditions decide.

use metaspy_core::{Site, SiteDef, SiteKind};
use serde_json::Value;

use crate::{ended, fixture, text};

pub fn json(arguments: &[&str]) -> (i32, Value) {
    let (code, out, error) = ended(&[arguments, &["--json"]].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {out}{error}")))
}

pub fn count(rows: &Value) -> u64 {
    rows.as_array().unwrap().iter().map(|row| row["count"].as_u64().unwrap()).sum()
}

#[test]
fn the_json_agrees_with_its_description() {
    let path = fixture::closed("json.spy", 3);
    for by in ["site", "subject", "cause"] {
        let (code, report) = json(&["report", text(&path), "--by", by]);
        assert_eq!(code, 0);
        assert_eq!(
            (&report["emitted"], &report["events"], &report["lost"]),
            (&57.into(), &57.into(), &0.into())
        );
        assert_eq!((&report["exact"], &report["by"]), (&true.into(), &by.into()));
        assert_eq!(count(&report["rows"]), 57, "{by}");
        for row in report["rows"].as_array().unwrap() {
            for key in ["key", "label", "kind", "count", "total_ns", "self_ns", "max_ns"] {
                assert!(row.get(key).is_some(), "{by}: {key} in {row}");
            }
        }
    }
}

#[test]
fn types_and_packages_show_how_much_of_them_ran() {
    let path = fixture::closed("parts.spy", 3);
    let (_, report) = json(&["report", text(&path), "--by", "type"]);
    let row = &report["rows"][0];
    assert_eq!(
        (&report["by"], &row["key"], &row["kind"]),
        (&"type".into(), &"page::Scene".into(), &"type".into())
    );
    assert_eq!(
        (&row["executions"], &row["covered"], &row["methods"]),
        (&33.into(), &3.into(), &4.into())
    );
    assert_eq!((&row["receivers"], &row["receivers_exact"]), (&9.into(), &true.into()));
    // The methods call each other: their times add up to more.
    assert_eq!(
        (&row["total_ns"], &row["complexity"], &row["lines"]),
        (&5_398_500.into(), &Value::Null, &45.into())
    );
    let (_, report) = json(&["report", text(&path), "--by", "package", "--top", "all"]);
    let rows = report["rows"].as_array().unwrap();
    let page = rows.iter().find(|row| row["key"] == "page").expect("it is a package");
    assert_eq!(
        (&page["kind"], &page["executions"], &page["covered"]),
        (&"crate".into(), &36.into(), &4.into())
    );
    let (_, report) = json(&["report", text(&path), "--by", "type", "--filter", "site:measure"]);
    assert_eq!(
        (&report["rows"][0]["covered"], &report["rows"][0]["methods"]),
        (&1.into(), &Value::Null)
    );
    let (code, out, _) = ended(&["report", text(&path), "--by", "type"]);
    assert!(code == 0 && out.contains("page::(functions)") && out.contains("3/4"), "{out}");
}

metaspy_core::site::register! {
    static SKIPPED: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "vault",
        name: "Door::KEY",
        file: "vault/src/lib.rs",
        lines: (1, 2),
        skipped: Some("a const fn runs at compile time"),
    });
}

#[test]
fn what_cannot_run_is_not_listed_as_never_run() {
    let path = fixture::closed("skipped.spy", 3);
    for (by, what) in [("type", ["type, ", "types, "]), ("package", ["crate or ", "crates and "])] {
        let (_, report) = json(&["report", text(&path), "--by", by, "--top", "all"]);
        let rows = report["rows"].as_array().unwrap();
        assert!(rows.iter().all(|row| !row["key"].as_str().unwrap().contains("vault")), "{rows:?}");
        let never = rows.iter().filter(|row| row["executions"] == 0).count();
        let (_, out, _) = ended(&["report", text(&path), "--by", by]);
        assert_eq!(out.contains(" never ran"), never > 0, "{out}");
        let what = what[usize::from(never > 1)];
        assert!(never == 0 || out.contains(&format!("\n{never} {what}")), "{out}");
    }
}

#[test]
fn what_was_not_measured_is_null() {
    let path = fixture::closed("null.spy", 3);
    let (_, report) = json(&["report", text(&path), "--filter", "site:resize"]);
    let row = &report["rows"][0];
    assert_eq!(
        (&row["key"], &row["count"], &row["total_ns"]),
        (&"page::resize".into(), &3.into(), &Value::Null)
    );
    let (_, report) = json(&["report", text(&path), "--filter", "site:measure"]);
    // 0.3 µs for a hit, 60 µs of its own, six times a frame.
    assert_eq!(report["rows"][0]["total_ns"], 18 * 60_300);
    assert_eq!(report["rows"][0]["max_ns"], 60_300);
}

#[test]
fn a_subject_has_its_key_as_a_number_and_its_label() {
    let path = fixture::closed("subject.spy", 3);
    let (_, report) = json(&["report", text(&path), "--by", "subject", "--filter", "subject:#3"]);
    let row = &report["rows"][0];
    assert_eq!((&row["key"], &row["kind"], &row["count"]), (&3.into(), &"node".into(), &3.into()));
    assert!(row["label"].as_str().unwrap().contains("fox"), "{row}");
}

#[test]
fn json_has_all_rows_and_top_takes_the_most_frequent() {
    let path = fixture::closed("top.spy", 3);
    let (_, report) = json(&["report", text(&path), "--by", "subject"]);
    assert_eq!(report["rows"].as_array().unwrap().len(), 10);
    let (_, report) = json(&["report", text(&path), "--by", "subject", "--top", "2"]);
    assert_eq!((report["rows"].as_array().unwrap().len(), &report["row_count"]), (2, &10.into()));
    let (_, report) = json(&["report", text(&path), "--top", "all"]);
    let rows = report["rows"].as_array().unwrap();
    assert!(
        rows.iter().any(|row| row["key"] == "page::Scene::never" && row["count"] == 0),
        "{report}"
    );
}

#[test]
fn a_condition_decides_how_the_report_ends() {
    let path = fixture::closed("conditions.spy", 3);
    let judged = |condition: &str| ended(&["report", text(&path), "--fail-if", condition]);
    let (code, out, _) = judged("count(site:measure) > 17");
    assert_eq!(code, 1);
    assert!(out.contains("FAILED: count(site:measure) > 17 (it is 18)"), "{out}");
    assert_eq!(judged("count(site:measure) > 18").0, 0);
    assert_eq!(judged("max(site:frame) > 1ms").0, 1);
    assert_eq!(judged("max(site:frame) > 2ms").0, 0);
    assert_eq!(judged("count(outcome:panicked) == 3").0, 1);
    let (code, _, error) = judged("total(site:resize) > 1ms");
    assert_eq!(code, 2);
    assert!(error.contains("not timed"), "{error}");
    let (code, _, error) = judged("count(site:mesure) > 17");
    assert_eq!(code, 2);
    assert!(error.contains("page::Scene::measure"), "{error}");
    for unknown in ["count(kind:nodee) > 17", "count(-subject:nodee:3) > 17"] {
        let (code, _, error) = judged(unknown);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains("kind `nodee`: it has node"), "{error}");
    }
}

#[test]
fn an_expectation_names_what_misses_it() {
    let path = fixture::closed("expectations.spy", 3);
    let judged = |expectation: &str| ended(&["report", text(&path), "--expect", expectation]);
    let (code, out, _) = judged("site:measure => cause:Scene::layout");
    assert!(
        code == 0
            && out.contains("expected: site:measure => cause:Scene::layout   missed by 0 of 18"),
        "{out}"
    );
    let (code, out, _) = judged("site:measure => subject:#5");
    assert!(
        code == 1 && out.contains("MISSED: site:measure => subject:#5   missed by 15 of 18\n"),
        "{out}"
    );
    let offenders: Vec<&str> =
        out.lines().filter(|line| line.contains("  caused by page::Scene::layout")).collect();
    assert_eq!(offenders.len(), 15, "{out}");
    assert!(!offenders.iter().any(|line| line.contains("#5")), "{out}");
    // More than twenty are not named, and counted.
    let (code, out, _) = judged("-site:frame => site:frame");
    assert!(
        code == 1 && out.contains("missed by 54 of 54") && out.ends_with("  … and 34 more\n"),
        "{out}"
    );
    let (code, report) = json(&[
        "report",
        text(&path),
        "--expect",
        "site:frame => cause:resize",
        "--expect",
        "site:measure => outcome:succeeded",
    ]);
    let [first, second] = &report["expectations"].as_array().unwrap()[..] else {
        panic!("{report}")
    };
    assert_eq!(
        (code, &first["judged"], &first["missed"], &second["unknown"]),
        (1, &3.into(), &3.into(), &0.into())
    );
    assert_eq!(first["offenders"][0]["site"], "page::frame");
    for (wrong, word) in [
        ("site:measure", "the `=>` is missing"),
        ("site:measure =>", "no filter behind"),
        ("site:measure => took:soon", "took"),
        ("site:mesure => site:frame", "page::Scene::measure"),
    ] {
        let (code, _, error) = judged(wrong);
        assert!(code == 2 && error.contains(word), "{wrong}: {error}");
    }
}

/// A condition over no events is not met: a program that stopped to record would pass it for ever.
#[test]
fn a_condition_without_events_fails_unless_that_is_allowed() {
    let path = fixture::closed("no-events.spy", 0);
    for gate in
        [["--expect", "site:layout => cause:resize"], ["--fail-if", "count(site:layout) > 10"]]
    {
        let check = |more: &[&str]| ended(&[&["report", text(&path)], &gate[..], more].concat());
        for json in [&[][..], &["--json"]] {
            let (code, out, error) = check(json);
            assert!(
                code == 1 && error.contains("nothing was recorded, so no condition was checked"),
                "{out}{error}"
            );
            let (code, _, error) = check(&[json, &["--allow-empty"]].concat());
            assert_eq!((code, error.as_str()), (0, ""), "{gate:?}");
        }
    }
    assert_eq!(ended(&["report", text(&path)]).0, 0);
    let full = fixture::closed("something.spy", 3);
    let check = |more: &[&str]| ended(&[&["report", text(&full)], more].concat());
    let (code, _, error) = check(&["--filter", "subject:#999", "--fail-if", "count(*) > 10"]);
    assert!(code == 1 && error.contains("no event passes --filter"), "{error}");
    let (code, out, error) = check(&["--expect", "site:never => cause:resize"]);
    assert!(
        code == 1 && out.contains("NOTHING CHECKED: site:never") && error.contains("--allow-empty"),
        "{out}{error}"
    );
    assert_eq!(check(&["--expect", "site:never => cause:resize", "--allow-empty"]).0, 0);
    // A count of zero is a measure, where other events were recorded.
    assert_eq!(check(&["--fail-if", "count(site:never) > 0"]).0, 0);
    // A selector that matches no site is a mistake, whatever is allowed.
    assert_eq!(check(&["--expect", "site:nothere => cause:resize", "--allow-empty"]).0, 2);
}

#[test]
fn links_are_reasons() {
    let path = fixture::directory().join("links.spy");
    {
        let _turn = fixture::turn();
        let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 1);
        fixture::linked_layout();
        drop(installed);
        recording.close();
    }
    let expect = ["report", text(&path), "--expect", "site:layout => cause:resize"];
    let (code, out, error) = ended(&expect);
    assert!(code == 1 && out.contains("   missed by 4 of 5\n"), "{out}{error}");
    let (_, report) = json(&["report", text(&path), "--expect", "site:layout => cause:never"]);
    let links: Vec<&Value> = report["expectations"][0]["offenders"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["links"])
        .collect();
    assert_eq!(links[4], &serde_json::json!(["page::resize"]), "{report}");
    let (_, out, _) = ended(&["report", text(&path), "--expect", "site:layout => cause:never"]);
    assert!(out.contains("caused by page::frame, linked to page::resize"), "{out}");
    let (_, report) = json(&["report", text(&path), "--by", "cause"]);
    let roots = report["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["key"].as_str().unwrap(), &row["count"]));
    // The change itself, and the layout and the measure below it. These two are in both rows.
    assert_eq!(
        roots.collect::<Vec<_>>(),
        [("page::frame", &22.into()), ("page::resize", &3.into())]
    );
    assert_eq!((&report["shared"], &report["emitted"]), (&2.into(), &23.into()));
    let (_, out, _) = ended(&["report", text(&path), "--by", "cause", "--filter", "cause:resize"]);
    assert!(out.contains("2 calls with several root causes, in the row of each"), "{out}");
}

#[test]
fn where_events_left_the_window_an_expectation_may_not_be_decided() {
    let path = fixture::directory().join("undecided.spy");
    {
        let _turn = fixture::turn();
        let (recording, installed) = fixture::begin(
            metaspy_core::Recording::file(&path)
                .policy(metaspy_core::recording::Policy::KeepOldest),
            8_000,
        );
        drop(installed);
        recording.close();
    }
    let (code, _, error) =
        ended(&["report", text(&path), "--expect", "site:measure => cause:Scene::layout"]);
    assert!(
        code == 2
            && error.contains("cannot be decided: ")
            && error.contains("without an event in the window"),
        "{error}"
    );
    let (code, out, _) = ended(&["report", text(&path), "--expect", "site:measure => subject:#3"]);
    // The tallies know the subjects of all calls: 4 of 6 in a frame have another one.
    assert!(
        code == 1
            && out.contains("MISSED: site:measure => subject:#3   missed by 48,000 of 48,000\n"),
        "{out}"
    );
    // They know the outcomes, too.
    let (code, out, _) =
        ended(&["report", text(&path), "--expect", "site:layout => -outcome:panicked"]);
    assert!(code == 1 && out.contains("missed by 8,000 of 32,000\n"), "{out}");
    assert_eq!(ended(&["report", text(&path), "--expect", "site:paint => -outcome:panicked"]).0, 0);
    // The events of the first filter may have left the window.
    let (code, _, error) =
        ended(&["report", text(&path), "--expect", "lane:page site:paint => outcome:returned"]);
    assert!(code == 2 && error.contains("cannot be decided: "), "{error}");
}

#[test]
fn a_filter_with_an_unused_kind_warns() {
    let path = fixture::closed("kinds.spy", 1);
    let (code, out, error) = ended(&["report", text(&path), "--filter", "kind:nodee"]);
    assert_eq!(code, 0, "{out}");
    assert!(error.contains("kind `nodee`: it has node"), "{error}");
    assert_eq!(ended(&["report", text(&path), "--filter", "kind:node subject:#999"]).2, "");
}

#[test]
fn times_that_lack_calls_are_marked_and_the_spent_budget_is_shown() {
    let path = fixture::directory().join("partial.spy");
    {
        let _turn = fixture::turn();
        let builder = metaspy_core::Recording::file(&path)
            .policy(metaspy_core::recording::Policy::KeepOldest);
        let (recording, installed) = fixture::begin(builder, 8_000);
        drop(installed);
        recording.close();
    }
    let (code, out, _) =
        ended(&["report", text(&path), "--filter", "site:measure", "--fail-if", "total(*) < 1ns"]);
    assert_eq!(code, 0, "{out}");
    let row = out.lines().find(|line| line.starts_with("page::Scene::measure")).unwrap();
    assert!(row.contains(" lost") && row.matches('≥').count() == 2, "{out}");
    assert!(out.contains("ok: total(*) < 1ns (it is ≥"), "{out}");
    assert!(out.contains("note: The budget of 4 MiB is spent"), "{out}");
    assert!(ended(&["verify", text(&path)]).1.contains("note: The budget of 4 MiB is spent"));
    // The sites and the time of the loss: from the last event to the end.
    assert!(
        out.contains("\nlost at ") && out.contains("Scene::measure ") && out.contains(" s: "),
        "{out}"
    );
    let (_, report) = json(&["report", text(&path), "--filter", "site:measure"]);
    let losses = &report["losses"];
    let calls = |of: &str| {
        losses[of].as_array().unwrap().iter().map(|it| it["calls"].as_u64().unwrap()).sum::<u64>()
    };
    let [at_sites, in_times, lost] =
        [calls("sites"), calls("times"), report["lost"].as_u64().unwrap()];
    assert_eq!(
        (at_sites, in_times + losses["elsewhere"].as_u64().unwrap()),
        (lost, lost),
        "{losses}"
    );
    let last = losses["times"].as_array().unwrap().last().unwrap();
    assert!(
        lost > 0 && last["from_ns"].as_u64() < last["to_ns"].as_u64() && last["lanes"] == 1,
        "{losses}"
    );
    assert_eq!(report["rows"][0]["partial"], true);
    let whole = fixture::closed("whole-times.spy", 3);
    let (_, out, _) = ended(&["report", text(&whole), "--by", "subject"]);
    assert!(!out.contains('≥'), "{out}");
}

#[test]
fn text_for_people_is_aligned_and_names_what_it_leaves_out() {
    let path = fixture::closed("people.spy", 3);
    let (code, out, _) = ended(&["report", text(&path), "--top", "3"]);
    assert_eq!(code, 0);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[1].starts_with("57 emitted, 57 in the window, 0 lost  (exact)"), "{out}");
    let (head, row) = (lines[3], lines[4]);
    assert_eq!(head.find("calls").map(|at| at + 5), row.find("18").map(|at| at + 2), "{out}");
    // Seven sites of the fixtures never ran, and those of the stories that are linked into this
    // program.
    let (_, all, _) = ended(&["report", text(&path), "--top", "all"]);
    let never = all.lines().filter(|line| line.contains("   0    0.0   ")).count();
    assert!(
        never >= 7 && ["page::Scene::never", "shop::sell"].iter().all(|site| all.contains(site)),
        "{all}"
    );
    assert!(
        out.contains("and 3 more") && out.contains(&format!("\n{never} sites were never called")),
        "{out}"
    );
    let (_, out, _) = ended(&["report", text(&path), "--by", "subject", "--top", "all"]);
    assert!(!out.chars().any(|c| c.is_control() && c != '\n'), "{out}");
    assert!(out.contains("#12 <div>"), "{out}");
}

#[test]
fn verify_lists_the_content() {
    let path = fixture::closed("verify.spy", 3);
    let (code, out, _) = ended(&["verify", text(&path)]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("closed in good order") && out.trim_end().ends_with("sound"), "{out}");
    let (code, verification) = json(&["verify", text(&path)]);
    assert_eq!((code, &verification["events"]), (0, &57.into()));
}

#[test]
fn subjects_that_share_a_row_are_the_reason_for_lower_bounds() {
    let path = fixture::crowded("crowded.spy", 120_000);
    let (_, report) = json(&["report", text(&path), "--by", "subject"]);
    assert_eq!((&report["exact"], count(&report["rows"])), (&false.into(), 120_000));
    let others = &report["rows"][0];
    assert_eq!((&others["label"], &others["self_ns"]), (&"others".into(), &Value::Null));
    let exact = |row: &&Value| row["count_exact"] == true;
    let rows = report["rows"].as_array().unwrap();
    let (sure, all) = (rows.iter().filter(exact).count(), rows.len());
    assert!((1..all).contains(&sure), "{sure} of {all} counts are exact");
    for by in ["subject", "site,subject"] {
        let (_, out, _) = ended(&["report", text(&path), "--by", by]);
        assert!(
            out.contains("share the row of others") && !out.contains("the filter asks"),
            "{out}"
        );
    }
    let (_, out, _) = ended(&["report", text(&path)]);
    assert!(out.contains("(exact)") && out.contains('≥'), "self time is that of the window: {out}");
}

#[test]
fn the_functions_that_ran_are_written_for_coverage_services() {
    let path = fixture::closed("coverage.spy", 1);
    let (lcov, cobertura) =
        (fixture::directory().join("run.info"), fixture::directory().join("run.xml"));
    let (code, _, error) =
        ended(&["report", text(&path), "--lcov", text(&lcov), "--cobertura", text(&cobertura)]);
    assert_eq!(code, 0, "{error}");
    let tracefile = std::fs::read_to_string(lcov).unwrap();
    assert!(
        tracefile.contains("FNDA:6,page::Scene::measure\n")
            && tracefile.contains("FNDA:0,page::Scene::never\n")
    );
    let xml = std::fs::read_to_string(cobertura).unwrap();
    let allow = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&xml, allow).expect("it is XML");
    assert!(document.descendants().any(|it| it.attribute("name") == Some("page::Scene")), "{xml}");
}
