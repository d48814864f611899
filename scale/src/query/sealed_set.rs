//! The tables of sealed recordings: Parquet files, read by the engine.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path as FilePath;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::context::SessionContext;
use futures::TryStreamExt;
use object_store::path::Path;

use crate::panics::caught;
use crate::query::partitioned_files::PartitionedFiles;
use crate::seal::checked_store::{CheckedStore, SealedFiles, is_damaged};
use crate::seal::partitions::Partitions;
use crate::seal::target::{Target, split};
use crate::seal::{Manifest, table_file};

/// Bytes at the end of a file that are read at once: the footer of a table has some 3 KiB. The
/// engine's default of 512 KiB is a seventh of the file of a million events, and a query for one
/// process reads the footers of all.
const FOOTER: usize = 16 << 10;

/// A sealed set: a directory or a bucket, and its complete partitions.
#[derive(Clone, Debug)]
pub struct SealedSet {
    target: Target,
    partitions: Vec<Manifest>,
    /// What the engine reads from: the files of all sets in this store.
    store: Arc<CheckedStore>,
    /// Sentences about partitions that are left out.
    warnings: Vec<String>,
}

impl SealedSet {
    /// Reads the manifests of a set, or of a run, a host or a process of it. `None` if there are
    /// none.
    pub async fn open(text: &str) -> Result<Option<Self>> {
        let (root, below) = split(text);
        let target = Target::parse(&root)?;
        let Partitions { complete: partitions, unreadable } = target.partitions(&below).await?;
        if let (true, Some(first)) = (partitions.is_empty(), unreadable.first()) {
            bail!("{text} has no partition that can be read: {}: {}", first.partition, first.why);
        }
        if partitions.is_empty() {
            return Ok(None);
        }
        let warnings = unreadable.iter().map(|partition| format!("{text}: {partition}")).collect();
        let store =
            Arc::new(CheckedStore::new(target.store().clone(), files_of(&target, &partitions)));
        Ok(Some(SealedSet { target, partitions, store, warnings }))
    }

    /// Gives sets in one store one place to read from: an engine has one for each store.
    pub fn share_stores(sets: &mut [SealedSet]) {
        for at in 0..sets.len() {
            let same = sets.iter().filter(|set| set.store_name() == sets[at].store_name());
            let files = same.flat_map(|set| files_of(&set.target, &set.partitions)).collect();
            sets[at].store = Arc::new(CheckedStore::new(sets[at].target.store().clone(), files));
        }
    }

    /// The part of the address that an engine has one store for.
    fn store_name(&self) -> &str {
        &self.target.url()[..url::Position::BeforePath]
    }

    /// Sentences about partitions that are left out, and about the recordings that were sealed.
    pub fn warnings(&self) -> impl Iterator<Item = &String> {
        self.warnings.iter().chain(self.partitions.iter().flat_map(|partition| &partition.warnings))
    }

    /// True if a partition is left out, or if a recording was damaged when it was sealed.
    pub fn is_damaged(&self) -> bool {
        !self.warnings.is_empty() || self.partitions.iter().any(|partition| partition.is_damaged)
    }

    /// The partitions.
    pub fn partitions(&self) -> &[Manifest] {
        &self.partitions
    }

    /// True for a file in one of its partitions.
    pub fn has_file(&self, file: &FilePath) -> bool {
        let directories = |partition: &Manifest| self.target.directories(partition);
        self.partitions.iter().flat_map(directories).any(|it| file.starts_with(it))
    }

    /// The names of the tables.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.partitions.iter().flat_map(|partition| partition.tables.clone()).collect();
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
                    let file = self.key(partition, name);
                    let error = format!("{error:#}");
                    let names_it = error.contains(&format!("{file} is damaged"));
                    found.push(if names_it {
                        error
                    } else {
                        format!("{file} is damaged: {error}")
                    });
                }
            }
        }
        found
    }

    /// Reads all rows of a file.
    async fn read_through(&self, partition: &Manifest, name: &str) -> Result<()> {
        let context = SessionContext::new();
        let file = self.file(partition, name)?;
        let table = self.read(&context, vec![file.clone()], vec![file]).await?;
        let mut batches = context.read_table(Arc::new(table))?.execute_stream().await?;
        while batches.try_next().await?.is_some() {}
        Ok(())
    }

    /// The table with this name, for an engine in this process; `None` if no partition has it.
    pub async fn table(
        &self,
        context: &SessionContext,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        let Some(files) = self.files(context, name).await? else { return Ok(None) };
        let partitions: Vec<&Manifest> = self.partitions_with(name).collect();
        Ok(Some(Arc::new(PartitionedFiles::new(files, &partitions))))
    }

    /// The table with this name, for engines in other processes, which read its files themselves:
    /// all bytes are checked before.
    pub async fn checked_table(
        &self,
        context: &SessionContext,
        name: &str,
    ) -> Result<Option<Arc<dyn TableProvider>>> {
        self.check_files(name)?;
        Ok(self.files(context, name).await?.map(|files| Arc::new(files) as _))
    }

    /// Compares the whole files of a table with their checksums.
    fn check_files(&self, name: &str) -> Result<()> {
        let file = table_file(name);
        for partition in &self.partitions {
            let Some((sealed, path)) =
                partition.files.get(&file).zip(self.target.path(partition, &file))
            else {
                continue;
            };
            let checked = File::open(&path)
                .map_err(anyhow::Error::from)
                .and_then(|file| sealed.check_file(&file));
            checked.with_context(|| format!("{} is damaged", path.display()))?;
        }
        Ok(())
    }

    /// The partitions that have a table.
    fn partitions_with(&self, name: &str) -> impl Iterator<Item = &Manifest> {
        self.partitions.iter().filter(move |it| it.tables.iter().any(|table| table == name))
    }

    /// The files of a table, one for each partition that has it; `None` if there is none.
    async fn files(&self, context: &SessionContext, name: &str) -> Result<Option<ListingTable>> {
        let mut files = Vec::new();
        // One file for each set of columns: an older partition lacks those that were added since.
        let mut columns = BTreeMap::new();
        for partition in self.partitions_with(name) {
            let file = self.file(partition, name)?;
            columns.entry(partition.columns_of(name)).or_insert_with(|| file.clone());
            files.push(file);
        }
        if files.is_empty() {
            return Ok(None);
        }
        match self.read(context, columns.into_values().collect(), files.clone()).await {
            Ok(table) => Ok(Some(table)),
            Err(error) if is_damaged(&error) => Err(anyhow!(error.root_cause().to_string())),
            Err(error) => {
                // The engine's error names no file.
                for file in files {
                    let shown = file.to_string();
                    self.read(context, vec![file.clone()], vec![file])
                        .await
                        .with_context(|| format!("{shown} cannot be read"))?;
                }
                Err(error
                    .context(format!("the table `{name}` in {} cannot be read", self.target.url())))
            }
        }
    }

    /// The key of a table in a partition.
    fn key(&self, partition: &Manifest, name: &str) -> Path {
        self.target.key(partition, &table_file(name))
    }

    /// The file of a table in a partition.
    fn file(&self, partition: &Manifest, name: &str) -> Result<ListingTableUrl> {
        let mut url = self.target.url().clone();
        let key = self.key(partition, name);
        // A `%` in a key is a sign of the key, so it is encoded again.
        let mut segments =
            url.path_segments_mut().map_err(|()| anyhow!("{} has no path", self.target.url()))?;
        segments.clear().extend(key.parts().map(|part| part.as_ref().to_owned()));
        drop(segments);
        Ok(ListingTableUrl::try_new(url, None)?)
    }

    /// Some files as one table, with the columns of those in `like`. What a file lacks is null.
    async fn read(
        &self,
        context: &SessionContext,
        like: Vec<ListingTableUrl>,
        files: Vec<ListingTableUrl>,
    ) -> Result<ListingTable> {
        context.register_object_store(self.target.url(), self.store.clone());
        let format = ParquetFormat::default().with_metadata_size_hint(Some(FOOTER));
        let options = ListingOptions::new(Arc::new(format)).with_file_extension(".parquet");
        let mut schemas = Vec::new();
        for file in &like {
            schemas.push(options.infer_schema(&context.state(), file).await?.as_ref().clone());
        }
        let schema = Arc::new(Schema::try_merge(schemas)?);
        let config = ListingTableConfig::new_with_multi_paths(files)
            .with_listing_options(options)
            .with_schema(schema);
        Ok(ListingTable::try_new(config)?)
    }
}

/// The files of some partitions, by key.
fn files_of(target: &Target, partitions: &[Manifest]) -> SealedFiles {
    let of = |partition: &Manifest| {
        let names = partition.table_files().collect::<Vec<_>>();
        let sealed = |name: &String| partition.files.get(name).cloned().map(Arc::new);
        names.iter().map(|name| (target.key(partition, name), sealed(name))).collect::<Vec<_>>()
    };
    partitions.iter().flat_map(of).collect()
}
