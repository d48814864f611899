//! Edges: links between events, relations between subjects.

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use metaspy_reader::{EventId, Relation};

use crate::recordings::Recording;
use crate::tables::columns::{batch, integers, subjects, texts};

/// Further reasons of events.
pub fn links(recording: &Recording) -> Result<RecordBatch> {
    let mut links: Vec<(EventId, EventId)> = recording.store.all_links().iter().collect();
    links.sort_unstable();
    links.dedup();
    batch(
        recording,
        [
            integers("event", links.iter().map(|(event, _)| Some(event.raw()))),
            integers("reason", links.iter().map(|(_, reason)| Some(reason.raw()))),
        ],
    )
}

/// Edges of the model.
pub fn relations(recording: &Recording) -> Result<RecordBatch> {
    let all: Vec<Relation> = recording.store.relations().collect();
    let names = texts("relation", all.iter().map(|edge| Some(&edge.name)));
    let from = subjects(recording, "from", all.iter().map(|edge| Some(edge.from)));
    let to = subjects(recording, "to", all.iter().map(|edge| Some(edge.to)));
    batch(recording, [names].into_iter().chain(from).chain(to))
}
