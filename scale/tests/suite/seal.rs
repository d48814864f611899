//! `metaspy seal`, and queries on what it wrote.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::fixture::{CALLS, S3, directory, metaspy, printed, recording, rows, rows_of, spool};
use crate::ship::unchecked;

/// Queries whose results must not depend on where the rows are.
pub const QUERIES: &[&str] = &[
    "SELECT site, count(*), count(took_ns), min(time_ns), max(time_ns) FROM events GROUP BY site ORDER BY site",
    "SELECT run, process, subject_kind, subject_key, outcome, count(*), sum(cause) FROM events \
     GROUP BY run, process, subject_kind, subject_key, outcome ORDER BY subject_kind, subject_key, outcome",
    "SELECT e.site, c.site, e.cause_site, count(*) FROM events AS e JOIN events AS c ON e.cause = c.event \
     GROUP BY e.site, c.site, e.cause_site ORDER BY e.site, c.site",
    "SELECT event, time_ns, took_ns, cause, thread, lane FROM events WHERE subject_key = 5 ORDER BY event",
    "SELECT site, subject_key, calls, failed FROM tallies ORDER BY site, subject_key",
    "SELECT subject_key, label, calls FROM subjects ORDER BY subject_key",
    "SELECT relation, from_key, to_key FROM relations",
    "SELECT site, kind, first_line FROM sites ORDER BY site_id",
];

pub fn seal(target: &Path, host: &str) -> String {
    let (from, to) = (recording().display().to_string(), target.display().to_string());
    printed(&["seal", &from, "--to", &to, "--host", host])
}

/// The partitions of a sealed set.
pub fn partitions(target: &Path) -> Vec<PathBuf> {
    let mut paths = vec![target.to_owned()];
    for name in ["run=", "host=", "process="] {
        let below = paths.iter().flat_map(|path| fs::read_dir(path).expect("it was sealed"));
        let below = below.map(|entry| entry.expect("a name").path());
        paths = below.filter(|path| path.display().to_string().contains(name)).collect();
    }
    paths
}

/// The only partition of a sealed set.
pub fn partition(target: &Path) -> PathBuf {
    let mut found = partitions(target);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

/// The files below a directory.
fn files_below(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).expect("it is there").map(|it| it.expect("a name").path());
    let of = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.flat_map(of).collect()
}

/// The files of a partition: beside its manifest, and in the directories of tables.
pub fn files_of(partition: &Path) -> Vec<PathBuf> {
    let set = partition.ancestors().nth(3).expect("it is in a set");
    let place = partition.strip_prefix(set).expect("it is in a set");
    let mut files = files_below(set);
    files.retain(|path| path.parent().is_some_and(|it| it.ends_with(place)));
    files
}

/// The file of a partition whose name begins so: the hash of its content follows.
pub fn file(partition: &Path, name: &str) -> PathBuf {
    let begin = format!("{name}-");
    let is_it = |path: &PathBuf| {
        path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(&begin))
    };
    let found = files_of(partition).into_iter().find(is_it);
    found.unwrap_or_else(|| panic!("{} has no {begin}…", partition.display()))
}

/// Fails unless a set has the files that its manifests name, where their layout has them, and no
/// other.
pub fn assert_has_what_is_named(set: &Path) {
    let mut named = Vec::new();
    // A removal that was killed leaves empty directories.
    for partition in partitions(set).into_iter().filter(|it| it.join("sealed.json").exists()) {
        let manifest = partition.join("sealed.json");
        let text = fs::read(&manifest).expect("it was sealed");
        let fields: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(fields["layout_version"], 3);
        let place = partition.strip_prefix(set).expect("it is in the set");
        for (plain_name, file) in fields["files"].as_object().expect("it has files") {
            let directory = match plain_name.strip_suffix(".parquet") {
                Some(table) => set.join(table).join(place),
                None => partition.clone(),
            };
            named.push(directory.join(file["name"].as_str().expect("it has a name")));
        }
        named.push(manifest);
    }
    let mut found = files_below(set);
    [&mut named, &mut found].iter_mut().for_each(|paths| paths.sort());
    assert_eq!(found, named);
}

/// The exit code of a query on a set, and its report.
fn query(sql: &str, set: &Path) -> (Option<i32>, String) {
    let output = metaspy(&["query", "--format", "csv", sql, &set.display().to_string()]);
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_sealed_set_answers_as_the_recording_does() {
    let target = directory("sealed");
    assert!(seal(&target, "rack/7 ü").contains(&format!("{CALLS} events")));
    for query in QUERIES {
        assert_eq!(rows_of(query, &target), rows(query), "{query}");
    }
    assert_eq!(rows_of("SELECT DISTINCT host FROM events", &target), ["rack/7 ü"]);
    let again = seal(&target, "rack/7 ü");
    assert!(again.contains("already sealed"), "{again}");
    let missing = metaspy(&["query", "SELECT 1 FROM evnts", &target.display().to_string()]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("nearest: events"));
    let root = metaspy(&["query", "SELECT root(event) FROM events", &target.display().to_string()]);
    assert!(String::from_utf8_lossy(&root.stderr).contains("`root` needs the recording"));
    let cut = fs::File::options()
        .write(true)
        .open(file(&partition(&target), "lanes"))
        .expect("it was sealed");
    cut.set_len(100).expect("it is longer");
    let (code, error) = query("SELECT * FROM sites", &target);
    assert!(
        code == Some(2)
            && error.contains("/lanes-")
            && error.contains("is damaged: it has 100 bytes"),
        "{error}"
    );
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_flipped_bit_in_any_file_is_found_and_the_file_is_named() {
    let target = directory("flipped anywhere");
    seal(&target, "here");
    let place = partition(&target);
    let restored = target.with_extension("restored");
    for path in files_of(&place) {
        let name = path.file_name().expect("it has one").to_string_lossy().into_owned();
        let sealed = fs::read(&path).expect("it was sealed");
        let mut flipped = sealed.clone();
        // In the digits of `sealed.json` these are other digits.
        flipped[sealed.len() / 2] ^= 1;
        fs::write(&path, &flipped).expect("there is room");
        let (table, _) = name.split_once('-').unwrap_or(("sites", ""));
        let output = match table {
            "rest" => metaspy(&[
                "restore",
                &target.display().to_string(),
                "--to",
                &restored.display().to_string(),
            ]),
            _ => metaspy(&[
                "query",
                &format!("SELECT * FROM \"{table}\""),
                &target.display().to_string(),
            ]),
        };
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(&name), "{name}: {error}");
        fs::write(&path, &sealed).expect("there is room");
    }
    assert_eq!(query("SELECT * FROM tallies", &target).0, Some(0), "it is whole again");
    [target, restored].iter().for_each(|directory| drop(fs::remove_dir_all(directory)));
}

#[test]
fn a_flipped_bit_in_a_page_is_found_and_its_file_is_named() {
    let target = directory("flipped");
    seal(&target, "here");
    let path = file(&partition(&target), "events");
    let sealed = fs::read(&path).expect("it was sealed");
    for part in 1..20 {
        let mut bytes = sealed.clone();
        bytes[sealed.len() / 20 * part] ^= 4;
        fs::write(&path, &bytes).expect("there is room");
        let (code, error) = query("SELECT * FROM events ORDER BY event", &target);
        assert!(code == Some(2) && error.contains("/events-"), "part {part}: {error}");
    }
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_partition_that_cannot_be_read_is_left_out_and_the_others_are_read() {
    let target = directory("left out");
    seal(&target, "here");
    seal(&target, "there");
    let damaged = partitions(&target)
        .into_iter()
        .find(|place| place.display().to_string().contains("host=there"));
    let damaged = damaged.expect("it was sealed");
    let (table, manifest) = (file(&damaged, "tallies"), damaged.join("sealed.json"));
    let tables = [b"".to_vec(), fs::read(&table).expect("it was sealed")[..100].to_vec()];
    let whole = fs::read(&manifest).expect("it was sealed");
    let manifests = [b"".to_vec(), whole[..whole.len() / 2].to_vec()];
    let contents =
        tables.map(|it| (&table, it)).into_iter().chain(manifests.map(|it| (&manifest, it)));
    let damages = contents
        .map(|(path, content)| (path, Some(content)))
        .chain([(&table, None), (&manifest, None)]);
    for (path, content) in damages {
        let before = fs::read(path).expect("it was sealed");
        match &content {
            Some(content) => fs::write(path, content).expect("it is ours"),
            None => fs::remove_file(path).expect("it is ours"),
        }
        for sql in ["SELECT sum(calls) FROM tallies", "SELECT count(*) FROM events"] {
            let output = metaspy(&["query", "--format", "csv", sql, &target.display().to_string()]);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            let rows = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(
                (output.status.code(), rows.lines().nth(1)),
                (Some(1), Some(&*CALLS.to_string())),
                "{error}"
            );
            assert!(error.contains("host=there") && error.contains("is left out: "), "{error}");
        }
        let (code, error) = query("SELECT count(*) FROM events", &damaged);
        assert!(code == Some(2) && error.contains("has no partition that can be read"), "{error}");
        fs::write(path, before).expect("it is ours");
    }
    assert_eq!(query("SELECT sum(calls) FROM tallies", &target), (Some(0), String::new()));
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_query_opens_no_file_of_a_partition_that_its_conditions_exclude() {
    let target = directory("excluded");
    seal(&target, "here");
    seal(&target, "there");
    let there =
        partitions(&target).into_iter().find(|place| place.iter().any(|it| it == "host=there"));
    let path = file(&there.expect("it was sealed"), "events");
    let mut bytes = fs::read(&path).expect("it was sealed");
    let footer = bytes.len() - 200..;
    bytes[footer].fill(0);
    fs::write(&path, bytes).expect("it is ours");

    let all = CALLS.to_string();
    for (condition, count) in [
        ("host = 'here'", &*all),
        ("'there' <> host", &all),
        ("host LIKE 'h%' AND (run > '1' OR host < 'i')", &all),
        ("concat(run, host) LIKE '%-nowhere'", "0"),
        ("host IN ('here', 'nowhere') AND took_ns IS NOT DISTINCT FROM took_ns", &all),
    ] {
        let sql = format!("SELECT count(*) FROM events WHERE {condition}");
        assert_eq!(rows_of(&sql, &target), [count], "{sql}");
    }
    assert_eq!(rows_of("SELECT event FROM events WHERE process = 'none'", &target).len(), 0);
    for condition in ["host = 'there'", "host = 'here' OR subject_key = 5", "host IS NOT NULL"] {
        let (code, error) =
            query(&format!("SELECT count(*) FROM events WHERE {condition}"), &target);
        assert!(code == Some(2) && error.contains("/events-"), "{condition}: {error}");
    }
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_set_that_is_given_twice_is_refused() {
    let target = directory("sealed twice");
    seal(&target, "here");
    let set = target.display().to_string();
    let output = metaspy(&["query", "SELECT count(*) FROM events", &set, &format!("{set}/")]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && error.contains("give each recording once"),
        "{error}"
    );
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_flipped_bit_in_a_footer_is_an_error_and_no_panic() {
    let target = directory("flipped footer");
    seal(&target, "here");
    let path = file(&partition(&target), "sites");
    let sealed = fs::read(&path).expect("it was sealed");
    for at in (sealed.len() / 2..sealed.len()).step_by(23) {
        let mut bytes = sealed.clone();
        bytes[at] ^= 0x20;
        fs::write(&path, &bytes).expect("there is room");
        let (code, error) = query("SELECT * FROM sites ORDER BY site", &target);
        assert!(
            code == Some(2) && error.contains("/sites-") && !error.contains("panicked at"),
            "byte {at}: {error}"
        );
    }
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_set_of_a_damaged_recording_has_its_warnings() {
    let directory = directory("sealed damaged");
    let (cut, set) = (directory.join("cut.spy"), directory.join("set"));
    let bytes = fs::read(recording()).expect("it was recorded");
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("there is room");
    let (cut, set) = (cut.display().to_string(), set.display().to_string());
    assert_eq!(metaspy(&["seal", &cut, "--to", &set]).status.code(), Some(1));
    let query = metaspy(&["query", "SELECT count(*) FROM sites", &set]);
    assert_eq!(query.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&query.stderr).contains("cut.spy: "));
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_source_that_is_missing_leaves_no_directory() {
    let directory = directory("missing");
    let (spy, set) = (directory.join("no.spy").display().to_string(), directory.join("set"));
    for arguments in [&["seal", &spy, "--to"][..], &["restore"]] {
        let output = metaspy(&[arguments, &[&set.display().to_string()]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains("there is no"), "{error}");
        assert!(!set.exists(), "{arguments:?}");
    }
    fs::remove_dir_all(directory).expect("it is ours");
}

#[test]
fn a_set_beside_recordings_is_not_theirs_and_a_part_of_a_set_is_a_source() {
    let dir = spool("beside", 1);
    let set = dir.join("sealed");
    let count = "SELECT count(*), count(DISTINCT host) FROM events";
    for host in ["rack/7", "rack/8"] {
        seal(&set, host);
    }
    assert_eq!(rows_of(count, &dir), [format!("{CALLS},1")], "the recording, which is in place");
    assert_eq!(rows_of("SELECT DISTINCT host FROM events", &dir), ["\"\""]);
    let process = partitions(&set).remove(0);
    let host = process.parent().expect("it has one");
    for (part, hosts) in
        [(&*set, 2), (host.parent().expect("it has one"), 2), (host, 1), (&process, 1)]
    {
        assert_eq!(
            rows_of(count, part),
            [format!("{},{hosts}", hosts * CALLS)],
            "{}",
            part.display()
        );
    }
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn seals_at_once_publish_one_partition() {
    let target = directory("at once");
    let (from, to) = (recording().display().to_string(), target.display().to_string());
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_metaspy-scale")).args(["seal", &from, "--to", &to]).spawn()
    };
    let seals: Vec<_> = (0..3).map(|_| start().expect("the command starts")).collect();
    for mut seal in seals {
        assert!(seal.wait().expect("it ends").success());
    }
    partition(&target);
    assert_eq!(rows_of("SELECT count(*) FROM events", &target), [CALLS.to_string()]);
    assert_has_what_is_named(&target);
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn an_interrupted_seal_is_invisible_and_removed() {
    let (target, other) = (directory("interrupted"), directory("not interrupted"));
    seal(&other, "here");
    let place = partition(&other).strip_prefix(&other).expect("it is in the set").to_owned();
    for (name, content) in [("events/", "events-0.parquet"), ("links/", "links-0.parquet")] {
        let place = target.join(name).join(&place);
        fs::create_dir_all(&place).expect("there is room");
        fs::write(place.join(content), "of a seal before").expect("there is room");
    }
    let (code, error) = query("SELECT 1", &target);
    assert!(code == Some(2) && error.contains("there is no recording in"), "{error}");
    // As a killed seal leaves it: a directory, and a lock that its process no longer holds.
    let left = target.join(".sealing-tree-1-1-0");
    fs::create_dir(&left).expect("there is room");
    fs::write(left.join("events.parquet"), "half").expect("there is room");
    fs::write(target.join(".sealing-tree-1-1-0.lock"), "").expect("there is room");
    seal(&target, "here");
    assert_has_what_is_named(&target);
    assert_eq!(rows_of("SELECT count(*) FROM events", &target), [CALLS.to_string()]);
    [target, other].iter().for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}

#[test]
fn a_partition_without_its_manifest_is_left_out_and_is_sealed_again() {
    let target = directory("no manifest");
    for host in ["here", "there"] {
        seal(&target, host);
    }
    let places = partitions(&target);
    let lost = places
        .iter()
        .find(|place| place.display().to_string().contains("host=there"))
        .expect("it was sealed");
    fs::remove_file(lost.join("sealed.json")).expect("it is there");
    for (source, expected) in [(&target, 1), (lost, 2)] {
        let (code, error) = query("SELECT sum(calls) FROM tallies", source);
        let is_named = error.contains("host=there") && error.contains("has no sealed.json");
        assert!(
            code == Some(expected) && is_named && error.contains("seal the recording again"),
            "{error}"
        );
    }
    let restored = target.with_extension("restored");
    let output = metaspy(&[
        "restore",
        &target.display().to_string(),
        "--to",
        &restored.display().to_string(),
    ]);
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stdout).lines().count()),
        (Some(1), 1)
    );
    seal(&target, "there");
    assert_eq!(rows_of("SELECT count(*) FROM events", &target), [(2 * CALLS).to_string()]);
    assert_eq!(query("SELECT count(*) FROM events", &target), (Some(0), String::new()));
    assert_has_what_is_named(&target);
    let (code, error) = query("SELECT count(*) FROM events", &target.join("events"));
    assert!(code == Some(2) && error.contains("name the directory above it"), "{error}");
    [target, restored]
        .iter()
        .for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}

#[test]
fn a_recording_and_its_own_set_are_one_recording() {
    let dir = spool("own set", 1);
    let (spy, set) =
        (dir.join("tree-0.spy").display().to_string(), dir.join("set").display().to_string());
    printed(&["seal", &spy, "--to", &set, "--host", "rack/7"]);
    let output = metaspy(&["query", "SELECT sum(calls) FROM tallies", &spy, &set]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && error.contains("tree-0.spy is also in a sealed set"),
        "{error}"
    );
    fs::remove_dir_all(dir).expect("it is ours");
}

#[test]
fn equal_recordings_have_equal_files() {
    let (one, other) = (directory("equal one"), directory("equal other"));
    let names = |target: &Path| {
        seal(target, "here");
        let mut files = files_of(&partition(target));
        files.sort();
        files.iter().map(|path| path.file_name().map(ToOwned::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(
        names(&one),
        names(&other),
        "a seal that is repeated replaces what an interrupted one left"
    );
    [one, other].iter().for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}

/// A partition of an older metaspy: its files have no hash in their names and no checksums.
pub const OLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/older");

/// Adds the older partition to a set, which is version 1 of the layout.
fn add_version_1(set: &Path) {
    let manifest = fs::read(format!("{OLDER}/sealed.json")).expect("it is there");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("it is JSON");
    assert!(manifest["schema_version"] == 1 && manifest["files"].is_null(), "{manifest}");
    let part = |name: &str| format!("{name}={}", manifest[name].as_str().expect("it is a name"));
    let place = set.join(part("run")).join(part("host")).join(part("process"));
    fs::create_dir_all(&place).expect("there is room");
    for path in files_below(Path::new(OLDER)) {
        fs::copy(&path, place.join(path.file_name().expect("it has one"))).expect("there is room");
    }
}

/// Moves the files of a partition to their places in version 2 of the layout: beside the manifest.
fn make_version_2(partition: &Path) {
    for path in files_of(partition) {
        let name = path.file_name().expect("it has one");
        fs::rename(&path, partition.join(name)).expect("it is ours");
    }
    let manifest = partition.join("sealed.json");
    let text = fs::read_to_string(&manifest).expect("it was sealed");
    let older = text.replace("\"layout_version\": 3", "\"layout_version\": 2");
    assert_ne!(older, text);
    fs::write(manifest, unchecked(&older)).expect("it is ours");
}

#[test]
fn partitions_of_older_versions_are_read_alone_and_beside_new_ones() {
    let target = directory("older");
    add_version_1(&target);
    let counts =
        "SELECT site, outcome, count(*) FROM events GROUP BY site, outcome ORDER BY site, outcome";
    let of_shop = [
        "Order::pay,failed,3",
        "Order::pay,returned,27",
        "Order::ship,instant,5",
        "day,returned,1",
    ];
    assert_eq!(rows_of(counts, &target), of_shop.map(|row| format!("shop::{row}")));
    assert_eq!(rows_of("SELECT sum(calls) FROM tallies", &target), ["36"]);
    seal(&target, "there");
    let there = partitions(&target).into_iter().find(|it| it.to_string_lossy().contains("=there"));
    let there = there.expect("it was sealed");
    make_version_2(&there);
    assert_eq!(rows_of("SELECT sum(calls) FROM tallies", &there), [CALLS.to_string()]);
    assert!(seal(&target, "there").contains("already sealed"));
    // A new partition beside them is one table with them.
    seal(&target, "here");
    let all = 36 + 2 * CALLS;
    assert_eq!(rows_of("SELECT count(*) FROM events", &target), [all.to_string()]);
    assert_eq!(rows_of("SELECT sum(calls) FROM tallies", &target), [all.to_string()]);
    // A column that the older one lacks is null.
    let new = "SELECT host, count(*), count(trace) FROM events GROUP BY host ORDER BY host";
    let expected = [format!("here,{CALLS},0"), format!("there,{CALLS},0"), "web-7,36,0".into()];
    assert_eq!(rows_of(new, &target), expected);
    let restored = target.with_extension("restored");
    let paths = printed(&[
        "restore",
        &target.display().to_string(),
        "--to",
        &restored.display().to_string(),
    ]);
    assert_eq!(paths.lines().count(), 3);
    [target, restored]
        .iter()
        .for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}

#[test]
fn a_bucket_holds_what_a_directory_holds() {
    let Some(server) = S3::start() else { return };
    let run = |arguments: &[&str]| server.run(arguments);
    let from = recording().display().to_string();
    let seal = |to: &str| run(&["seal", &from, "--to", to, "--host", "rack/7"]);
    assert_eq!(seal("s3://spies/prod").0, Some(0));
    assert!(seal("s3://spies/prod").1.contains("already sealed"));
    for query in QUERIES {
        let (code, text) = run(&["query", "--format", "csv", query, "s3://spies/prod"]);
        assert_eq!(
            (code, text.lines().skip(1).map(str::to_owned).collect()),
            (Some(0), rows(query)),
            "{query}"
        );
    }
    let (code, text) = seal("s3://nowhere/prod");
    assert!(
        code == Some(2)
            && text.contains("NoSuchBucket")
            && text.matches("NoSuchBucket").count() == 1,
        "{text}"
    );
    let (code, text) = run(&["query", "SELECT 1 FROM events", "s3://spies/other"]);
    assert!(code == Some(2) && text.contains("no sealed recording"), "{text}");
}

#[test]
fn sealed_sets_and_recordings_are_one_table() {
    let (target, dir) = (directory("mixed"), spool("mixed recordings", 1));
    seal(&target, "rack/7");
    let (set, spy) = (target.display().to_string(), dir.join("tree-0.spy").display().to_string());
    let query = |sql: &str| {
        printed(&["query", "--format", "csv", sql, &set, &spy]).lines().skip(1).collect::<String>()
    };
    assert_eq!(
        query("SELECT count(*), count(DISTINCT host), sum(event) % 2 FROM events"),
        format!("{},2,0", 2 * CALLS)
    );
    assert_eq!(query("SELECT sum(calls) FROM tallies"), (2 * CALLS).to_string());
    assert_eq!(
        query("SELECT count(*) FROM events WHERE site LIKE '%paint' AND thread = 'painter'"),
        "2"
    );
    let of_host = "SELECT host, count(root(event, run, host, process)) AS roots, \
                   count(causes(event, run, host, process)) AS causes FROM events GROUP BY host ORDER BY host";
    assert_eq!(query(of_host), format!(",{CALLS},{CALLS}rack/7,0,0"));
    for call in ["root(event)", "root(event, process)"] {
        let output = metaspy(&["query", &format!("SELECT {call} FROM events"), &set, &spy]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && error.contains("root(event, run, host, process)"),
            "{error}"
        );
    }
    [target, dir].iter().for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}
