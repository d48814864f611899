//! Recordings of several processes read as one: real processes. One of them passes its cause on.

use std::fs;
use std::path::Path;

use metaspy_core::format::superblock as sb;

use crate::client_and_servers::{MEASURES, child, three};
use crate::{ended, fixture, stream, text};

fn report(files: &[&Path], more: &[&str]) -> (i32, serde_json::Value, String) {
    let mut arguments = vec!["report"];
    arguments.extend(files.iter().map(|file| text(file)));
    arguments.extend(["--json"]);
    arguments.extend(more);
    let (code, out, error) = ended(&arguments);
    (code, serde_json::from_str(&out).unwrap_or_default(), error)
}

fn count(report: &serde_json::Value, label: &str) -> u64 {
    let rows = report["rows"].as_array().expect("there are rows");
    rows.iter()
        .filter(|row| row["label"] == label)
        .map(|row| row["count"].as_u64().expect("a number"))
        .sum()
}

#[test]
fn counts_add_up_and_everything_leads_back_to_the_client() {
    let [client, server, second] = three("three");
    let files = [&*client, &*server, &*second];
    let alone: Vec<u64> = files
        .iter()
        .map(|file| report(&[file], &[]).1["emitted"].as_u64().expect("a number"))
        .collect();
    let (code, whole, error) = report(&files, &[]);
    assert_eq!(code, 0, "{error}");
    assert_eq!(whole["emitted"].as_u64(), Some(alone.iter().sum()));
    assert_eq!((count(&whole, "frame"), count(&whole, "Scene::measure")), (3, 3 * MEASURES));
    assert_eq!((&whole["exact"], &whole["order_uncertain"]), (&true.into(), &false.into()));
    let processes = whole["processes"].as_array().expect("they are listed");
    assert_eq!(processes.len(), 3);
    assert!(
        processes.iter().all(|process| process["clock"] == 0 && process["state"] == "closed"),
        "{whole}"
    );
    // What the servers did has its root cause in the client.
    let (_, causes, _) = report(&files, &["--by", "cause"]);
    assert_eq!(causes["row_count"], 1, "{causes}");
    assert_eq!(count(&causes, "frame"), alone.iter().sum::<u64>());
    // Equal keys of two processes are two subjects.
    let (_, subjects, _) =
        report(&files, &["--by", "subject", "--filter", "site:measure subject:#3"]);
    assert_eq!(subjects["row_count"], 3, "{subjects}");
    // For people.
    let (code, out, _) = ended(&["report", text(&client), text(&server), text(&second)]);
    assert!(code == 0 && out.contains("3 processes") && out.contains("server.spy"), "{out}");
    // Without the client nothing is known but that there was one.
    let (_, apart, _) = report(&[&server, &second], &["--by", "cause"]);
    assert_eq!(count(&apart, "frame"), alone[1] + alone[2]);
}

#[test]
fn one_recording_of_each_process() {
    let [client, server, _] = three("twice");
    let (code, _, error) = report(&[&client, &client], &[]);
    assert!(code == 2 && error.contains("are the same recording"), "{error}");
    let copy = client.with_file_name("copy.spy");
    fs::copy(&client, &copy).expect("it can be copied");
    let (code, _, error) = report(&[&client, &server, &copy], &[]);
    assert!(code == 2 && error.contains("are the same recording"), "{error}");
    let (code, _, error) = report(&[&client, Path::new("no/such.spy")], &[]);
    assert!(code == 2 && error.contains("no/such.spy"), "{error}");
}

/// Adds to words of a file.
fn patch(path: &Path, words: impl IntoIterator<Item = (usize, u64)>) {
    let mut bytes = fs::read(path).expect("it was recorded");
    for (word, add) in words {
        let at = &mut bytes[word * 8..word * 8 + 8];
        let value = u64::from_le_bytes((&*at).try_into().expect("eight bytes")).wrapping_add(add);
        at.copy_from_slice(&value.to_le_bytes());
    }
    fs::write(path, bytes).expect("it can be written");
}

fn word(path: &Path, word: usize) -> u64 {
    let bytes = fs::read(path).expect("it was recorded");
    u64::from_le_bytes(bytes[word * 8..word * 8 + 8].try_into().expect("eight bytes"))
}

/// The words of the calibration pairs that show the wall.
fn wall(path: &Path) -> Vec<usize> {
    let (table, pairs) =
        (word(path, sb::CALIBRATION) as usize / 8, word(path, sb::CALIBRATION_USED) as usize);
    (0..pairs)
        .map(|pair| table + pair * sb::calibration::WORDS + sb::calibration::REAL_NS)
        .collect()
}

#[test]
fn clocks_that_disagree_are_reported_and_the_order_is_uncertain() {
    let [client, server, second] = three("clocks");
    // An hour behind: by its clock the server received the cause an hour before it was sent.
    let hour = 3_600_000_000_000_u64;
    patch(&server, wall(&server).into_iter().map(|word| (word, hour.wrapping_neg())));
    let files = [&*client, &*server, &*second];
    let (code, whole, error) = report(&files, &[]);
    assert_eq!((code, &whole["order_uncertain"]), (0, &true.into()), "{error}");
    let moved: Vec<i64> = (whole["processes"].as_array().expect("they are listed").iter())
        .map(|process| process["moved_ns"].as_i64().expect("a number"))
        .collect();
    assert_eq!((moved[0], moved[2]), (0, 0));
    assert!(moved[1].abs_diff(hour as i64) < 60_000_000_000, "{moved:?}");
    let (_, out, _) = ended(&["report", text(&client), text(&server), text(&second)]);
    assert!(
        out.contains("order of events across processes is uncertain")
            && out.contains("clocks disagree"),
        "{out}"
    );
    // Whatever the clocks say, causes stay what they are.
    let (_, causes, _) = report(&files, &["--by", "cause"]);
    assert_eq!(causes["row_count"], 1, "{causes}");
}

#[test]
fn damage_is_reported_with_the_name_of_its_file() {
    let [client, server, second] = three("damaged");
    let chunks = word(&server, sb::CHUNKS);
    let bytes = fs::read(&server).expect("it was recorded");
    fs::write(&server, &bytes[..chunks as usize + 2048]).expect("it can be written");
    let (code, whole, _) = report(&[&client, &server, &second], &[]);
    let missing = whole["missing"].to_string();
    assert!(
        code == 1 && missing.contains("server.spy: ") && !missing.contains("client.spy"),
        "{missing}"
    );
    assert!(count(&whole, "Scene::measure") >= 2 * MEASURES, "{whole}");
    assert_eq!(whole["exact"], false);
}

#[test]
fn a_malformed_traceparent_is_ignored_and_counted() {
    let directory = fixture::directory().join("malformed");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
    assert!(child("server", &directory, parent).output().expect("it starts").status.success());
    let path = directory.join("server.spy");
    let (code, report, _) = report(&[&path], &[]);
    assert_eq!((code, &report["malformed_traceparents"]), (0, &1.into()));
    for command in ["report", "verify"] {
        let (code, out, _) = ended(&[command, text(&path)]);
        assert!(code == 0 && out.contains("1 traceparent malformed"), "{out}");
    }
}

#[test]
fn a_live_one_among_them_is_a_snapshot_and_marked() {
    let [client, server, _] = three("snapshot");
    let path = fixture::directory().join("live-one.spy");
    let mut story = stream::story(&path);
    let (code, whole, error) = report(&[&client, &server, &path], &[]);
    assert_eq!((code, &whole["state"]), (0, &"snapshot".into()), "{error}");
    let states: Vec<&str> = (whole["processes"].as_array().expect("they are listed").iter())
        .map(|process| process["state"].as_str().expect("a word"))
        .collect();
    assert_eq!(states, ["closed", "closed", "live"]);
    assert!(count(&whole, "Scene::measure") > 2 * MEASURES, "{whole}");
    let (_, out, _) = ended(&["report", text(&client), text(&path)]);
    assert!(out.contains("it is being written; this is a snapshot of it"), "{out}");
    story.kill().expect("it runs");
    story.wait().expect("it ends");
    let (code, whole, _) = report(&[&client, &path], &[]);
    assert_eq!(
        (code, &whole["state"], &whole["exact"]),
        (0, &"killed".into(), &true.into()),
        "{whole}"
    );
}

/// A child that inherits `METASPY_RECORD` while its parent records has a file of its own, which a
/// report names.
#[test]
fn the_recording_of_a_child_is_named_beside_that_of_its_parent() {
    let directory = fixture::directory().join(format!("inherited-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let path = directory.join("run.spy");
    let mut parent = stream::story(&path);
    assert_eq!(report(&[&path], &[]).1.get("beside"), None);
    let mut child = stream::start_story(&path);
    let of_child = directory.join(format!("run.{}.spy", child.id()));
    stream::wait_until(|| metaspy_core::Store::open(&of_child).is_ok());
    let (code, whole, error) = report(&[&path], &[]);
    assert_eq!((code, &whole["beside"]), (0, &serde_json::json!([text(&of_child)])), "{error}");
    let advice = format!("metaspy report {} {}", text(&path), text(&of_child));
    assert!(
        error.contains("1 more process recorded beside it") && error.contains(&advice),
        "{error}"
    );
    let (code, whole, error) = report(&[&path, &of_child], &[]);
    assert_eq!((code, whole["processes"].as_array().map(Vec::len)), (0, Some(2)), "{error}");
    for story in [&mut child, &mut parent] {
        story.kill().expect("it runs");
        story.wait().expect("it ends");
    }
}

/// The processes of one program write `run.spy`, `run.4711.spy` and so on. A report of one of them
/// names the others.
#[test]
fn the_recordings_of_a_process_tree_are_found() {
    let mut files = three("tree");
    files.sort_by_key(|path| {
        metaspy_core::Store::open(path).expect("it was recorded").header().started_ns
    });
    let directory = fixture::directory().join("process-tree");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let names = ["run.spy", "run.4711.spy", "run.4712.1.spy"].map(|name| directory.join(name));
    for (from, to) in files.iter().zip(&names) {
        fs::copy(from, to).expect("it can be copied");
    }
    let others = ["run.x.spy", "run2.4711.spy", "run.4713.txt", "run.4714.spy"]
        .map(|name| directory.join(name));
    others[..3].iter().for_each(|other| _ = fs::copy(&files[1], other).expect("it can be copied"));
    fs::write(&others[3], "no recording").expect("the test's directory can be written");
    let (code, _, error) = report(&[&names[0]], &[]);
    assert!(
        code == 0
            && error.contains("2 more processes recorded beside it; all as one: metaspy report "),
        "{error}"
    );
    let named = |name: &Path| error.split_whitespace().any(|word| word == text(name));
    assert!(
        names.iter().all(|name| named(name)) && !others.iter().any(|other| named(other)),
        "{error}"
    );
    // With the others there is nothing to name, and one of them alone is not the first.
    assert_eq!(report(&[&names[0], &names[1], &names[2]], &[]).2, "");
    assert_eq!(report(&[&names[1]], &[]).2, "");
    // A directory stands for all that is in it.
    others.iter().for_each(|other| fs::remove_file(other).expect("it is the test's own"));
    let (code, whole, error) = report(&[&directory], &[]);
    assert_eq!((code, whole["processes"].as_array().map(Vec::len)), (0, Some(3)), "{error}");
    fs::create_dir_all(directory.join("empty")).expect("the test's directory can be written");
    let (code, _, error) = report(&[&directory.join("empty")], &[]);
    assert!(code == 2 && error.contains("there is no recording in"), "{error}");
}
