//! A row group of the table `events`: a stretch of time, sorted by subject.

use std::fs::File;

use anyhow::Result;
use bytes::Bytes;
use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::writer::SerializedRowGroupWriter;
use datafusion::parquet::schema::types::ColumnDescPtr;
use metaspy_core::format::{BLOCK_SLOTS, CHUNK_BLOCKS};
use metaspy_reader::{Conditions, Event, Scan};

use super::by_subject::by_subject;
use super::delta_chunk::{self, DeltaPage};
use super::dictionary::Meaning;
use super::dictionary_chunk::{self, PageRows};
use super::pages;
use super::rest::{Restorable, Restored};
use crate::recordings::Recording;
use crate::tables::events::{Cells, Decoder};

/// Chunks of a row group: some 195,000 events.
const CHUNKS: usize = 24;
/// Events of a chunk at most.
const CHUNK_EVENTS: usize = CHUNK_BLOCKS * (BLOCK_SLOTS - 1);
/// Rows of a page.
pub const PAGE_ROWS: usize = 8_192;

/// A row group, encoded.
pub struct Group {
    /// The number of rows.
    pub events: u64,
    /// The slots that it restores.
    pub restored: Vec<Restored>,
    columns: Vec<Chunk>,
}

/// A column, encoded.
enum Chunk {
    /// By the engine.
    Engine(ArrowColumnChunk),
    Own(pages::Chunk),
}

/// A column of which pages are added.
enum Column<'a> {
    Values(Box<ArrowColumnWriter>),
    Deltas(&'a DataType, Vec<DeltaPage>),
    Numbers(Meaning<'a>, Vec<PageRows>),
}

/// What makes the row groups of a recording.
pub struct Groups {
    scan: Scan,
    decoder: Decoder,
    restorable: Restorable,
    schema: SchemaRef,
    columns: Vec<ColumnDescPtr>,
    factory: ArrowRowGroupWriterFactory,
}

impl Groups {
    /// The row groups of a recording, for a file with this schema and these columns.
    pub fn new(
        recording: &Recording,
        schema: SchemaRef,
        columns: &[ColumnDescPtr],
        factory: ArrowRowGroupWriterFactory,
    ) -> Self {
        let store = &recording.store;
        let scan = store.scan(Conditions::default());
        let decoder = Decoder::new(recording);
        let restorable = Restorable::new(recording);
        Groups { scan, decoder, restorable, schema, columns: columns.to_owned(), factory }
    }

    /// The number of row groups.
    pub fn len(&self) -> usize {
        self.scan.parts().div_ceil(CHUNKS)
    }

    /// Makes a row group.
    pub fn make(&self, group: usize) -> Result<Group> {
        let mut events = Vec::with_capacity(CHUNKS * CHUNK_EVENTS);
        for part in group * CHUNKS..self.scan.parts().min((group + 1) * CHUNKS) {
            self.scan.read(part, &mut events);
        }
        let restored = self.restorable.slots(&events);
        let writers = self.factory.create_column_writers(group)?;
        let mut columns: Vec<Column> =
            writers.into_iter().map(|writer| Column::Values(Box::new(writer))).collect();
        for places in by_subject(&events).chunks(PAGE_ROWS) {
            let rows: Vec<Event> = places.iter().map(|place| events[*place as usize]).collect();
            for (at, cells) in self.decoder.every_column(&rows).enumerate() {
                self.add_page(at, &mut columns[at], cells)?;
            }
        }
        let chunks = columns
            .into_iter()
            .zip(&self.columns)
            .map(|(column, descriptor)| column.encode(descriptor));
        Ok(Group { events: events.len() as u64, restored, columns: chunks.collect::<Result<_>>()? })
    }

    fn add_page<'a>(&'a self, at: usize, column: &mut Column<'a>, cells: Cells<'a>) -> Result<()> {
        let (meaning, rows) = match cells {
            Cells::Names(table, rows) => (Meaning::Names(table), rows),
            Cells::Numbers(rows) => (Meaning::Numbers, rows),
            Cells::Values(values) => return column.add_values(self.schema.field(at), &values),
        };
        if let Column::Values(_) = column {
            *column = Column::Numbers(meaning, Vec::new());
        }
        if let Column::Numbers(_, pages) = column {
            pages.push(PageRows::of(&rows));
        }
        Ok(())
    }
}

impl<'a> Column<'a> {
    fn add_values(&mut self, field: &'a Field, values: &ArrayRef) -> Result<()> {
        let Some(page) = DeltaPage::of(values) else {
            if let Column::Values(writer) = self {
                compute_leaves(field, values)?.iter().try_for_each(|leaf| writer.write(leaf))?;
            }
            return Ok(());
        };
        if let Column::Values(_) = self {
            *self = Column::Deltas(field.data_type(), Vec::new());
        }
        if let Column::Deltas(_, pages) = self {
            pages.push(page);
        }
        Ok(())
    }

    fn encode(self, descriptor: &ColumnDescPtr) -> Result<Chunk> {
        Ok(match self {
            Column::Values(writer) => Chunk::Engine(writer.close()?),
            Column::Deltas(of_type, pages) => {
                Chunk::Own(delta_chunk::encode(descriptor, of_type, pages)?)
            }
            Column::Numbers(meaning, pages) => {
                Chunk::Own(dictionary_chunk::encode(descriptor, meaning, pages)?)
            }
        })
    }
}

impl Group {
    /// Appends the columns to a row group of a file.
    pub fn append_to(
        self,
        out: &mut SerializedRowGroupWriter<'_, File>,
    ) -> Result<(), ParquetError> {
        self.columns.into_iter().try_for_each(|column| match column {
            Chunk::Engine(chunk) => chunk.append_to_row_group(out),
            Chunk::Own((bytes, close)) => out.append_column(&Bytes::from(bytes), close),
        })
    }
}
