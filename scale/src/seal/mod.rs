//! `metaspy seal`: recordings as partitioned Parquet, in a directory or in an object store.
//!
//! A sealed recording is a partition `run=…/host=…/process=…` of a set: one Parquet file in the
//! directory of each table, what else the recording has, and `sealed.json`, which names these files
//! and is published last. So engines mount the directory of a table, and what no `sealed.json`
//! names belongs to no partition: a seal that was interrupted, or a slower one. The names of files
//! have the hash of their content, so no seal replaces the data under the `sealed.json` of another
//! one, and a seal that is repeated finds its own files.
//!
//! `sealed.json` and the rest of the recording are outside of the tables, where no engine looks,
//! and where commands find a part of a set by its path, as in older layouts. In a directory these
//! two appear by one rename. If they appeared one after the other, readers at that moment would
//! report a partition that lost its `sealed.json`.

mod by_subject;
pub mod checked_store;
mod delta;
mod delta_chunk;
mod dictionary;
mod dictionary_chunk;
mod events_file;
mod hybrid;
mod in_order;
mod levels;
mod manifest;
mod pages;
pub mod partitions;
mod rest;
mod row_group;
mod sealed_file;
pub mod sync;
pub mod target;
mod work_directory;

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::arrow::arrow_writer::ArrowWriterOptions;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use metaspy_reader::EndState;
use metaspy_reader::text::print_message;

use crate::arguments;
use crate::recordings::Recording;
use crate::stdout::print;
use crate::tables;

pub use manifest::{Amounts, LAYOUT_VERSION, MANIFEST, Manifest, REST, table_file};
use partitions::DamagedManifest;
pub use sealed_file::SealedFile;
use target::Target;

/// The level of compression.
const LEVEL: i32 = 1;

/// Runs the command.
pub async fn run(options: &arguments::Seal) -> Result<bool> {
    // A recording that cannot be opened leaves no directory.
    let recordings = Recording::open_all(&options.recordings)?;
    let target = Target::parse(&options.to)?;
    target.remove_abandoned()?;
    let (host, host_name) = host(options.host.as_deref());
    let mut complete = true;
    for mut recording in recordings.iter().cloned() {
        recording.host = host.clone();
        let name = recording.path.display().to_string();
        if recording.store.end_state() == EndState::Live {
            report(&format!("{name}: its process still records: seal it when it has ended"));
            complete = false;
            continue;
        }
        recording.verify();
        for warning in recording.warnings() {
            report(&warning);
        }
        complete &= !recording.is_damaged();
        match seal(&recording, &target, host_name).await? {
            Sealed::Now(manifest) => print(&written(&name, &manifest))?,
            Sealed::Before => print(&format!("{name}: already sealed\n"))?,
            Sealed::InPart(why) => {
                report(&format!("{name}: {why}"));
                complete = false;
            }
        }
    }
    Ok(complete)
}

/// The line for a recording that was sealed.
fn written(name: &str, Manifest { events, bytes, .. }: &Manifest) -> String {
    if *events == 0 {
        return format!("{name}: no events, only the other tables\n");
    }
    let per_event = *bytes as f64 / *events as f64;
    format!("{name}: {events} events in {bytes} bytes, {per_event:.2} bytes an event\n")
}

fn report(text: &str) {
    print_message(&format_args!("metaspy seal: {text}"));
}

/// What became of a recording.
pub enum Sealed {
    /// Its partition is visible from now on.
    Now(Box<Manifest>),
    /// Its partition was visible: of an earlier seal, or of one that ran at the same time.
    Before,
    /// Its partition was visible, and does not hold all of it: why, and what to do.
    InPart(String),
}

/// Origin of the name of a recording's host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostName {
    /// The user has given it. Two names are two machines.
    Given,
    /// The system has told it. A machine that was renamed may have sealed the recording before.
    OfSystem,
}

/// Seals a recording. When it returns, the partition survives a loss of power.
pub async fn seal(recording: &Recording, target: &Target, name: HostName) -> Result<Sealed> {
    let mut manifest = Manifest::of(recording);
    let before = match target.manifest(&manifest).await {
        Err(error) if error.is::<DamagedManifest>() => {
            return Ok(Sealed::InPart(format!("{error:#}")));
        }
        before => before?,
    };
    if let Some(before) = before {
        // Its seal may have been killed before it was durable.
        target.sync(&before)?;
        return sealed_before(&before, &manifest, target).await;
    }
    let work = target.work_directory(&manifest.process)?;
    let mut files = vec![REST.to_owned()];
    for name in manifest.tables.clone() {
        let file = table_file(&name);
        let path = work.path().join(&file);
        files.push(file);
        let columns = if name == "events" {
            let written = events_file::write(recording, &path)?;
            (manifest.events, manifest.bytes) = (written.events, fs::metadata(&path)?.len());
            rest::write(&recording.store, written.restored, &work.path().join(REST))?;
            manifest.rest = recording.store.ring().words.len() as u64 * 8;
            tables::events::schema()
        } else {
            let rows = tables::rows(recording, &name)?;
            write_table(&rows, &path)?;
            rows.schema()
        };
        manifest.add_columns(&name, &columns);
    }
    for file in files {
        let sealed = SealedFile::seal(work.path(), &file)?;
        manifest.files.insert(file, sealed);
    }
    if name == HostName::OfSystem
        && let Some(before) = target.under_another_host(&manifest).await?
    {
        target.sync(&before)?;
        return sealed_before(&before, &manifest, target).await;
    }
    fs::write(work.path().join(MANIFEST), manifest.to_json()?)?;
    if target.publish(&work, &manifest).await? {
        return Ok(match target.remove_unnamed(&manifest, &[]).await {
            Ok(()) => Sealed::Now(Box::new(manifest)),
            Err(error) => left_over(&error),
        });
    }
    let before = target
        .manifest(&manifest)
        .await?
        .context("another seal was faster, and its partition is gone")?;
    target.sync(&before)?;
    sealed_before(&before, &manifest, target).await
}

async fn sealed_before(before: &Manifest, manifest: &Manifest, target: &Target) -> Result<Sealed> {
    let removed = target.remove_unnamed(before, &manifest.tables).await;
    if let Some(why) = before.lacks(manifest) {
        let partition = manifest.partition();
        let url = target.url();
        let why =
            format!("{partition} is in {url}, but {why}: remove it, and seal the recording again");
        return Ok(Sealed::InPart(why));
    }
    let fault = target.faults_of(before).await?.into_iter().next();
    let left = removed.err().map(|error| left_over(&error));
    Ok(fault.map(Sealed::InPart).or(left).unwrap_or(Sealed::Before))
}

/// A partition is whole, and other engines read files beside it that do not belong to it.
fn left_over(error: &anyhow::Error) -> Sealed {
    Sealed::InPart(format!(
        "its partition is whole, and files of an interrupted seal are beside it: {error:#}: seal it again"
    ))
}

/// The compression of all files.
fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(LEVEL).expect("zstd has this level"))
}

/// Properties that all files share.
fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(compression()).set_created_by("metaspy".to_owned())
}

/// Options that all files share. Arrow's own types are left out: with them, some engines take a text
/// in a file and the same text in the name of a partition for two types.
fn options(properties: WriterProperties) -> ArrowWriterOptions {
    ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true)
}

fn write_table(rows: &RecordBatch, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer =
        ArrowWriter::try_new_with_options(file, rows.schema(), options(properties().build()))?;
    writer.write(rows)?;
    writer.close()?;
    Ok(())
}

/// The name of the host that `--host` gives, or that of this machine.
pub fn host(given: Option<&str>) -> (String, HostName) {
    match given {
        Some(name) => (name.to_owned(), HostName::Given),
        None => (this_host(), HostName::OfSystem),
    }
}

/// The name of this machine.
pub fn this_host() -> String {
    let from_system = fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok());
    from_system
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or("localhost".to_owned())
}
