//! Some of the files of a rotation: what is said of them, and what gates decide.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::report::json;
use crate::{ended, fixture, text};

/// Measures between two looks at the directory.
const BURST: u64 = 100;

fn recordings(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("it is there").filter_map(|entry| Some(entry.ok()?.path()));
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "spy")).collect()
}

/// What a process does whose recording rotates within a layout: measures until there are three files, and one behind the
/// layout.
#[test]
fn rotates_within_a_layout() {
    let Some(directory) = std::env::var_os("METASPY_ROTATED_WITHIN").map(PathBuf::from) else { return };
    let mut measures = 0;
    fixture::layout(|| {
        while recordings(&directory).len() < 3 {
            (0..BURST).for_each(|_| fixture::measure(fixture::node(2)));
            measures += BURST;
            thread::sleep(Duration::from_millis(1));
        }
    });
    fixture::measure(fixture::node(3));
    println!("measures={measures}");
}

/// The files of such a process, the first one first, and the measures within its layout.
fn rotated(name: &str) -> (Vec<String>, u64) {
    let directory = fixture::directory().join(name);
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
    command.args(["rotated::rotates_within_a_layout", "--exact", "--nocapture"]);
    command.env("METASPY_ROTATED_WITHIN", &directory).env("METASPY_RECORD", directory.join("run.spy"));
    let output = command.env("METASPY_ROTATE", "4MiB,1ms").env_remove("METASPY_OBSERVE").output();
    let output = output.expect("it can be run again");
    let out = String::from_utf8_lossy(&output.stdout);
    let measures = out.lines().find_map(|line| line.split_once("measures=")?.1.parse().ok());
    let measures = measures.unwrap_or_else(|| panic!("{out}{}", String::from_utf8_lossy(&output.stderr)));
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
    let (files, measures) = rotated("rotated-within");
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
    assert_eq!(judged(&files, &format!("count(site:measure cause:Scene::layout) > {}", measures + 1)).0, 0);
}

#[test]
fn a_report_of_some_files_of_a_rotation_says_which_part_they_are_and_is_not_exact() {
    let (files, _) = rotated("rotated-parts");
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
        assert_eq!((absent["earlier"].as_u64(), absent["has_later"].as_bool()), (Some(earlier), Some(has_later)));
        // More calls than there are may be in the others.
        let (code, judged) = judged(files, "count(site:measure) > 1_000_000");
        assert!(code == 2 && judged["gaps"].to_string().contains("give all files"), "{title}: {judged}");
        // What is there decides. A file that the process began before it ended may be empty.
        let mut rows = report["rows"].as_array().expect("a list").iter();
        let has_measures = rows.any(|row| row["label"] == "Scene::measure" && row["count"].as_u64() > Some(0));
        let expected = if has_measures { 1 } else { 2 };
        assert_eq!(self::judged(files, "count(site:measure) > 0").0, expected, "{title}: {report}");
    }
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let (_, report) = json(&[vec!["report"], all].concat());
    assert_eq!((&report["exact"], &report["absent_files"]), (&Value::Bool(true), &Value::Null), "{report}");
}
