//! [`PartitionedFiles`]: a table of a sealed set, of which a query opens the files that it needs.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, StringViewArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::listing::{ListingTable, ListingTableConfig};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;

use crate::seal::Manifest;
use crate::tables::partitions;

/// A file for each partition. Conditions on `run`, `host` and `process` exclude files before one of
/// them is opened.
#[derive(Debug)]
pub struct PartitionedFiles {
    /// All files.
    files: ListingTable,
    /// The run, the host and the process of each file.
    names: [ArrayRef; 3],
}

impl PartitionedFiles {
    /// The files of these partitions, in the same order.
    pub fn new(files: ListingTable, partitions: &[&Manifest]) -> Self {
        let column = |name: fn(&Manifest) -> &str| -> ArrayRef {
            Arc::new(StringViewArray::from_iter_values(partitions.iter().map(|it| name(it))))
        };
        let names = [column(|it| &it.run), column(|it| &it.host), column(|it| &it.process)];
        PartitionedFiles { files, names }
    }
}

#[async_trait]
impl TableProvider for PartitionedFiles {
    fn schema(&self) -> SchemaRef {
        self.files.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        self.files.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.schema();
        let passing = partitions::passing(state, &schema, filters, &self.names)?;
        let files = self.files.table_paths().iter().zip(passing);
        let files: Vec<_> =
            files.filter(|(_, passes)| *passes).map(|(file, _)| file.clone()).collect();
        if files.is_empty() {
            let schema = projection
                .map_or(Ok(schema.clone()), |columns| schema.project(columns).map(Arc::new))?;
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let config = ListingTableConfig::new_with_multi_paths(files)
            .with_listing_options(self.files.options().clone())
            .with_schema(schema);
        ListingTable::try_new(config)?.scan(state, projection, filters, limit).await
    }
}
