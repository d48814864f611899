//! What `metaspy findings` states of a recording.
//!
//! The search reads all events, so it runs when a query reads rows, not when one asks for the
//! columns.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;
use metaspy_report::findings::{Finding, Findings, FoundSite, FoundSubject};
use metaspy_report::text::command_line;
use serde_json::{Map, Value};

use crate::recordings::Recording;
use crate::tables::columns::{batch, flags, integers, shares, small, subjects, texts};

/// The table of these recordings. Each one is searched by itself.
pub fn table(recordings: &Arc<[Recording]>) -> Result<Option<Arc<dyn TableProvider>>> {
    let Some(first) = recordings.first() else { return Ok(None) };
    let schema = rows(first, &[])?.schema();
    let search = |recording: &Recording| {
        Arc::new(Search { recording: recording.clone(), schema: schema.clone() })
            as Arc<dyn PartitionStream>
    };
    let searches = recordings.iter().map(search).collect();
    Ok(Some(Arc::new(StreamingTable::try_new(schema, searches)?)))
}

/// The rows of one recording, which are not there yet.
struct Search {
    recording: Recording,
    schema: SchemaRef,
}

impl std::fmt::Debug for Search {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "findings of {}", self.recording.path.display())
    }
}

impl PartitionStream for Search {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let recording = self.recording.clone();
        let found = async move {
            // It takes seconds of a large recording, and works on threads of its own.
            let search = tokio::task::spawn_blocking(move || {
                let findings = recording.findings().map_err(DataFusionError::Execution)?;
                rows(&recording, &numbered(findings))
            });
            search.await.map_err(|error| DataFusionError::External(error.into()))?
        };
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::once(found)))
    }
}

/// A finding and the numbers that commands have for it.
struct Numbered<'f> {
    finding: &'f Finding,
    /// Its place in the JSON of the command.
    number: u32,
    /// What `metaspy open --finding` takes; `None` if it is not listed.
    listed: Option<u32>,
}

fn numbered(findings: &Findings) -> Vec<Numbered<'_>> {
    let mut listed = 0;
    let numbered = (1..).zip(&findings.found).map(|(number, finding)| {
        let is_listed = finding.is_listed();
        listed += u32::from(is_listed);
        Numbered { finding, number, listed: is_listed.then_some(listed) }
    });
    numbered.collect()
}

fn rows(recording: &Recording, all: &[Numbered<'_>]) -> Result<RecordBatch> {
    let found = || all.iter().map(|row| row.finding);
    let text = |name: &str, of: fn(&Finding) -> &str| {
        texts(name, found().map(|finding| Some(of(finding)).filter(|text| !text.is_empty())))
    };
    let site = |finding: &'_ Finding| finding.sites.first().cloned();
    let with_file = |finding| site(finding).filter(|site| !site.file.is_empty());
    let worst = |finding: &'_ Finding| finding.subjects.worst.first().cloned();
    let ppm = |ppm: u32| f64::from(ppm) / 1e6;
    let command = |row: &Numbered<'_>| {
        let file = recording.path.to_string_lossy();
        let number = row.listed?.to_string();
        Some(command_line(["metaspy", "open", &*file, "--finding", number.as_str()]))
    };
    let columns = [
        small("number", all.iter().map(|row| Some(row.number))),
        text("kind", |finding| &finding.kind),
        text("title", |finding| &finding.title),
        texts("site", found().map(|finding| site(finding).map(|FoundSite { path, .. }| path))),
        texts("file", found().map(|finding| with_file(finding).map(|FoundSite { file, .. }| file))),
        small("line", found().map(|finding| with_file(finding).map(|FoundSite { line, .. }| line))),
    ];
    let of_subjects =
        subjects(recording, "subject", found().map(|finding| Some(worst(finding)?.subject)));
    let further = [
        texts(
            "subject",
            found().map(|finding| worst(finding).map(|FoundSubject { text, .. }| text)),
        ),
        integers("subjects", found().map(|finding| Some(finding.subjects.count))),
        integers("events", found().map(|finding| Some(finding.cost.events))),
        shares("events_share", found().map(|finding| Some(ppm(finding.cost.events_ppm)))),
        integers("time_ns", found().map(|finding| finding.cost.time_ns)),
        shares(
            "time_share",
            found().map(|finding| finding.cost.time_ns.map(|_| ppm(finding.cost.time_ppm))),
        ),
        text("time_of", |finding| finding.cost.of.word()),
        flags("at_least", found().map(|finding| Some(finding.cost.at_least))),
        text("certainty", |finding| finding.certainty.word()),
        text("certain_because", |finding| finding.certainty.reason()),
        text("evidence", |finding| &finding.evidence.text),
        texts("numbers", found().map(|finding| Some(numbers(finding)))),
        text("filter", |finding| &finding.evidence.filter),
        integers(
            "event",
            found().map(|finding| finding.evidence.events.first().map(|event| event.raw())),
        ),
        text("advice", |finding| &finding.advice),
        text("needs", |finding| &finding.needs),
        text("fingerprint", |finding| &finding.fingerprint),
        small("implied_by", found().map(|finding| finding.implied_by.map(|at| at as u32 + 1))),
        flags("small", found().map(|finding| Some(finding.is_small))),
        text("state", |finding| finding.state.word()),
        texts("command", all.iter().map(command)),
    ];
    batch(recording, columns.into_iter().chain(of_subjects).chain(further))
}

/// The named numbers of the evidence, as JSON: each kind of finding has others.
fn numbers(finding: &Finding) -> String {
    let numbers = finding
        .evidence
        .numbers
        .iter()
        .map(|(name, number)| ((*name).to_owned(), (*number).into()));
    Value::Object(numbers.collect::<Map<_, _>>()).to_string()
}
