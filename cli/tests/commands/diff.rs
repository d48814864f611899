//! `metaspy diff`: two versions of the page.

use std::path::Path;

use serde_json::Value;

use crate::{ended, fixture, text};

fn json(before: &str, after: &str, more: &[&str]) -> (i32, Value) {
    let (code, out, error) = ended(&[&["diff", before, after, "--json"], more].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {out}{error}")))
}

fn row<'d>(diff: &'d Value, label: &str) -> &'d Value {
    let rows = diff["rows"].as_array().expect("rows");
    rows.iter()
        .find(|row| row["label"] == label)
        .unwrap_or_else(|| panic!("no row {label}: {diff}"))
}

#[test]
fn counts_are_compared_exactly_and_times_beside_them() {
    let (before, after) = (fixture::closed("diff-a.spy", 2), fixture::closed("diff-b.spy", 3));
    let (code, diff) = json(text(&before), text(&after), &[]);
    let measure = row(&diff, "page::Scene::measure");
    assert_eq!(
        (code, &measure["count"]["before"], &measure["count"]["after"]),
        (0, &12.into(), &18.into())
    );
    assert_eq!(
        (&measure["count"]["ratio"], &measure["count"]["interval"]),
        (&1.5.into(), &Value::Null)
    );
    assert_eq!(measure["total_ns"]["after"], 18 * 60_300);
    // A site without calls is in both versions, and did not change.
    let never = row(&diff, "page::Scene::never");
    assert_eq!((&never["in"], &never["changed"]), (&"both".into(), &false.into()));
    let (_, out, _) = ended(&["diff", text(&before), text(&after)]);
    assert!(
        out.contains("page::Scene::measure")
            && out.contains("+50.0 %")
            && !out.contains("Scene::never"),
        "{out}"
    );
    assert!(out.contains("the noise of the times is unknown"), "{out}");
}

#[test]
fn a_recording_compared_with_itself_has_no_change() {
    let path = fixture::closed("diff-same.spy", 2);
    for by in ["site", "subject", "method", "type", "package"] {
        let (code, out, _) =
            ended(&["diff", text(&path), text(&path), "--by", by, "--fail-on", "count +0%"]);
        assert!(code == 0 && out.starts_with("no change in "), "{by}: {out}");
        assert!(out.contains("passed: count +0%"), "{by}: {out}");
    }
}

#[test]
fn several_recordings_of_a_version_give_an_interval() {
    let of = |name: &str, frames| text(&fixture::closed(name, frames)).to_owned();
    let before = [of("diff-1.spy", 2), of("diff-2.spy", 2), of("diff-3.spy", 2)].join(",");
    let after = [of("diff-4.spy", 4), of("diff-5.spy", 4), of("diff-6.spy", 4)].join(",");
    let (code, diff) = json(&before, &after, &["--by", "method", "--fail-on", "time +90%"]);
    let layout = row(&diff, "page::Scene::layout");
    assert_eq!((code, &layout["total_ns"]["interval"]["coverage"]), (1, &0.9.into()));
    assert_eq!(layout["total_ns"]["ratio"], 2.0);
    assert_eq!(diff["conditions"][0]["failed"], true);
    assert!(
        diff["rows"].as_array().expect("rows").iter().all(|row| row["kind"] == "method"),
        "{diff}"
    );
    // A directory is a version, too.
    let directory = fixture::directory().join("diff-dir");
    std::fs::create_dir_all(&directory).expect("the test's directory can be written");
    for (at, file) in before.split(',').enumerate() {
        std::fs::copy(file, directory.join(format!("{at}.spy"))).expect("it can be copied");
    }
    let (_, diff) = json(text(&directory), &after, &[]);
    assert_eq!(
        (&diff["recordings"]["before"], &diff["recordings"]["after"]),
        (&3.into(), &3.into())
    );
    // So is a directory with one for each run, as a history writes it. A run that was interrupted
    // is none.
    let directory = fixture::directory().join("diff-history");
    for (run, file) in ["run-1", "run-2", "run-3.unfinished"].iter().zip(before.split(',')) {
        std::fs::create_dir_all(directory.join(run)).expect("the test's directory can be written");
        std::fs::copy(file, directory.join(run).join("run.spy")).expect("it can be copied");
    }
    let (_, diff) = json(text(&directory), &after, &[]);
    assert_eq!(
        (&diff["recordings"]["before"], &diff["count"]["before"]),
        (&2.into(), &38.into()),
        "{diff}"
    );
}

/// The processes of a run are added up, and repeated runs are not: their median would hide what one
/// process does more often.
#[test]
fn the_recordings_that_one_run_left_in_a_directory_are_one_run() {
    let files = [fixture::closed("diff-run-1.spy", 2), fixture::closed("diff-run-2.spy", 3)];
    let calls: Vec<u64> = files.iter().map(|file| count(text(file))).collect();
    let header = metaspy_core::Store::open(&files[0]).expect("it was written").header();
    let (pid, start) = (header.pid, header.process_start);
    let live = [format!("page-{pid}-{start}.spy"), format!("page-{pid}-{start}.000002.spy")];
    let beside = ["run.spy".to_owned(), format!("run.{pid}.spy")];
    let rotated = [format!("run.{pid}.000002.spy"), format!("run.{pid}.000003.spy")];
    let (sum, median) = (calls.iter().sum::<u64>(), calls[0]);
    for (directory, names, recordings, expected) in [
        ("diff-of-cargo", ["a.spy", "b.spy"].map(str::to_owned), 1, sum),
        ("woven-diff", ["a.spy", "b.spy"].map(str::to_owned), 1, sum),
        ("diff-live", live, 1, sum),
        ("diff-beside", beside, 1, sum),
        ("diff-rotated", rotated, 1, sum),
        ("diff-repeated", ["a.spy", "b.spy"].map(str::to_owned), 2, median),
        // No process has these numbers.
        ("diff-numbered", ["a.spy", "a.1.spy"].map(str::to_owned), 2, median),
    ] {
        let directory = fixture::directory().join(directory);
        std::fs::create_dir_all(&directory).expect("the test's directory can be written");
        for (file, name) in files.iter().zip(&names) {
            std::fs::copy(file, directory.join(name)).expect("it can be copied");
        }
        if directory.ends_with("diff-of-cargo") {
            std::fs::write(directory.join("run.json"), "{}").expect("it can be written");
        }
        // So it is in a version with several runs.
        for version in [text(&directory).to_owned(), format!("{0},{0}", text(&directory))] {
            let (code, diff) = json(text(&files[0]), &version, &["--fail-on", "count +10%"]);
            let runs = if version.contains(',') { 2 } else { recordings };
            let expected = if version.contains(',') { sum } else { expected };
            let found = (&diff["recordings"]["after"], &diff["count"]["after"], code);
            let failed = i32::from(expected > calls[0]);
            assert_eq!(found, (&runs.into(), &expected.into(), failed), "{version}: {diff}");
        }
    }
}

/// The calls of a recording.
fn count(path: &str) -> u64 {
    let (_, diff) = json(path, path, &[]);
    diff["count"]["before"].as_u64().unwrap_or_else(|| panic!("no count: {diff}"))
}

#[test]
fn a_method_that_did_not_run_is_not_gone() {
    let (before, after) = (fixture::closed("diff-i.spy", 2), fixture::closed("diff-j.spy", 0));
    let (code, out, error) = ended(&["diff", text(&before), text(&after)]);
    let measure = out
        .lines()
        .find(|line| line.contains("Scene::measure"))
        .unwrap_or_else(|| panic!("{out}{error}"));
    assert!(code == 0 && measure.contains("did not run") && !out.contains("gone"), "{out}");
    // Under a filter it may have run.
    let (_, out, _) =
        ended(&["diff", text(&before), text(&after), "--filter", "outcome:succeeded,returned"]);
    let measure =
        out.lines().find(|line| line.contains("Scene::measure")).unwrap_or_else(|| panic!("{out}"));
    assert!(
        measure.contains("-100.0 %") && !out.contains("gone") && !out.contains("did not run"),
        "{out}"
    );
}

#[test]
fn rows_are_sorted_by_a_column_in_text_and_json() {
    let (before, after) = (fixture::closed("diff-g.spy", 2), fixture::closed("diff-h.spy", 3));
    let (code, diff) = json(text(&before), text(&after), &["--sort", "name", "--top", "2"]);
    let labels: Vec<_> =
        diff["rows"].as_array().expect("rows").iter().map(|row| row["label"].to_string()).collect();
    assert!(code == 0 && labels.len() == 2 && labels.is_sorted(), "{labels:?}");
    let changes = |diff: &Value| -> Vec<i64> {
        let count = |row: &Value, at: &str| row["count"][at].as_i64().expect("a number");
        let rows = diff["rows"].as_array().expect("rows");
        rows.iter().map(|row| (count(row, "after") - count(row, "before")).abs()).collect()
    };
    let (_, diff) = json(text(&before), text(&after), &["--sort", "count"]);
    assert!(changes(&diff).is_sorted_by(|a, b| a >= b), "{diff}");
    let (code, _, _) = ended(&["diff", text(&before), text(&after), "--percent"]);
    let (refused, _, error) = ended(&["diff", text(&before), text(&after), "--sort", "misses"]);
    assert_eq!((code, refused), (0, 2));
    assert!(
        error.contains("--sort: both versions have no `misses`; sort by count, total, self, name"),
        "{error}"
    );
}

#[test]
fn a_check_decides_how_the_command_ends() {
    let (before, after) = (fixture::closed("diff-c.spy", 2), fixture::closed("diff-d.spy", 3));
    let judged = |gate: &str| ended(&["diff", text(&before), text(&after), "--fail-on", gate]);
    let (code, out, _) = judged("count +10%");
    assert!(
        code == 1 && out.contains("FAILED: count +10%") && out.contains("all together"),
        "{out}"
    );
    assert_eq!((judged("count +50%").0, judged("count -10%").0), (0, 0));
    // Nothing to compare is no success.
    let (code, out, _) = judged("bytes +10%");
    assert!(code == 1 && out.contains("there was nothing to compare"), "{out}");
    let (code, _, error) = judged("count");
    assert!(code == 2 && error.contains("write 'count +10%'"), "{error}");
}

/// No gate passes over what the recordings do not know: it fails, or it is not decided and the
/// command states why.
#[test]
fn a_check_of_recordings_that_lack_something_never_passes() {
    use metaspy_core::recording::Policy;
    let whole = fixture::closed("diff-whole.spy", 8_000);
    let recorded = |name: &str, policy: Policy| {
        let path = fixture::directory().join(name);
        let _turn = fixture::turn();
        let (recording, installed) =
            fixture::begin(metaspy_core::Recording::file(&path).policy(policy), 8_000);
        drop(installed);
        recording.close();
        path
    };
    let lost = recorded("diff-lost.spy", Policy::KeepOldest);
    let folded = recorded("diff-folded.spy", Policy::KeepNewest);
    let empty = fixture::closed("diff-empty.spy", 0);
    let cut = fixture::directory().join("diff-cut.spy");
    let bytes = std::fs::read(&whole).expect("it was written");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).expect("it can be written");
    let panicked = ["--filter", "outcome:panicked"];
    let of_lane = ["--filter", "lane:page"];
    for (after, filter, gate, code, words) in [
        // Counts and outcomes are in the tallies.
        (&folded, &[][..], "count +0%", 0, "passed"),
        (&folded, &panicked, "count +0%", 0, "passed"),
        (&lost, &[], "count +0%", 0, "passed"),
        (&lost, &[], "time -99%", 2, "UNDECIDED: time -99%: not known exactly: "),
        (&folded, &[], "self -99%", 2, "UNDECIDED: self -99%: not known exactly: "),
        (&folded, &of_lane, "count +0%", 2, "calls may lack in "),
        (&folded, &of_lane, "time +0%", 2, "calls may lack in "),
        (&cut, &[], "count +0%", 2, "calls may lack in "),
        (&empty, &[], "count +0%", 1, "there was nothing to compare: "),
        (&empty, &panicked, "count +0%", 1, "there was nothing to compare: "),
    ] {
        let line = [&["diff", text(&whole), text(after), "--fail-on", gate], filter].concat();
        let (ended_with, out, error) = ended(&line);
        assert_eq!(ended_with, code, "{line:?}: {out}{error}");
        assert!(out.contains(words), "{line:?}: {out}{error}");
        assert_eq!(error.contains("UNDECIDED"), code == 2, "{line:?}: {error}");
    }
}

#[test]
fn a_version_without_events_is_compared_and_a_missing_recording_is_refused() {
    let (before, after) = (fixture::closed("diff-e.spy", 1), fixture::closed("diff-f.spy", 3));
    let (code, out, error) =
        ended(&["diff", text(&before), text(&after), "--filter", "subject:#99"]);
    assert!(code == 0 && out.starts_with("no change in 0 rows"), "{out}{error}");
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-such.spy");
    let (code, _, error) = ended(&["diff", text(&before), text(&missing)]);
    assert!(code == 2 && error.contains("there is no file"), "{error}");
}
