//! Restoration of the events of a sealed recording into its blocks.

use std::collections::HashMap;
use std::fs::File;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{Int32Type, Int64Type, UInt64Type};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use metaspy_core::format::slot::{self, Commit, Flags, START_MAX};
use metaspy_core::format::{BLOCK_BYTES, CHUNK_BLOCKS, SLOT_BYTES, header};
use metaspy_probe::{KindId, Outcome};
use metaspy_reader::{EventId, Store};

use crate::recordings::Recording;
use crate::tables::columns::KindNames;
use crate::tables::events::outcome_words;

/// Columns of the table that slots are made of.
const COLUMNS: [&str; 9] = [
    "event",
    "time_ns",
    "took_ns",
    "site_id",
    "subject_kind",
    "subject_key",
    "cause",
    "outcome",
    "timed",
];

/// Event as a row of the table.
struct Row {
    event: EventId,
    time_ns: u64,
    took_ns: Option<u64>,
    site: u32,
    key: u64,
    cause: u64,
    flags: u64,
}

/// Writer of the events of a table into the blocks of a recording that has everything else.
pub struct Filler {
    store: Store,
    file: File,
    /// Numbers of the kinds, by name.
    kinds: HashMap<String, KindId>,
    outcomes: HashMap<&'static str, Outcome>,
    /// Nanoseconds of 2⁴⁰ ticks.
    rate: u64,
}

impl Filler {
    /// Opens the recording at a path.
    pub fn open(path: &Path) -> Result<Self> {
        let recording = Recording::open(path)?;
        let file = File::options().read(true).write(true).open(path)?;
        let names = KindNames::of(&recording);
        Ok(Filler {
            kinds: names.iter().map(|(number, name)| (name.to_owned(), KindId(number))).collect(),
            outcomes: outcome_words().collect(),
            rate: recording.store.span_ns(1 << 40).max(1),
            store: recording.store,
            file,
        })
    }

    /// Writes all events of a table, one row group after another.
    pub fn fill(&self, table: &File) -> Result<()> {
        let groups = ParquetRecordBatchReaderBuilder::try_new(table.try_clone()?)?
            .metadata()
            .num_row_groups();
        for group in 0..groups {
            let builder = ParquetRecordBatchReaderBuilder::try_new(table.try_clone()?)?;
            let columns = ProjectionMask::columns(builder.parquet_schema(), COLUMNS);
            let batches = builder
                .with_row_groups(vec![group])
                .with_projection(columns)
                .with_batch_size(8_192);
            let mut rows = Vec::new();
            for batch in batches.build()? {
                self.read(&batch?, &mut rows)?;
            }
            // A group is ordered by subject, and the file by event.
            rows.sort_unstable_by_key(|row| row.event);
            for block in rows.chunk_by(|one, other| one.event.sequence() == other.event.sequence())
            {
                self.fill_block(block)?;
            }
        }
        Ok(())
    }

    fn read(&self, batch: &RecordBatch, rows: &mut Vec<Row>) -> Result<()> {
        let column = |name: &str| {
            batch.column_by_name(name).with_context(|| format!("there is no column {name}"))
        };
        let texts =
            |name: &str| anyhow::Ok(datafusion::arrow::compute::cast(column(name)?, &TEXT)?);
        let events = column("event")?;
        let times = column("time_ns")?;
        let took = column("took_ns")?;
        let (sites, keys, causes, timed) =
            (column("site_id")?, column("subject_key")?, column("cause")?, column("timed")?);
        let kinds = texts("subject_kind")?;
        let outcomes = texts("outcome")?;
        let number = |column: &ArrayRef, row: usize| {
            let column = column.as_primitive::<Int64Type>();
            (!column.is_null(row)).then(|| column.value(row) as u64)
        };
        let keys = keys.as_primitive::<UInt64Type>();
        for row in 0..batch.num_rows() {
            let Some(event) = number(events, row).and_then(EventId::from_raw) else {
                bail!("an event has no number")
            };
            let kind = if kinds.is_null(row) {
                KindId(0)
            } else {
                // The event is in its block already, because a kind without a name is not in the
                // table.
                match self.kinds.get(kinds.as_string_view().value(row)) {
                    Some(kind) => *kind,
                    None => continue,
                }
            };
            let outcome = self
                .outcomes
                .get(outcomes.as_string_view().value(row))
                .copied()
                .unwrap_or_default();
            let timed = timed.as_boolean().value(row);
            rows.push(Row {
                event,
                time_ns: number(times, row).unwrap_or(0),
                took_ns: number(took, row),
                site: sites.as_primitive::<Int32Type>().value(row) as u32,
                key: if keys.is_null(row) { 0 } else { keys.value(row) },
                cause: number(causes, row).unwrap_or(0),
                flags: Flags { kind: kind.0, outcome, level: 0, timed, details: 0 }.pack(),
            });
        }
        Ok(())
    }

    /// Writes the events of one block into its empty slots. The file of a recording that was cut
    /// can end in the block.
    fn fill_block(&self, rows: &[Row]) -> Result<()> {
        let ring = self.store.ring();
        let sequence = rows[0].event.sequence();
        let place = header::place(sequence, ring.layout.blocks);
        let block = ring.block(place);
        if block.acquire(header::SEQUENCE) != sequence {
            bail!("the tables of the set do not belong together: block {sequence} is missing");
        }
        let at = ring.layout.block_word(place) as u64 * 8;
        let held =
            (ring.words.len() as u64 * 8).saturating_sub(at).min(BLOCK_BYTES as u64) as usize;
        let mut bytes = [0; BLOCK_BYTES];
        let bytes = &mut bytes[..held];
        self.file.read_exact_at(bytes, at)?;
        let base = block.get(header::BASE);
        let lap = header::lap_byte(sequence, ring.layout.blocks);
        // A rounded time must not lie behind the last one in the summary of its chunk.
        let last =
            ring.summary(place / CHUNK_BLOCKS as u64).map_or(u64::MAX, |summary| summary.last);
        for row in rows {
            let first = row.event.slot() * SLOT_BYTES;
            let Some(slot) = bytes.get_mut(first..first + SLOT_BYTES) else { continue };
            if slot.iter().all(|byte| *byte == 0) {
                for (to, word) in slot.chunks_exact_mut(8).zip(self.words(row, base..=last, lap)) {
                    to.copy_from_slice(&word.to_le_bytes());
                }
            }
        }
        self.file.write_all_at(bytes, at)?;
        Ok(())
    }

    fn words(&self, row: &Row, ticks: RangeInclusive<u64>, lap: u8) -> [u64; 4] {
        let start =
            self.tick(row.time_ns).min(*ticks.end()).saturating_sub(*ticks.start()).min(START_MAX);
        let span = row.took_ns.map_or(0, |ns| self.span(ns));
        let commit = Commit { start, site: row.site, lap };
        [commit.pack(), row.cause, row.key, slot::ended(span, row.flags)]
    }

    /// Returns the tick with this time.
    fn tick(&self, ns: u64) -> u64 {
        nearest(self.store.tick_at_ns(ns), ns, |tick| self.store.time_ns(tick))
    }

    /// Returns the number of ticks that take this time.
    fn span(&self, ns: u64) -> u64 {
        let near = (u128::from(ns) << 40) / u128::from(self.rate);
        nearest(near as u64, ns, |ticks| self.store.span_ns(ticks))
    }
}

const TEXT: datafusion::arrow::datatypes::DataType =
    datafusion::arrow::datatypes::DataType::Utf8View;

/// Searches near a number for the argument at which a rising function returns `ns`. Returns the
/// closest argument that a few steps reach.
fn nearest(mut near: u64, ns: u64, time: impl Fn(u64) -> u64) -> u64 {
    for _ in 0..16 {
        near = match time(near) {
            is if is > ns => near.saturating_sub(1),
            is if is < ns => near.saturating_add(1),
            _ => break,
        };
    }
    near
}
