//! `metaspy query`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use metaspy_reader::{By, Scope, Store};
use metaspy_scale::query::EXAMPLES;

use crate::fixture::{
    CALLS, FRAMES, OF_FRAME, directory, metaspy, printed, recording, rows, spool,
};
use crate::seal::{file, partition};
use crate::ship::text;

#[test]
fn counts_by_site_are_those_of_the_tally() {
    let store = Store::open(&recording()).expect("it was recorded");
    let mut expected: Vec<String> = store
        .tally(By::Site, &Scope::default())
        .rows
        .iter()
        .map(|row| {
            format!(
                "{},{}",
                store.site_path(row.site.expect("a row has a site")),
                row.measure.count
            )
        })
        .collect();
    expected.sort();
    assert_eq!(rows("SELECT site, count(*) FROM events GROUP BY site ORDER BY site"), expected);
    assert_eq!(rows("SELECT site, sum(calls) FROM tallies GROUP BY site ORDER BY site"), expected);
    assert_eq!(rows("SELECT count(*) FROM events"), [CALLS.to_string()]);
}

#[test]
fn every_example_runs_on_a_recording() {
    for example in EXAMPLES {
        let path = recording().display().to_string();
        let text = printed(&["query", "--format", "csv", example.sql, &path]);
        assert!(text.lines().count() > 0, "{}", example.question);
    }
    assert!(printed(&["query", "--examples"]).contains(EXAMPLES[0].sql));
}

#[test]
fn conditions_skip_chunks_and_keep_every_row() {
    let explained = |condition: &str| {
        let plan =
            rows(&format!("EXPLAIN SELECT count(*) FROM events WHERE {condition}")).join(" ");
        let (_, rest) = plan.split_once("EventsExec: chunks=").unwrap_or_else(|| panic!("{plan}"));
        let number = |text: &str| {
            text.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u64>()
        };
        let (_, skipped) = rest.split_once("skipped=").expect("it prints both");
        (number(rest).expect("a number"), number(skipped).expect("a number"))
    };
    let (all, none) = explained("event > 0");
    assert!(all > 2 && none == 0, "{all} chunks, {none} skipped");
    for condition in
        ["site LIKE '%::paint'", "thread = 'painter'", "process = 'other'", "time_ns < 10"]
    {
        let (read, skipped) = explained(condition);
        assert!(
            read < all && read + skipped <= all,
            "{condition}: {read} of {all} chunks, {skipped} skipped"
        );
    }
    // The same rows as without any push-down: a condition on an expression cannot be pushed down.
    for (condition, plain) in [
        ("site LIKE '%::paint'", "concat(site, cause) LIKE '%::paint%'"),
        ("subject_key = 3", "subject_key + event = 3 + event"),
        ("subject_key IN (3, 5) AND outcome = 'err'", "concat(subject_key, outcome) = '3err'"),
        (
            "thread <> 'painter' AND subject_kind IS NOT NULL",
            "concat(thread, event) NOT LIKE 'painter%'",
        ),
        ("time_ns BETWEEN 1000 AND 900000", "time_ns + lane BETWEEN 1000 + lane AND 900000 + lane"),
        ("outcome NOT IN ('err', 'running')", "concat(outcome, event) NOT LIKE 'err%'"),
    ] {
        let count = |condition: &str| {
            rows(&format!("SELECT count(*), sum(event) FROM events WHERE {condition}"))
        };
        assert_eq!(count(condition), count(plain), "{condition}");
    }
}

#[test]
fn a_condition_passes_the_rows_for_which_it_is_true() {
    for condition in [
        "time_ns / 1000000 < 500",
        "time_ns % 10 = 3",
        "-time_ns < -50",
        "9000000000000 - time_ns > 3",
        "time_ns - 10 BETWEEN 0 AND 9999999999",
        "time_ns BETWEEN lane AND 9999999999",
        "5000000000 >= time_ns",
        "subject_key & 7 = 3",
        "subject_key + 1 IN (3, 4)",
        "subject_key * 2 = 6 OR subject_key = 5",
        "5 = subject_key",
        "subject_key IN (3, 5)",
    ] {
        let (passing, expected) = (
            rows(&format!("SELECT count(*) FROM events WHERE {condition}")),
            rows(&format!("SELECT sum(CASE WHEN {condition} THEN 1 ELSE 0 END) FROM events")),
        );
        assert_eq!(passing, expected, "{condition}");
        assert_ne!(passing, ["0"], "{condition}");
    }
}

#[test]
fn a_failed_call_is_named_by_what_it_returned() {
    let outcomes = rows(
        "SELECT outcome, count(*) > 0 FROM events WHERE site LIKE '%::layout' GROUP BY 1 ORDER BY 1",
    );
    assert_eq!(outcomes, ["err,true", "succeeded,true"]);
    let failed = rows("SELECT failed_as, sum(failed) FROM tallies WHERE failed > 0 GROUP BY 1");
    assert_eq!(
        failed,
        rows("SELECT outcome, count(*) FROM events WHERE outcome = 'err' GROUP BY 1")
    );
}

#[test]
fn a_query_that_needs_more_than_its_memory_goes_on_in_files_or_is_an_error() {
    let path = recording().display().to_string();
    let sql = "SELECT event, took_ns FROM events ORDER BY took_ns, event";
    let run = |sql: &str, memory: &str| {
        metaspy(&["query", "--format", "csv", "--memory", memory, sql, &path])
    };
    let (all, few) = (run(sql, "2GiB"), run(sql, "4MiB"));
    assert!(few.status.success() && all.status.success(), "{}", text(&few));
    assert!(few.stdout == all.stdout && all.stdout.len() > 1_000_000, "{} bytes", few.stdout.len());
    let spills = |memory: &str| {
        let plan = text(&run(&format!("EXPLAIN ANALYZE {sql}"), memory));
        let counts = plan
            .split("spill_count=")
            .skip(1)
            .map(|rest| rest.chars().take_while(char::is_ascii_digit));
        counts
            .map(|digits| digits.collect::<String>().parse::<u64>().expect("a number"))
            .sum::<u64>()
    };
    assert!(spills("2GiB") == 0 && spills("4MiB") > 0);
    // A text has all of its rows before the first one is written.
    let output = metaspy(&["query", "--memory", "4MiB", "SELECT * FROM events", &path]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{error}");
    assert!(
        error.contains("needs more than its memory of 4 MiB: metaspy query --memory SIZE"),
        "{error}"
    );
}

#[test]
fn causes_effects_and_roots_are_those_of_the_reader() {
    // A frame is a tree: all its events have the layout of the root as root.
    let frames = FRAMES - 1;
    let sizes = "SELECT size, count(*) FROM (SELECT root(event) AS root, count(*) AS size FROM events GROUP BY 1) \
                 GROUP BY size ORDER BY size";
    assert_eq!(rows(sizes), [format!("{OF_FRAME},{frames}"), format!("{},1", OF_FRAME + 1)]);
    let painted = rows(
        "SELECT cardinality(causes(event)), causes(event)[1] = cause FROM events WHERE thread = 'painter'",
    );
    assert_eq!(painted, ["6,true"]);
    let effects = "SELECT DISTINCT cardinality(effects(event)) FROM events WHERE cause IS NULL";
    assert_eq!(rows(effects), ["3"]);
    assert_eq!(rows("SELECT root(12345678), cardinality(causes(12345678))"), [","]);
}

#[test]
fn labels_and_relations_are_tables() {
    let label = rows("SELECT label, calls FROM subjects WHERE subject_key = 0");
    assert_eq!(label, [format!("\"the \"\"root\"\", with a comma\",{}", 2 * FRAMES)]);
    let edges = rows("SELECT relation, from_key, to_key FROM relations");
    assert_eq!(edges, ["below,0,1"]);
    assert_eq!(
        rows("SELECT state, calls, lost, warnings FROM recordings"),
        [format!("closed,{CALLS},0,0")]
    );
    assert_eq!(rows("SELECT count(*) FROM lanes WHERE thread = 'painter'"), ["1"]);
}

#[test]
fn several_recordings_are_one_table() {
    let dir = spool("several", 1);
    let both = [recording().display().to_string(), dir.join("tree-0.spy").display().to_string()];
    let query = |sql: &str| metaspy(&["query", "--format", "csv", sql, &both[0], &both[1]]);
    let counts = query("SELECT count(DISTINCT process), count(*) FROM events");
    assert_eq!(
        String::from_utf8_lossy(&counts.stdout).lines().nth(1),
        Some(&*format!("2,{}", 2 * CALLS))
    );
    let roots = query("SELECT count(DISTINCT root(event, process)) FROM events");
    assert_eq!(
        String::from_utf8_lossy(&roots.stdout).lines().nth(1),
        Some(&*(2 * FRAMES).to_string())
    );
    let ambiguous = query("SELECT root(event) FROM events LIMIT 1");
    let message = String::from_utf8_lossy(&ambiguous.stderr).into_owned();
    assert!(
        ambiguous.status.code() == Some(2) && message.contains("root(event, run, host, process)"),
        "{message}"
    );
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_recording_that_is_given_twice_is_refused() {
    let dir = directory("twice");
    let copy = dir.join("copy.spy");
    fs::copy(recording(), &copy).expect("there is room");
    let (spy, copy, set) = (
        recording().display().to_string(),
        copy.display().to_string(),
        dir.join("set").display().to_string(),
    );
    for arguments in [&["query", "SELECT 1", &spy, &copy][..], &["seal", "--to", &set, &spy, &spy]]
    {
        let output = metaspy(arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2)
                && error.contains("are the same recording: give each once"),
            "{error}"
        );
    }
    assert!(!dir.join("set").exists());
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_column_of_json_has_a_name_of_its_own() {
    let output = metaspy(&[
        "query",
        "--json",
        "SELECT a.site, b.site FROM sites a, sites b",
        &recording().display().to_string(),
    ]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("`site AS other`"), "{error}");
}

#[test]
fn every_format_holds_the_same_rows() {
    let path = recording().display().to_string();
    let dir = directory("formats");
    let sql = "SELECT site, count(*) AS calls FROM events GROUP BY site ORDER BY site";
    let expected = rows(sql);
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["query", "--json", sql, &path])).expect("JSON");
    let lines = printed(&["query", "--format", "jsonl", sql, &path]);
    for (at, row) in expected.iter().enumerate() {
        let text = |value: &serde_json::Value| {
            format!("{},{}", value["site"].as_str().expect("a text"), value["calls"])
        };
        assert_eq!(&text(&json[at]), row);
        let line = lines.lines().nth(at).expect("a line for each row");
        assert_eq!(&text(&serde_json::from_str(line).expect("JSON")), row);
    }
    let parquet = dir.join("events.parquet").display().to_string();
    printed(&["query", "--format", "parquet", "-o", &parquet, "SELECT * FROM events", &path]);
    assert_eq!(&fs::read(&parquet).expect("it was written")[..4], b"PAR1");
    let arrow = dir.join("sites.arrow").display().to_string();
    printed(&["query", "--format", "arrow", "-o", &arrow, sql, &path]);
    let file = fs::File::open(&arrow).expect("it was written");
    let reader = datafusion::arrow::ipc::reader::StreamReader::try_new(file, None)
        .expect("a stream of Arrow IPC");
    let written: usize = reader.map(|batch| batch.expect("a batch").num_rows()).sum();
    assert_eq!(written, expected.len());
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_path_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let dir = spool("names", 1);
    let spy = dir.join(std::ffi::OsStr::from_bytes(b"tree-\xff.spy"));
    fs::rename(dir.join("tree-0.spy"), &spy).expect("it is ours");
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    let output = command
        .args(["query", "SELECT count(*) FROM events"])
        .arg(&spy)
        .output()
        .expect("it starts");
    assert!(
        output.status.success() && text(&output).contains(&CALLS.to_string()),
        "{}",
        text(&output)
    );
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn a_projection_of_an_equal_projection_computes_again() {
    for depth in 1..6 {
        let power = (1_u64 << depth).to_string();
        let swapped = if depth % 2 == 0 { "1,2" } else { "2,1" };
        for (layer, innermost, expected) in [
            ("SELECT a + a AS a FROM ($)", "SELECT 1 AS a", power.as_str()),
            ("SELECT a * 2 AS a FROM ($)", "SELECT 1 AS a, 7 AS b", &power),
            ("SELECT b AS a, a AS b FROM ($)", "SELECT 1 AS a, 2 AS b", swapped),
            // What is between them is removed.
            (
                "SELECT a FROM (SELECT a + 1 AS a, 0 AS b FROM ($))",
                "SELECT 0 AS a",
                &depth.to_string(),
            ),
            (
                "SELECT a + 1 AS a FROM ($) WHERE a >= 0 ORDER BY a",
                "SELECT 0 AS a",
                &depth.to_string(),
            ),
        ] {
            let sql = (0..depth).fold(innermost.to_owned(), |sql, _| layer.replace('$', &sql));
            assert_eq!(rows(&sql), [expected], "{sql}");
        }
        let layer = "SELECT took_ns / 2 AS took_ns FROM ($)";
        let sql = (0..depth)
            .fold("SELECT took_ns FROM events".to_owned(), |sql, _| layer.replace('$', &sql));
        let plainly = format!(
            "SELECT sum({}took_ns{}) FROM events",
            "(".repeat(depth),
            " / 2)".repeat(depth)
        );
        assert_eq!(rows(&format!("SELECT sum(took_ns) FROM ({sql})")), rows(&plainly), "{sql}");
    }
}

#[test]
fn a_query_has_as_many_operators_as_the_engine_can_descend() {
    let spy = recording().display().to_string();
    let of_terms = |terms: usize| format!("SELECT {}1 AS n", "1+".repeat(terms - 1));
    assert_eq!(rows(&of_terms(1_000)), ["1000"]);
    for terms in [3_200, 50_000] {
        let output = metaspy(&["query", &of_terms(terms), &spy]);
        assert!(
            output.status.code() == Some(2) && text(&output).contains("more than 2000"),
            "{}",
            text(&output)
        );
    }
    let keys: Vec<String> = (0..20_000).map(|key| key.to_string()).collect();
    assert_eq!(
        rows(&format!("SELECT count(*) FROM events WHERE event % 2 IN ({})", keys.join(","))),
        [CALLS.to_string()]
    );
}

#[test]
fn an_output_is_complete_or_as_it_was() {
    let (dir, recorded) = (spool("outputs", 1), recording().display().to_string());
    let (spy, out) = (dir.join("tree-0.spy"), dir.join("rows.csv"));
    let (link, pipe) = (dir.join("link.csv"), dir.join("pipe"));
    let write = |sql: &str, spy: &str, out: &Path| {
        let output =
            metaspy(&["query", "--format", "csv", sql, spy, "-o", &out.display().to_string()]);
        (output.status.code(), text(&output))
    };
    assert_eq!(write("SELECT 1 AS n", &recorded, &out).0, Some(0));
    std::os::unix::fs::symlink(&out, &link).expect("there is room");
    let wrong = "SELECT 1 / (event - event) FROM events";
    for file in [&out, &link] {
        assert_eq!(write(wrong, &recorded, file).0, Some(2));
        assert_eq!(fs::read_to_string(&out).expect("it stays"), "n\n1\n");
    }
    assert_eq!(write("SELECT 2 AS n", &recorded, &link).0, Some(0));
    assert_eq!(fs::read_to_string(&out).expect("it is there"), "n\n2\n");
    assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
    // What is no regular file stays, too.
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    let reader = thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe)
    });
    assert_eq!(write(wrong, &recorded, &pipe).0, Some(2));
    assert!(pipe.exists());
    reader.join().expect("it reads").expect("it is a pipe");
    // The inputs.
    let before = fs::read(&spy).expect("it is there");
    let (code, error) = write("SELECT 1", &spy.display().to_string(), &spy);
    assert!(code == Some(2) && error.contains("is what the query reads"), "{error}");
    assert!(fs::read(&spy).expect("it is there") == before);
    // Another recording, and rows of a private one.
    let other = dir.join("other.spy");
    fs::copy(&spy, &other).expect("there is room");
    let (code, error) = write("SELECT 1", &spy.display().to_string(), &other);
    assert!(code == Some(2) && error.contains("it is a recording"), "{error}");
    fs::remove_file(&other).expect("it is there");
    let private = dir.join("private.csv");
    fs::set_permissions(&spy, fs::Permissions::from_mode(0o600)).expect("it is ours");
    assert_eq!(write("SELECT 1", &spy.display().to_string(), &private).0, Some(0));
    assert_eq!(fs::metadata(&private).expect("it is there").permissions().mode() & 0o777, 0o600);
    fs::remove_file(&private).expect("it is there");
    let set = dir.join("set");
    printed(&["seal", &spy.display().to_string(), "--to", &set.display().to_string()]);
    let events = file(&partition(&set), "events");
    let (code, error) = write("SELECT 1", &set.display().to_string(), &events);
    assert!(code == Some(2) && error.contains("is what the query reads"), "{error}");
    let files = fs::read_dir(&dir).expect("it is there").count();
    assert_eq!(files, 5, "the recording, the rows, the link, the pipe and the set");
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn an_interrupted_query_leaves_no_part_of_a_file() {
    let dir = directory("interrupted query");
    let (spy, out) =
        (recording().display().to_string(), dir.join("rows.csv").display().to_string());
    let endless = "SELECT a.event FROM events AS a CROSS JOIN events AS b";
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    command.args(["query", "--format", "csv", endless, &spy, "-o", &out]).stderr(Stdio::piped());
    let process = command.spawn().expect("the command starts");
    let files = || fs::read_dir(&dir).expect("it is there").count();
    while files() == 0 {
        thread::sleep(Duration::from_millis(10));
    }
    let interrupt = Command::new("kill").args(["-INT", &process.id().to_string()]).status();
    assert!(interrupt.expect("there is kill").success());
    let output = process.wait_with_output().expect("it ends");
    assert!(
        output.status.code() == Some(2) && text(&output).contains("interrupted: "),
        "{}",
        text(&output)
    );
    assert_eq!(files(), 0);
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn an_error_shows_its_place_and_the_nearest_names() {
    let path = recording().display().to_string();
    let check = |sql: &str, parts: &[&str]| {
        let output = metaspy(&["query", sql, &path]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{sql}: {message}");
        parts
            .iter()
            .for_each(|part| assert!(message.contains(part), "{sql}: no {part:?} in\n{message}"));
    };
    check(
        "SELECT sit FROM events",
        &["no column `sit`", "line 1, column 8", "^^^", "site, site_id"],
    );
    check("SELECT 1\nFROM evnts", &["no table `evnts`", "line 2, column 6", "nearest: events"]);
    check("SELECT count( FROM events", &["Line: 1", "^"]);
    check("SELECT rooot(event) FROM events", &["line 1, column 8", "Did you mean 'root'"]);
    check("DROP TABLE events", &["a query only reads"]);
    let missing = metaspy(&["query", "SELECT 1", "no-such-recording"]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("metaspy list"));
}

#[test]
fn a_damaged_recording_gives_its_readable_rows_and_a_warning() {
    let dir = directory("damaged");
    let cut = dir.join("cut.spy");
    let bytes = fs::read(recording()).expect("it was recorded");
    // The end of the file may be empty, so the cut moves forward until it removes events.
    let lengths = (1..20).map(|part| bytes.len() / 20 * (20 - part));
    let stored = |length: usize| {
        fs::write(&cut, &bytes[..length]).expect("there is room");
        Store::open(&cut).map_or(0, |store| store.totals().stored)
    };
    lengths.into_iter().find(|length| stored(*length) < CALLS).expect("the file has events");
    let cut = cut.display().to_string();
    let output = metaspy(&["query", "--format", "csv", "SELECT count(*) FROM events", &cut]);
    let read: u64 = String::from_utf8_lossy(&output.stdout)
        .lines()
        .nth(1)
        .expect("a row")
        .parse()
        .expect("a number");
    assert!(read > 0 && read < CALLS, "{read} of {CALLS} events");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cut.spy"));
    let warnings = metaspy(&["query", "--format", "csv", "SELECT warnings FROM recordings", &cut]);
    assert_ne!(String::from_utf8_lossy(&warnings.stdout).lines().nth(1), Some("0"));
    fs::remove_dir_all(dir).expect("it is ours");
}
