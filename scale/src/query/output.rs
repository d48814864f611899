//! Output of results as text, JSON, CSV, Arrow IPC and Parquet. All formats but text are written
//! batch by batch.

use std::collections::HashSet;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::Arc;

use anyhow::{Result, bail};
use datafusion::arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use datafusion::execution::context::SessionContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::parquet::arrow::ArrowWriter;
use futures::StreamExt;

use crate::arguments::Format;
use crate::query::{Query, Source};
use crate::stdout::print;
use crate::tables;

/// Runs a query and prints its rows.
pub async fn write(query: Query, format: Format) -> Result<()> {
    if format.is_binary() && io::stdout().is_terminal() {
        bail!("{format:?} is no text: name a file with -o");
    }
    write_to(query, format, BufWriter::new(io::stdout())).await
}

/// Runs a query and writes its rows.
pub async fn write_to(query: Query, format: Format, out: impl Write + Send) -> Result<()> {
    let memory = MemoryConsumer::new("rows of the text")
        .register(&query.task_ctx().runtime_env().memory_pool);
    let mut batches = query.execute_stream().await?;
    let mut writer = Writer::new(format, out, batches.schema(), memory)?;
    while let Some(batch) = batches.next().await {
        match writer.write(batch?) {
            // The reader has closed the pipe and needs no more rows.
            Err(error) if is_closed_pipe(&error) => return Ok(()),
            result => result?,
        }
    }
    match writer.finish() {
        Err(error) if is_closed_pipe(&error) => Ok(()),
        result => result,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.to_string().contains("Broken pipe"))
}

/// Returns a builder of writers of JSON with explicit nulls.
fn explicit() -> json::WriterBuilder {
    json::WriterBuilder::new().with_explicit_nulls(true)
}

enum Writer<W: Write + Send> {
    /// Writer that collects all rows before it writes the first, because columns are as wide as
    /// their widest row.
    Text(W, SchemaRef, Vec<RecordBatch>, MemoryReservation),
    Json(json::ArrayWriter<W>),
    JsonLines(json::LineDelimitedWriter<W>),
    Csv(Box<csv::Writer<W>>),
    Arrow(Box<StreamWriter<W>>),
    Parquet(Box<ArrowWriter<W>>),
}

impl<W: Write + Send> Writer<W> {
    fn new(format: Format, out: W, schema: SchemaRef, memory: MemoryReservation) -> Result<Self> {
        if matches!(format, Format::Json | Format::Jsonl) {
            check_names(&schema)?;
        }
        Ok(match format {
            Format::Text => Writer::Text(out, schema, Vec::new(), memory),
            Format::Json => Writer::Json(explicit().build::<_, json::writer::JsonArray>(out)),
            Format::Jsonl => {
                Writer::JsonLines(explicit().build::<_, json::writer::LineDelimited>(out))
            }
            Format::Csv => {
                let mut writer = csv::WriterBuilder::new().with_header(true).build(out);
                // The header is written even if there are no rows.
                writer.write(&without_lists(&RecordBatch::new_empty(schema))?)?;
                Writer::Csv(Box::new(writer))
            }
            Format::Arrow => Writer::Arrow(Box::new(StreamWriter::try_new(out, &schema)?)),
            Format::Parquet => Writer::Parquet(Box::new(ArrowWriter::try_new(out, schema, None)?)),
        })
    }

    fn write(&mut self, batch: RecordBatch) -> Result<()> {
        match self {
            Writer::Text(_, _, batches, memory) => {
                memory.try_grow(batch.get_array_memory_size())?;
                batches.push(batch);
            }
            Writer::Json(writer) => writer.write(&batch)?,
            Writer::JsonLines(writer) => writer.write(&batch)?,
            Writer::Csv(writer) => writer.write(&without_lists(&batch)?)?,
            Writer::Arrow(writer) => writer.write(&batch)?,
            Writer::Parquet(writer) => writer.write(&batch)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self {
            Writer::Text(mut out, schema, batches, _) => {
                writeln!(out, "{}", pretty_format_batches_with_schema(schema, &batches)?)?;
                out.flush()?;
            }
            Writer::Json(mut writer) => {
                writer.finish()?;
                let mut out = writer.into_inner();
                writeln!(out)?;
                out.flush()?;
            }
            Writer::JsonLines(mut writer) => {
                writer.finish()?;
                writer.into_inner().flush()?;
            }
            Writer::Csv(writer) => writer.into_inner().flush()?,
            Writer::Arrow(mut writer) => {
                writer.finish()?;
                writer.into_inner()?.flush()?;
            }
            Writer::Parquet(writer) => writer.into_inner()?.flush()?,
        }
        Ok(())
    }
}

/// Prints the tables with their columns.
pub async fn schema(source: &Source) -> Result<()> {
    let mut text = format!("schema version {}\n", tables::SCHEMA_VERSION);
    let context = SessionContext::new();
    for name in source.names() {
        text.push_str(&format!("\n{name}\n"));
        let Some(table) = source.table(&context, &name).await? else { continue };
        for field in table.schema().fields() {
            text.push_str(&format!("  {:24} {}\n", field.name(), field.data_type()));
        }
    }
    print(&text)
}

/// Refuses columns with equal names, because an object of JSON has each name once.
fn check_names(schema: &SchemaRef) -> Result<()> {
    let mut seen = HashSet::new();
    match schema.fields().iter().find(|field| !seen.insert(field.name())) {
        Some(field) => {
            bail!(
                "two columns are named `{0}`: name one of them otherwise, as in `{0} AS other`",
                field.name()
            )
        }
        None => Ok(()),
    }
}

/// Converts lists to texts, because CSV has no lists.
fn without_lists(batch: &RecordBatch) -> Result<RecordBatch> {
    let options = FormatOptions::new();
    let mut columns = Vec::new();
    for column in batch.columns() {
        columns.push(if column.data_type().is_nested() {
            let texts = ArrayFormatter::try_new(column, &options)?;
            let rows = (0..column.len())
                .map(|row| column.is_valid(row).then(|| texts.value(row).to_string()));
            Arc::new(StringArray::from_iter(rows)) as ArrayRef
        } else {
            column.clone()
        });
    }
    let names =
        batch.schema().fields().iter().map(|field| field.name().clone()).collect::<Vec<_>>();
    Ok(RecordBatch::try_from_iter_with_nullable(
        names.into_iter().zip(columns).map(|(name, column)| (name, column, true)),
    )?)
}
