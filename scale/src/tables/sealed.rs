//! The tables of sealed recordings: Parquet files, read by the engine.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionContext;

use crate::seal::Manifest;
use crate::seal::target::Target;
use crate::tables::SCHEMA_VERSION;

/// A sealed set: a directory or a bucket, and its complete partitions.
#[derive(Clone, Debug)]
pub struct SealedSet {
    target: Target,
    partitions: Vec<Manifest>,
}

impl SealedSet {
    /// Reads the manifests. `None` if there are none.
    pub async fn open(text: &str) -> Result<Option<Self>> {
        let target = Target::parse(text)?;
        let partitions = target.manifests().await?;
        if let Some(newer) = partitions.iter().find(|partition| partition.schema_version > SCHEMA_VERSION) {
            bail!(
                "{text}: {} has version {} of the tables, and this metaspy reads up to {SCHEMA_VERSION}: install a newer one",
                newer.partition(),
                newer.schema_version
            );
        }
        Ok((!partitions.is_empty()).then_some(SealedSet { target, partitions }))
    }

    /// The partitions.
    pub fn partitions(&self) -> &[Manifest] {
        &self.partitions
    }

    /// The names of the tables.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.partitions.iter().flat_map(|partition| partition.tables.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The table with this name; `None` if no partition has it.
    pub async fn table(&self, context: &SessionContext, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let store = self.target.url();
        context.register_object_store(store, self.target.store().clone());
        let mut files = Vec::new();
        for partition in self.partitions.iter().filter(|partition| partition.tables.iter().any(|it| it == name)) {
            let mut url = store.clone();
            let key = self.target.key(partition, &format!("{name}.parquet"));
            // A `%` in a key is a sign of the key, so it is encoded again.
            let mut segments = url.path_segments_mut().map_err(|()| anyhow!("{store} has no path"))?;
            segments.clear().extend(key.parts().map(|part| part.as_ref().to_owned()));
            drop(segments);
            files.push(ListingTableUrl::try_new(url, None)?);
        }
        if files.is_empty() {
            return Ok(None);
        }
        let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
        let config = ListingTableConfig::new_with_multi_paths(files).with_listing_options(options);
        let unreadable = |error| anyhow!("a file of the table `{name}` in {store} cannot be read: {error}");
        let config = config.infer_schema(&context.state()).await.map_err(unreadable)?;
        Ok(Some(Arc::new(ListingTable::try_new(config)?)))
    }
}
