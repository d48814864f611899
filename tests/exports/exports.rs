//! Each export is read back by a reader that is not ours.
//!
//! The recording has what formats are bad at: causes in another lane, links, labels with quotes,
//! HTML, control characters and text from right to left, labels of 10 kB, instants, failures and
//! panics.

mod findings;
#[path = "../../tui/tests/fixture/mod.rs"]
mod fixture;
mod recorded;

mod polls;
mod programs;
mod recordings;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod samples;
mod stacks;
mod tables;
mod timelines;
mod trace_processor;

use metaspy_core::Store;
use metaspy_reader::Filter;
use metaspy_report::export::{Exporter, Format, Selection, Written};

/// The document in this format, and what the exporter reports of it.
fn export(store: &Store, format: Format, filter: &str) -> (Vec<u8>, Written) {
    let filter: Filter = filter.parse().expect("the filters of tests are filters");
    let mut out = Vec::new();
    let written =
        format.export(&Selection::new(store, &filter), &mut out).expect("memory can be written");
    (out, written)
}

/// The document as text.
fn text(store: &Store, format: Format, filter: &str) -> String {
    String::from_utf8(export(store, format, filter).0).expect("the format is UTF-8")
}

/// The document as JSON.
fn json(store: &Store, format: Format, filter: &str) -> serde_json::Value {
    serde_json::from_str(&text(store, format, filter)).expect("the format is JSON")
}

#[test]
fn an_export_stops_on_request() {
    let store = recorded::store("stopped.spy");
    // Tables of profilers are written at once.
    let of_tables = |format: &Format| format.is_coverage() || format.is_contexts();
    for format in Format::ALL.into_iter().filter(|format| !of_tables(format)) {
        let filter = Filter::all();
        let stop = |_| false;
        let selection = Selection::new(&store, &filter).watched(&stop);
        let error = format.export(&selection, &mut Vec::new()).expect_err("it was stopped");
        assert!(metaspy_report::export::is_stopped(&error), "{}: {error}", format.name());
    }
}

#[test]
fn progress_ends_at_one_and_never_runs_backwards() {
    let store = recorded::store("progress.spy");
    let (filter, parts) = (Filter::all(), std::cell::RefCell::new(Vec::new()));
    let watch = |now: metaspy_report::export::Progress| {
        parts.borrow_mut().push(now.part);
        true
    };
    Format::JsonLines
        .export(&Selection::new(&store, &filter).watched(&watch), &mut Vec::new())
        .expect("it is written");
    let parts = parts.into_inner();
    assert!(parts.is_sorted() && parts.last() == Some(&1.0), "{parts:?}");
}
