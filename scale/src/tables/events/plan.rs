//! [`EventsExec`]: the scan of the table `events` in a physical plan.
//!
//! The engine tests every condition again, instead of relying on an exact push-down. Summaries and
//! ticks are coarser than SQL, and a second test of the few rows that remain costs little.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties,
};
use metaspy_reader::Scan;

use super::Column;
use super::decode::Decoder;

/// Reads the parts of some scans. Each partition takes every *n*-th part.
#[derive(Debug)]
pub struct EventsExec {
    scans: Arc<[(Arc<Decoder>, Scan)]>,
    /// Number of the scan, and number of the part in it.
    parts: Arc<[(usize, usize)]>,
    columns: Arc<[Column]>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl EventsExec {
    /// A scan with at most this many partitions.
    pub fn new(
        scans: Vec<(Arc<Decoder>, Scan)>,
        columns: Vec<Column>,
        schema: SchemaRef,
        partitions: usize,
    ) -> Self {
        let numbered = scans.iter().enumerate();
        let parts: Arc<[_]> = numbered
            .flat_map(|(at, (_, scan))| (0..scan.parts()).map(move |part| (at, part)))
            .collect();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema.clone()),
            Partitioning::UnknownPartitioning(partitions.min(parts.len()).max(1)),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        EventsExec {
            scans: scans.into(),
            parts,
            columns: columns.into(),
            schema,
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for EventsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skipped: usize = self.scans.iter().map(|(_, scan)| scan.skipped()).sum();
        write!(f, "EventsExec: chunks={}, skipped={skipped}", self.parts.len())
    }
}

impl ExecutionPlan for EventsExec {
    fn name(&self) -> &'static str {
        "EventsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let scans = self.scans.clone();
        let parts = self.parts.clone();
        let columns = self.columns.clone();
        let schema = self.schema.clone();
        let step = self.properties.partitioning.partition_count();
        let mut events = Vec::new();
        let batches = (partition..parts.len()).step_by(step).map(move |at| {
            let (scan, part) = parts[at];
            let (decoder, scan) = &scans[scan];
            events.clear();
            scan.read(part, &mut events);
            decoder.batch(&events, &columns, &schema)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.schema.clone(),
            futures::stream::iter(batches),
        )))
    }
}
