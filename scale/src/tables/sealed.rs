//! The tables of sealed recordings: Parquet files, read by the engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::execution::context::SessionContext;
use futures::TryStreamExt;

use crate::panics::caught;
use crate::seal::Manifest;
use crate::seal::target::{Target, split};
use crate::tables::SCHEMA_VERSION;

/// A sealed set: a directory or a bucket, and its complete partitions.
#[derive(Clone, Debug)]
pub struct SealedSet {
    target: Target,
    partitions: Vec<Manifest>,
}

impl SealedSet {
    /// Reads the manifests of a set, or of a run, a host or a process of it. `None` if there are none.
    pub async fn open(text: &str) -> Result<Option<Self>> {
        let (root, below) = split(text);
        let target = Target::parse(&root)?;
        let partitions = target.manifests(&below).await?;
        if let Some(newer) = partitions.iter().find(|partition| partition.schema_version > SCHEMA_VERSION) {
            bail!(
                "{text}: {} has version {} of the tables, and this metaspy reads up to {SCHEMA_VERSION}: install a newer one",
                newer.partition(),
                newer.schema_version
            );
        }
        if let Some((partition, table)) = partitions.iter().find_map(|one| Some((one, one.missing.first()?))) {
            let file = target.key(partition, &format!("{table}.parquet"));
            bail!(
                "{text}: {file} is missing or empty: copy it from a whole set, or remove its directory and seal again"
            );
        }
        Ok((!partitions.is_empty()).then_some(SealedSet { target, partitions }))
    }

    /// The partitions.
    pub fn partitions(&self) -> &[Manifest] {
        &self.partitions
    }

    /// True for a file in one of its partitions.
    pub fn has_file(&self, file: &Path) -> bool {
        let place = |partition: &Manifest| self.target.place(partition);
        self.partitions.iter().filter_map(place).any(|place| file.starts_with(place))
    }

    /// The names of the tables.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.partitions.iter().flat_map(|partition| partition.tables.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The files that cannot be read to their end, each with the reason.
    pub async fn unreadable_files(&self) -> Vec<String> {
        let mut found = Vec::new();
        for partition in &self.partitions {
            for name in &partition.tables {
                if let Err(error) = caught(self.read_through(partition, name)).await {
                    let file = self.target.key(partition, &format!("{name}.parquet"));
                    found.push(format!("{file} is damaged: {error}"));
                }
            }
        }
        found
    }

    /// Reads all rows of a file.
    async fn read_through(&self, partition: &Manifest, name: &str) -> Result<()> {
        let context = SessionContext::new();
        let table = self.read(&context, vec![self.file(partition, name)?]).await?;
        let mut batches = context.read_table(table)?.execute_stream().await?;
        while batches.try_next().await?.is_some() {}
        Ok(())
    }

    /// The table with this name; `None` if no partition has it.
    pub async fn table(&self, context: &SessionContext, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let has_it = |partition: &&Manifest| partition.tables.iter().any(|it| it == name);
        let files = self.partitions.iter().filter(has_it).map(|partition| self.file(partition, name));
        let files = files.collect::<Result<Vec<_>>>()?;
        if files.is_empty() {
            return Ok(None);
        }
        match self.read(context, files.clone()).await {
            Ok(table) => Ok(Some(table)),
            Err(error) => {
                // The engine's error names no file.
                for file in files {
                    let shown = file.to_string();
                    self.read(context, vec![file]).await.with_context(|| format!("{shown} cannot be read"))?;
                }
                Err(error.context(format!("the table `{name}` in {} cannot be read", self.target.url())))
            }
        }
    }

    /// The file of a table in a partition.
    fn file(&self, partition: &Manifest, name: &str) -> Result<ListingTableUrl> {
        let mut url = self.target.url().clone();
        let key = self.target.key(partition, &format!("{name}.parquet"));
        // A `%` in a key is a sign of the key, so it is encoded again.
        let mut segments = url.path_segments_mut().map_err(|()| anyhow!("{} has no path", self.target.url()))?;
        segments.clear().extend(key.parts().map(|part| part.as_ref().to_owned()));
        drop(segments);
        Ok(ListingTableUrl::try_new(url, None)?)
    }

    /// Some files as one table.
    async fn read(&self, context: &SessionContext, files: Vec<ListingTableUrl>) -> Result<Arc<dyn TableProvider>> {
        context.register_object_store(self.target.url(), self.target.store().clone());
        let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
        let config = ListingTableConfig::new_with_multi_paths(files).with_listing_options(options);
        Ok(Arc::new(ListingTable::try_new(config.infer_schema(&context.state()).await?)?))
    }
}
