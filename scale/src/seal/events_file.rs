//! The table `events` of a recording as one Parquet file.
//!
//! A row group is a stretch of time, sorted by subject and number: a query for one subject reads one or two pages of each
//! group, and memory is bounded. Groups are made by several threads, and appended in their order.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Result};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, compute_leaves};
use datafusion::parquet::basic::Encoding;
use datafusion::parquet::file::properties::{EnabledStatistics, WriterProperties};
use datafusion::parquet::schema::types::ColumnPath;
use metaspy_probe::Subject;
use metaspy_reader::{Conditions, Event, Scan};

use super::properties;
use super::rest::{Restorable, Restored};
use crate::recordings::Recording;
use crate::tables::events::{Decoder, schema};

/// Chunks of a row group: some 260,000 events.
const CHUNKS: usize = 32;
/// Rows of a page.
const PAGE_ROWS: usize = 8_192;
/// Threads that make row groups. Each takes some 60 MB.
const THREADS: usize = 2;

/// What was written.
pub struct Written {
    /// The number of events.
    pub events: u64,
    /// The slots that the file restores.
    pub restored: Vec<Restored>,
}

/// A row group: its rows, the slots that it restores, and its columns, encoded.
type Group = (u64, Vec<Restored>, Vec<ArrowColumnChunk>);

/// Writes the events of a recording.
pub fn write(recording: &Recording, path: &Path) -> Result<Written> {
    let cannot = || format!("cannot write {}", path.display());
    let scan = recording.store.scan(Conditions::default());
    let made_of = (&Decoder::new(recording), &Restorable::new(&recording.store));
    let schema = schema();
    let file = File::create(path).with_context(cannot)?;
    let writer = ArrowWriter::try_new(file, schema.clone(), Some(file_properties()))?;
    let (mut writer, factory) = writer.into_serialized_writer()?;
    let groups = scan.parts().div_ceil(CHUNKS);
    let next = AtomicUsize::new(0);
    // At most one finished group of each thread waits.
    let (send, receive) = mpsc::sync_channel(THREADS);
    let mut written = Written { events: 0, restored: Vec::new() };
    thread::scope(|scope| {
        for _ in 0..THREADS.min(groups) {
            let (send, next, factory, scan, schema) = (send.clone(), &next, &factory, &scan, &schema);
            scope.spawn(move || {
                loop {
                    let group = next.fetch_add(1, Ordering::Relaxed);
                    if group >= groups || send.send((group, row_group(factory, group, scan, made_of, schema))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut expected = 0;
        for (group, made) in receive {
            waiting.insert(group, made);
            while let Some(made) = waiting.remove(&expected) {
                let (rows, restored, columns): Group = made?;
                expected += 1;
                written.events += rows;
                written.restored.extend(restored);
                if rows > 0 {
                    let mut out = writer.next_row_group()?;
                    columns.into_iter().try_for_each(|column| column.append_to_row_group(&mut out))?;
                    out.close()?;
                }
            }
        }
        anyhow::Ok(())
    })?;
    writer.close().with_context(cannot)?;
    Ok(written)
}

/// Numbers that grow are differences. Texts and small numbers are dictionaries.
fn file_properties() -> WriterProperties {
    let mut properties = properties()
        .set_data_page_row_count_limit(PAGE_ROWS)
        .set_write_batch_size(1_024)
        .set_max_row_group_row_count(None)
        .set_statistics_enabled(EnabledStatistics::Page);
    for column in ["event", "time_ns", "took_ns", "cause", "subject_key"] {
        let path = ColumnPath::from(column);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

/// Makes a row group.
fn row_group(
    factory: &ArrowRowGroupWriterFactory,
    group: usize,
    scan: &Scan,
    (decoder, restorable): (&Decoder, &Restorable),
    schema: &SchemaRef,
) -> Result<Group> {
    let mut events: Vec<Event> = Vec::new();
    for part in group * CHUNKS..scan.parts().min((group + 1) * CHUNKS) {
        scan.read(part, &mut events);
    }
    let restored = restorable.slots(&events);
    events.sort_unstable_by_key(|event| {
        let Subject { kind, key } = event.subject.unwrap_or(Subject::NONE);
        (kind, key, event.id)
    });
    let mut writers = factory.create_column_writers(group)?;
    for rows in events.chunks(PAGE_ROWS) {
        let batch = decoder.every_column(rows, schema)?;
        for ((writer, field), column) in writers.iter_mut().zip(schema.fields()).zip(batch.columns()) {
            for leaf in compute_leaves(field, column)? {
                writer.write(&leaf)?;
            }
        }
    }
    let columns = writers.into_iter().map(|writer| writer.close()).collect::<Result<Vec<_>, _>>()?;
    Ok((events.len() as u64, restored, columns))
}
