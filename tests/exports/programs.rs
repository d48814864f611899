//! Formats that are read by programs: Graphviz, Python with Perfetto's definitions, and the command
//! line of the Firefox Profiler. A test whose program is not installed is skipped, and prints this.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use metaspy_core::Store;
use metaspy_report::export::Format;
use serde_json::Value;

use crate::{export, fixture, json, recorded};

/// Writes the export into a file of this test.
pub fn file(store: &Store, format: Format, name: &str) -> PathBuf {
    let path = fixture::directory().join(name);
    std::fs::write(&path, export(store, format, "").0)
        .expect("the test's directory can be written");
    path
}

/// The output of a program; `None` if it is not installed.
fn run(program: &str, arguments: &[&str], file: &Path) -> Option<Output> {
    Command::new(program).args(arguments).arg(file).stdin(Stdio::null()).output().ok()
}

#[test]
fn dot_draws_the_graph_of_causes() {
    let store = recorded::store("graph.spy");
    let Some(drawn) = run("dot", &["-Tsvg"], &file(&store, Format::Graphviz, "graph.dot")) else {
        println!("SKIPPED: graphviz: `dot` is not installed");
        return;
    };
    assert!(drawn.status.success(), "{}", String::from_utf8_lossy(&drawn.stderr));
    let svg = String::from_utf8(drawn.stdout).expect("a picture is UTF-8");
    let allow = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let picture = roxmltree::Document::parse_with_options(&svg, allow).expect("a picture is XML");
    let of_class = |class: &str| {
        picture.descendants().filter(|it| it.attribute("class") == Some(class)).count()
    };
    // Six sites ran. A frame causes a layout, a change and a painting; and so on, with the link of
    // one layout.
    assert_eq!((of_class("node"), of_class("edge")), (6, 8), "{svg}");
    assert!(svg.contains("Scene::measure") && svg.contains("31, self"), "{svg}");
}

/// Counts packets by type, and compares the ends of the arrows, with the definitions that Perfetto
/// publishes.
const READ_PERFETTO: &str = "
import sys
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
trace = Trace()
trace.ParseFromString(open(sys.argv[1], 'rb').read())
events = [packet.track_event for packet in trace.packet if packet.HasField('track_event')]
tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField('track_descriptor')}
assert all(event.track_uuid in tracks for event in events)
counts = [sum(event.type == kind for event in events) for kind in (1, 2, 3)]
begin = sorted(flow for event in events for flow in event.flow_ids)
end = sorted(flow for event in events for flow in event.terminating_flow_ids)
assert begin == end, (begin, end)
threads = sorted(track.thread.thread_name for track in tracks.values() if track.HasField('thread'))
subjects = sum(a.name == 'subject' for event in events for a in event.debug_annotations)
print(*counts, len(begin), subjects, threads)
";

#[test]
fn perfetto_s_own_definitions_read_the_trace() {
    let store = recorded::store("perfetto.spy");
    let path = file(&store, Format::Perfetto, "run.pftrace");
    let has_definitions = run(
        "python3",
        &["-c", "import perfetto.protos.perfetto.trace.perfetto_trace_pb2"],
        Path::new(""),
    );
    if !has_definitions.is_some_and(|output| output.status.success()) {
        println!("SKIPPED: perfetto-definitions: `pip install perfetto` installs them");
        return;
    }
    let read = run("python3", &["-c", READ_PERFETTO], &path).expect("python3 was just started");
    let (text, error) =
        (String::from_utf8_lossy(&read.stdout), String::from_utf8_lossy(&read.stderr));
    let slices =
        json(&store, Format::Chrome, "")["traceEvents"].as_array().expect("a list").clone();
    let of = |is_instant: bool| {
        slices
            .iter()
            .filter(|slice| {
                slice["ph"] == "X" && (slice["dur"].as_f64() == Some(0.0)) == is_instant
            })
            .count()
    };
    let subjects = slices.iter().filter(|slice| slice["args"]["subject"].is_string()).count();
    let expected =
        format!("{0} {0} {1} 7 {subjects} ['page', 'worker \"2\"']", of(false), of(true));
    assert_eq!(text.trim(), expected, "{error}");
}

#[test]
fn every_column_of_a_firefox_profile_has_its_length() {
    let store = recorded::store("firefox.spy");
    let profile = json(&store, Format::Firefox, "");
    let threads = profile["threads"].as_array().expect("threads");
    let named = |name: &str| {
        let found = threads.iter().find(|thread| thread["name"] == name);
        found.unwrap_or_else(|| panic!("no thread {name}"))
    };
    assert_eq!(threads.len(), 3);
    for lane in ["page", "worker \"2\""] {
        let strings = named(lane)["stringArray"].as_array().expect("the names");
        assert!(strings.iter().any(|name| name == "Scene::measure"), "{lane}: {strings:?}");
    }
    let mut markers = 0;
    for thread in threads {
        let table = thread["markers"].as_object().expect("a table");
        let length = table["length"].as_u64().expect("a length");
        for (name, column) in table.iter().filter(|(_, column)| column.is_array()) {
            assert_eq!(column.as_array().map(|it| it.len() as u64), Some(length), "{name}");
        }
        markers += length;
    }
    assert_eq!(markers, store.totals().stored);
    let weights = named("chains of causes")["samples"]["weight"].as_array().expect("weights");
    assert_eq!(weights.iter().filter_map(Value::as_u64).sum::<u64>(), store.totals().stored);
}

#[test]
fn the_firefox_profiler_itself_loads_the_profile() {
    let store = recorded::store("firefox-long.spy");
    let path = file(&store, Format::Firefox, "run.firefox.json");
    let Some(threads) = load_in_firefox_profiler(&path, &["thread", "list"], "HANDLE") else {
        return;
    };
    assert!(threads.contains("chains of causes") && threads.contains("worker"), "{threads}");
}

/// What the Firefox Profiler prints of a profile as soon as that contains a word; `None`, said
/// aloud, in short runs.
pub fn load_in_firefox_profiler(path: &Path, query: &[&str], expected: &str) -> Option<String> {
    if std::env::var_os("METASPY_LONG").is_none_or(|value| value.is_empty()) {
        println!(
            "SKIPPED: firefox-profiler: METASPY_LONG=1 loads the profile with @firefox-devtools/profiler-cli"
        );
        return None;
    }
    // It has one session at a time.
    static SESSION: Mutex<()> = Mutex::new(());
    let _alone = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    let cli = |arguments: &[&str]| {
        let mut command = Command::new("npx");
        let output = command
            .args(["--yes", "@firefox-devtools/profiler-cli@0.10.0"])
            .args(arguments)
            .output();
        let Output { stdout, stderr, .. } = output.expect("npx is installed");
        String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
    };
    let loaded = cli(&["load", path.to_str().expect("the paths of tests are UTF-8")]);
    // It reads the profile in a process of its own, which may not be ready at once.
    let text = (0..100).map(|_| cli(query)).find(|text| text.contains(expected));
    let stopped = cli(&["stop"]);
    Some(text.unwrap_or_else(|| panic!("it was not loaded: {loaded}{stopped}")))
}
