//! What was recorded: recordings, sites, lanes.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, TimestampMicrosecondArray};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use metaspy_reader::RecordedSite;

use crate::recordings::Recording;
use crate::tables::SCHEMA_VERSION;
use crate::tables::columns::{batch, flags, integers, small, texts};

/// One row: the program, and how complete the recording is.
pub fn recordings(recording: &Recording) -> Result<RecordBatch> {
    let store = &recording.store;
    let header = store.header();
    let program = store.program();
    let totals = store.totals();
    // Spark reads no nanoseconds unless it is told to.
    let started = vec![(header.started_ns / 1_000) as i64];
    let started: ArrayRef = Arc::new(TimestampMicrosecondArray::from(started).with_timezone("UTC"));
    let warnings = recording.warnings();
    let state = format!("{:?}", store.end_state()).to_lowercase();
    batch(
        recording,
        [
            texts("file", [Some(recording.path.display().to_string())]),
            texts("program", [Some(&program.path)]),
            texts("arguments", [Some(program.arguments.join(" "))]),
            ("started".to_owned(), started),
            texts("state", [Some(state)]),
            small("exit_code", [header.exit.map(u32::from)]),
            integers("calls", [Some(totals.emitted)]),
            integers("stored", [Some(totals.stored)]),
            integers("folded", [Some(totals.folded)]),
            integers("counted", [Some(totals.counted)]),
            integers("lost", [Some(totals.lost)]),
            integers("unnamed", [Some(totals.unnamed)]),
            flags("exact", [Some(totals.exact)]),
            small("warnings", [Some(warnings.len() as u32)]),
            texts("warning", [(!warnings.is_empty()).then(|| warnings.join("; "))]),
            small("schema_version", [Some(SCHEMA_VERSION)]),
        ],
    )
}

/// The places in the code.
pub fn sites(recording: &Recording) -> Result<RecordBatch> {
    let sites = recording.store.sites();
    let of = |value: fn(&RecordedSite) -> u32| sites.iter().map(move |site| Some(value(site)));
    let facts: Vec<_> = sites.iter().map(RecordedSite::facts).collect();
    batch(
        recording,
        [
            small("site_id", of(|site| site.id.0)),
            texts("site", sites.iter().map(|site| Some(&site.path))),
            texts("kind", sites.iter().map(|site| Some(site.kind.name()))),
            texts("file", sites.iter().map(|site| Some(&site.file))),
            small("first_line", of(|site| site.lines.0)),
            small("last_line", of(|site| site.lines.1)),
            texts("module", facts.iter().map(|facts| Some(&facts.as_ref()?.module))),
            texts("type", facts.iter().map(|facts| facts.as_ref()?.of_type.as_ref())),
            small("complexity", facts.iter().map(|facts| Some(facts.as_ref()?.complexity))),
            texts("skipped", sites.iter().map(|site| site.skipped.as_ref())),
        ],
    )
}

/// The threads.
pub fn lanes(recording: &Recording) -> Result<RecordBatch> {
    let lanes = recording.store.lanes();
    batch(
        recording,
        [
            small("lane", lanes.iter().map(|lane| Some(lane.id.0))),
            texts("thread", lanes.iter().map(|lane| Some(&lane.name))),
            integers("thread_number", lanes.iter().map(|lane| Some(lane.thread))),
            flags("live", lanes.iter().map(|lane| Some(lane.live))),
            integers("lost", lanes.iter().map(|lane| Some(lane.lost))),
        ],
    )
}
