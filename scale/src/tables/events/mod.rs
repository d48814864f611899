//! The table `events`: blocks of recordings become batches, and only the requested columns are
//! made.

mod conditions;
mod decode;
mod plan;

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::recordings::Recording;
pub use decode::{Cells, Decoder, NameTable, outcome_words};
use plan::EventsExec;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Run,
    Host,
    Process,
    Event,
    TimeNs,
    TookNs,
    SiteId,
    Site,
    SubjectKind,
    SubjectKey,
    Cause,
    CauseSite,
    Lane,
    Thread,
    Outcome,
    Timed,
    Epoch,
    Trace,
    Span,
    RemoteParent,
}

/// The columns: name, type, and whether it can be null.
const COLUMNS: [(Column, &str, DataType, bool); 20] = [
    (Column::Run, "run", DataType::Utf8View, false),
    (Column::Host, "host", DataType::Utf8View, false),
    (Column::Process, "process", DataType::Utf8View, false),
    (Column::Event, "event", DataType::Int64, false),
    (Column::TimeNs, "time_ns", DataType::Int64, false),
    (Column::TookNs, "took_ns", DataType::Int64, true),
    (Column::SiteId, "site_id", DataType::Int32, false),
    (Column::Site, "site", DataType::Utf8View, false),
    (Column::SubjectKind, "subject_kind", DataType::Utf8View, true),
    (Column::SubjectKey, "subject_key", DataType::UInt64, true),
    (Column::Cause, "cause", DataType::Int64, true),
    (Column::CauseSite, "cause_site", DataType::Utf8View, true),
    (Column::Lane, "lane", DataType::Int32, false),
    (Column::Thread, "thread", DataType::Utf8View, false),
    (Column::Outcome, "outcome", DataType::Utf8View, false),
    (Column::Timed, "timed", DataType::Boolean, false),
    (Column::Epoch, "epoch", DataType::Int32, false),
    (Column::Trace, "trace", DataType::Utf8View, true),
    (Column::Span, "span", DataType::Utf8View, true),
    (Column::RemoteParent, "remote_parent", DataType::Utf8View, true),
];

/// The table of the events of some recordings.
#[derive(Debug)]
pub struct Events {
    decoders: Arc<[Arc<Decoder>]>,
    schema: SchemaRef,
}

impl Events {
    /// The events of these recordings.
    pub fn new(recordings: Arc<[Recording]>) -> Self {
        let decoders =
            recordings.iter().map(|recording| Arc::new(Decoder::new(recording))).collect();
        Events { decoders, schema: schema() }
    }
}

/// The columns of the table.
pub fn schema() -> SchemaRef {
    let fields = COLUMNS
        .iter()
        .map(|(_, name, of_type, nullable)| Field::new(*name, of_type.clone(), *nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

#[async_trait]
impl TableProvider for Events {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    /// Conditions exclude chunks and events. The engine tests what remains again.
    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut scans = Vec::new();
        for decoder in self.decoders.iter() {
            if let Some(conditions) =
                conditions::pushed_down(state, decoder, &self.schema, filters)?
            {
                scans.push((decoder.clone(), decoder.store.scan(conditions)));
            }
        }
        let every: Vec<usize> = (0..COLUMNS.len()).collect();
        let columns = projection.unwrap_or(&every);
        let schema = Arc::new(self.schema.project(columns)?);
        let columns = columns.iter().map(|&at| COLUMNS[at].0).collect();
        Ok(Arc::new(EventsExec::new(scans, columns, schema, state.config().target_partitions())))
    }
}
