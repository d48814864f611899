//! The table `events` of a recording as one Parquet file.
//!
//! A row group is a stretch of time, sorted by subject and number: a query for one subject reads
//! one or two pages of each group. Groups are sorted, not the file, because memory is then bounded.
//! Groups are made by several threads, and appended in their order.

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::in_order::in_order;
use super::rest::Restored;
use super::row_group::{Groups, PAGE_ROWS};
use super::{options, properties};
use crate::recordings::Recording;
use crate::tables::events::schema;

/// What was written.
pub struct Written {
    /// The number of events.
    pub events: u64,
    /// The slots that the file restores.
    pub restored: Vec<Restored>,
}

/// Writes the events of a recording.
pub fn write(recording: &Recording, path: &Path) -> Result<Written> {
    let cannot = || format!("cannot write {}", path.display());
    let file = File::create(path).with_context(cannot)?;
    let writer = ArrowWriter::try_new_with_options(file, schema(), options(file_properties()))?;
    let (mut writer, factory) = writer.into_serialized_writer()?;
    let groups = Groups::new(recording, schema(), writer.schema_descr().columns(), factory);
    let mut written = Written { events: 0, restored: Vec::new() };
    in_order(
        groups.len(),
        |group| groups.make(group),
        |mut group| {
            written.events += group.events;
            written.restored.append(&mut group.restored);
            if group.events > 0 {
                let mut out = writer.next_row_group()?;
                group.append_to(&mut out)?;
                out.close()?;
            }
            Ok(())
        },
    )?;
    writer.close().with_context(cannot)?;
    Ok(written)
}

/// Pages have equal rows in all columns.
fn file_properties() -> WriterProperties {
    properties()
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(1_024)
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Page)
        .build()
}
