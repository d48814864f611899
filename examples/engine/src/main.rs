//! Runs a query on tables in files of CSV, and prints its rows:
//! `metaspy-engine-story SQL TABLE.csv…`.
//!
//! It knows nothing of metaspy.

use std::path::Path;

use datafusion::error::Result;
use datafusion::prelude::{CsvReadOptions, SessionConfig, SessionContext};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let sql = arguments.next().expect("usage: metaspy-engine-story SQL TABLE.csv…");
    let engine = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    for file in arguments {
        let name = Path::new(&file).file_stem().expect("a file has a name").to_string_lossy();
        engine.register_csv(name.as_ref(), &file, CsvReadOptions::new()).await?;
    }
    engine.sql(&sql).await?.show().await
}
