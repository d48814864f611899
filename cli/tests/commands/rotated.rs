//! Some of the files of a rotation: what is said of them, and what gates decide.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::report::json;
use crate::{ended, fixture, text};

/// Measures between two looks at the directory, and the variable that sets another number.
const BURST: u64 = 100;
const MEASURES: &str = "METASPY_TEST_MEASURES";
/// Files of a process. When the last one begins, the first one is let go, so that calls in it end
/// unseen.
const FILES: usize = 6;

fn recordings(directory: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(directory).expect("it is there").filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "spy")).collect()
}

/// What a process does whose recording rotates within a layout that panics: measures until there
/// are some files, and one behind the layout.
#[test]
fn rotates_within_a_layout() {
    let Some(directory) = std::env::var_os("METASPY_ROTATED_WITHIN").map(PathBuf::from) else {
        return;
    };
    let burst =
        std::env::var(MEASURES).map_or(BURST, |number| number.parse().expect("it is a number"));
    let mut measures = 0;
    fixture::panicking_layout(|| {
        while recordings(&directory).len() < FILES {
            (0..burst).for_each(|_| fixture::measure(fixture::node(2)));
            measures += burst;
            thread::sleep(Duration::from_millis(1));
        }
    });
    fixture::measure(fixture::node(3));
    println!("measures={measures}");
}

/// The files of such a process, the first one first, and the measures within its layout.
fn rotated(name: &str, variables: &[(&str, &str)]) -> (Vec<String>, u64) {
    let directory = fixture::directory().join(name);
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command.args(["rotated::rotates_within_a_layout", "--exact", "--nocapture"]);
    command
        .env("METASPY_ROTATED_WITHIN", &directory)
        .env("METASPY_RECORD", directory.join("run.spy"));
    command.env("METASPY_ROTATE", "4MiB,1ms").env_remove("METASPY_OBSERVE");
    let output = command.envs(variables.iter().copied()).output();
    let output = output.expect("it can be run again");
    let out = String::from_utf8_lossy(&output.stdout);
    let measures = out.lines().find_map(|line| line.split_once("measures=")?.1.parse().ok());
    let measures =
        measures.unwrap_or_else(|| panic!("{out}{}", String::from_utf8_lossy(&output.stderr)));
    let mut files = recordings(&directory);
    files.sort_by_key(|path| fixture::open(path).header().earlier_files);
    (files.iter().map(|path| text(path).to_owned()).collect(), measures)
}

/// What a condition decides: true if it fails, `null` if that is not known.
fn judged(files: &[String], condition: &str) -> (i32, Value) {
    let mut arguments = vec!["report"];
    arguments.extend(files.iter().map(String::as_str));
    let (code, report) = json(&[arguments, vec!["--fail-if", condition]].concat());
    let judged = report["conditions"][0].clone();
    assert_eq!(code == 2, judged["failed"].is_null(), "{condition}: {judged}");
    (code, judged)
}

#[test]
fn a_condition_on_causes_is_not_decided_by_calls_whose_cause_is_in_an_earlier_file() {
    let (files, measures) = rotated("rotated-within", &[]);
    // Together they have all calls.
    assert_eq!(judged(&files, &format!("count(site:measure) != {}", measures + 1)).0, 0);
    // Each would fail if the effects in later files were taken for roots.
    let wrong = [
        format!("count(site:measure cause:Scene::layout) < {measures}"),
        format!("count(site:measure cause:Scene::layout) != {measures}"),
        "count(site:measure -cause:Scene::layout) > 1".to_owned(),
    ];
    for condition in wrong {
        let (code, judged) = judged(&files, &condition);
        let gaps = judged["gaps"].to_string();
        assert!(code == 2 && gaps.contains("earlier file of a rotation"), "{condition}: {judged}");
    }
    // This one fails whatever those are the effects of, and this one holds.
    assert_eq!(judged(&files, "count(site:measure cause:Scene::layout) > 0").0, 1);
    assert_eq!(
        judged(&files, &format!("count(site:measure cause:Scene::layout) > {}", measures + 1)).0,
        0
    );
}

#[test]
fn a_report_of_some_files_of_a_rotation_says_which_part_they_are_and_is_not_exact() {
    let (files, _) = rotated("rotated-parts", &[]);
    let last = files.len() - 1;
    // The files, the title, and what is said to be absent: earlier files, and later ones.
    let parts: [(&[String], &str, u64, bool); 4] = [
        (&files[..1], "part 1 of a rotation", 0, true),
        (&files[1..2], "part 2 of a rotation", 1, true),
        (&files[last..], &format!("part {} of a rotation", last + 1), last as u64, false),
        (&files[..last], "parts of a rotation", 0, true),
    ];
    for (files, title, earlier, has_later) in parts {
        let mut arguments = vec!["report"];
        arguments.extend(files.iter().map(String::as_str));
        let (code, out, error) = ended(&arguments);
        assert!(code == 0 && out.contains(&format!("({title})")), "{title}: {out}{error}");
        assert!(out.contains(&format!("at least: {title}")), "{title}: {out}");
        let (_, report) = json(&arguments);
        assert_eq!(report["exact"], false, "{title}: {report}");
        let absent = &report["absent_files"];
        assert_eq!(
            (absent["earlier"].as_u64(), absent["has_later"].as_bool()),
            (Some(earlier), Some(has_later))
        );
        // More calls than there are may be in the others.
        let (code, judged) = judged(files, "count(site:measure) > 1_000_000");
        assert!(
            code == 2 && judged["gaps"].to_string().contains("give all files"),
            "{title}: {judged}"
        );
        // What is there decides. A file that the process began before it ended may be empty.
        let mut rows = report["rows"].as_array().expect("a list").iter();
        let has_measures =
            rows.any(|row| row["label"] == "Scene::measure" && row["count"].as_u64() > Some(0));
        let expected = if has_measures { 1 } else { 2 };
        assert_eq!(self::judged(files, "count(site:measure) > 0").0, expected, "{title}: {report}");
    }
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let (_, report) = json(&[vec!["report"], all].concat());
    assert_eq!(
        (&report["exact"], &report["absent_files"]),
        (&Value::Bool(true), &Value::Null),
        "{report}"
    );
}

/// Conditions on the end of the layout, of which no file has it.
const OF_THE_END: [&str; 8] = [
    "count(site:layout outcome:panicked) > 0",
    "count(site:layout -outcome:panicked) > 0",
    "count(site:layout outcome:running) > 0",
    "count(site:layout outcome:succeeded) < 1",
    "count(site:layout took:>1h) > 0",
    "count(site:layout -took:>1h) < 1",
    "total(site:layout) > 1h",
    "max(site:layout) > 1h",
];

#[test]
fn a_condition_on_the_end_of_a_call_is_not_decided_if_the_recording_went_on_within_it() {
    end_is_not_decided("rotated-end", &[]);
}

#[test]
fn a_condition_on_the_end_of_a_call_is_not_decided_either_where_calls_leave_the_window_meanwhile() {
    end_is_not_decided("rotated-folded-end", &[("METASPY_ROTATE", "1MiB"), (MEASURES, "60000")]);
}

fn end_is_not_decided(name: &str, variables: &[(&str, &str)]) {
    let (files, _) = rotated(name, variables);
    let copy = text(&fixture::directory().join(format!("{name}-copy.spy"))).to_owned();
    let mut export = vec!["export"];
    export.extend(files.iter().map(String::as_str));
    let (code, _, error) = ended(&[export, vec!["--to", "spy", "-o", &copy]].concat());
    assert_eq!(code, 0, "{error}");
    for files in [files, vec![copy]] {
        for condition in OF_THE_END {
            let (code, judged) = judged(&files, condition);
            assert!(code == 2 && judged["gaps"][0].is_string(), "{condition}: {judged}");
            if condition.contains("outcome:") {
                assert!(
                    judged["gaps"].to_string().contains("went on in another file"),
                    "{condition}: {judged}"
                );
            }
        }
        // However it ended, it is one call, and no measure panicked.
        assert_eq!(judged(&files, "count(site:layout) != 1").0, 0);
        assert_eq!(judged(&files, "count(site:layout) > 0").0, 1);
        assert_eq!(judged(&files, "count(site:layout outcome:panicked) > 1").0, 0);
        assert_eq!(judged(&files, "count(site:measure outcome:panicked) > 0").0, 0);
        assert_eq!(judged(&files, "count(site:measure outcome:succeeded) < 1").0, 0);
        for (expectation, code) in [
            ("site:layout => -outcome:panicked", 2),
            ("site:layout => outcome:panicked", 2),
            ("site:measure => -outcome:panicked", 0),
        ] {
            let mut arguments = vec!["report"];
            arguments.extend(files.iter().map(String::as_str));
            let (judged, _, error) = ended(&[arguments, vec!["--expect", expectation]].concat());
            assert_eq!(judged, code, "{expectation}: {error}");
            assert!(
                code == 0 || error.contains("went on in another file"),
                "{expectation}: {error}"
            );
        }
    }
}

#[test]
fn how_a_call_ended_that_was_only_counted_is_not_known_if_the_recording_went_on_within_it() {
    let (files, measures) = rotated("rotated-counted-end", &[("METASPY_MODE", "tally")]);
    for condition in
        ["count(site:layout outcome:panicked) > 0", "count(site:layout -outcome:panicked) > 0"]
    {
        let (code, judged) = judged(&files, condition);
        assert!(
            code == 2 && judged["gaps"].to_string().contains("went on in another file"),
            "{condition}: {judged}"
        );
    }
    assert_eq!(judged(&files, &format!("count(site:measure) != {}", measures + 1)).0, 0);
}
