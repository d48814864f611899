//! `metaspy query`: SQL on recordings, in the process.

mod errors;
mod examples;
mod output;
mod session;
mod source;

use anyhow::{Result, bail};

use metaspy_reader::text::print_message;

use crate::arguments;

pub use examples::EXAMPLES;
pub use output::print;
pub use session::{Query, run as run_sql};
pub use source::Source;

/// True if all rows of all recordings could be read.
pub type Complete = bool;

/// Runs the command.
pub async fn run(options: &arguments::Query) -> Result<Complete> {
    if options.examples {
        output::print(&examples::text())?;
        return Ok(true);
    }
    let (sql, sources) = options.sql_and_sources();
    if sources.is_empty() {
        bail!("name a recording after the query: metaspy query 'SELECT * FROM sites' run.spy");
    }
    let source = Source::open(&sources).await?;
    let Some(sql) = sql else {
        output::schema(&source).await?;
        return Ok(true);
    };
    let query = run_sql(sql, &source).await?;
    output::write(query, options.format(), options.output.as_deref()).await?;
    for warning in source.warnings() {
        print_message(&format_args!("metaspy query: {warning}"));
    }
    Ok(!source.is_damaged())
}
