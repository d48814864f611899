//! `metaspy query`: SQL on recordings, run in this process or on a cluster.

mod address_space;
mod divided_pool;
mod errors;
mod examples;
mod output;
mod partitioned_files;
mod projections;
mod sealed_set;
mod session;
mod source;

use std::fs;

use anyhow::{Context, Result, bail};
use datafusion::error::DataFusionError;

use metaspy_reader::files::OutputFile;
use metaspy_reader::text::print_message;

use crate::arguments;
use crate::interrupt::interrupted;
use crate::panics::caught;
use crate::stdout::print;

use errors::QueryError;
pub use examples::EXAMPLES;
#[cfg(feature = "cluster")]
pub use projections::with_distinct_projections;
pub use session::{MEMORY, Query, run as run_sql, run_bounded as run_bounded_sql};
pub use source::Source;

/// Error of a program without the feature `cluster`.
#[cfg(not(feature = "cluster"))]
pub const NO_CLUSTER: &str = "this metaspy-scale was built without its feature `cluster`: \
                              cargo install --locked --path scale --features cluster";

/// First words of the report about a query that needs more memory.
pub const MEMORY_SPENT: &str = "the query needs more than its memory";

/// Maximum number of warnings that are printed.
const WARNINGS: usize = 20;

/// Result of a command: true if all rows of all recordings could be read.
pub type Complete = bool;

/// Prepares a query that a cluster runs.
#[cfg(feature = "cluster")]
async fn run_on_cluster(sql: &str, source: &Source, cluster: &url::Url) -> Result<Query> {
    if !source.recordings().is_empty() {
        bail!("a cluster reads sealed sets: metaspy seal RECORDING --to DIR");
    }
    let source = source.clone().for_other_processes();
    Ok(session::run_on(session::on_cluster(cluster).await?, sql, &source).await?)
}

#[cfg(not(feature = "cluster"))]
async fn run_on_cluster(_: &str, _: &Source, _: &url::Url) -> Result<Query> {
    bail!(NO_CLUSTER)
}

/// Runs the command.
pub async fn run(options: &arguments::Query) -> Result<Complete> {
    if options.examples {
        print(&examples::text())?;
        return Ok(true);
    }
    let (sql, sources) = options.sql_and_sources()?;
    if sources.is_empty() {
        bail!("name a recording after the query: metaspy query 'SELECT * FROM sites' run.spy");
    }
    let source = Source::open(&sources).await?;
    if let Some(further) = options.address_space {
        address_space::bound(further)?;
    }
    let Some(sql) = sql else {
        output::schema(&source).await?;
        return Ok(true);
    };
    if let Err(error) = caught(answer(sql, &source, options)).await {
        if is_memory_spent(&error) {
            let memory = options.memory >> 20;
            return Err(error
                .context(format!("{MEMORY_SPENT} of {memory} MiB: metaspy query --memory SIZE")));
        }
        // The engine's error names no file. An error in the query names its place instead.
        let files =
            if error.is::<QueryError>() { Vec::new() } else { source.unreadable_files().await };
        return Err(if files.is_empty() { error } else { error.context(files.join("\n")) });
    }
    print_warnings(&source.warnings());
    Ok(!source.is_damaged())
}

/// True if a query ended because it needs more memory.
pub fn is_memory_spent(error: &anyhow::Error) -> bool {
    let of_engine = error.chain().find_map(|cause| cause.downcast_ref::<DataFusionError>());
    of_engine
        .is_some_and(|error| matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)))
}

/// Runs a query and writes its rows.
async fn answer(sql: &str, source: &Source, options: &arguments::Query) -> Result<()> {
    let query = match &options.cluster {
        None => run_sql(sql, source, options.memory).await?,
        Some(cluster) => run_on_cluster(sql, source, cluster).await?,
    };
    let Some(path) = &options.output else { return output::write(query, options.format()).await };
    let interrupted = interrupted()?;
    // A file that other programs would read as part of a sealed set is an input, too.
    if fs::canonicalize(path).is_ok_and(|path| source.has_file(&path)) {
        bail!("{} is what the query reads: name another file with -o", path.display());
    }
    let cannot = || format!("cannot write {}", path.display());
    let mut file = OutputFile::create(path).with_context(cannot)?;
    tokio::select! {
        written = output::write_to(query, options.format(), &mut file) => written?,
        () = interrupted => bail!("interrupted: {} is not written", path.display()),
    }
    file.complete().with_context(cannot)
}

/// Prints warnings about the recordings, at most the first [`WARNINGS`].
fn print_warnings(warnings: &[String]) {
    for warning in warnings.iter().take(WARNINGS) {
        print_message(&format_args!("metaspy query: {warning}"));
    }
    if let Some(more @ 1..) = warnings.len().checked_sub(WARNINGS) {
        print_message(&format_args!(
            "metaspy query: {more} more: SELECT file, warning FROM recordings"
        ));
    }
}
