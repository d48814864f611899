//! `metaspy seal`: recordings as partitioned Parquet, in a directory or in an object store.
//!
//! A sealed recording is a partition `run=…/host=…/process=…`: one Parquet file for each table,
//! what else the recording has, and `sealed.json`, which is written last. In a directory the whole
//! partition appears at once, by a rename. In a bucket two seals can write one partition at the
//! same time, so the names of the files have the hash of their content, and `sealed.json` names
//! those that belong to it.
//!
//! The last step publishes a partition, a rename or a manifest. So an interrupted seal is invisible
//! to every engine that reads the directory, which it would not be if files appeared one after
//! another. With fixed names, a slower seal would replace the data under the `sealed.json` of a
//! faster one, because a bucket has no rename of a directory.

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
mod rest;
mod row_group;
mod sealed_file;
pub mod sync;
pub mod target;

use std::fs::{self, File};
use std::path::Path;

use anyhow::{Context, Result};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::{WriterProperties, WriterPropertiesBuilder};
use metaspy_reader::EndState;
use metaspy_reader::text::print_message;

use crate::arguments;
use crate::query::print;
use crate::recordings::Recording;
use crate::tables;

pub use manifest::{Amounts, LAYOUT_VERSION, MANIFEST, Manifest};
pub use rest::REST;
pub use sealed_file::SealedFile;
use target::{DamagedManifest, Target};

/// The level of compression.
const LEVEL: i32 = 1;

/// Runs the command.
pub async fn run(options: &arguments::Seal) -> Result<bool> {
    // A recording that cannot be opened leaves no directory.
    let recordings = Recording::open_all(&options.recordings)?;
    let target = Target::parse(&options.to)?;
    target.remove_abandoned()?;
    let host = options.host.clone().unwrap_or_else(this_host);
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
        match seal(&recording, &target).await? {
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

/// Seals a recording. When it returns, the partition survives a loss of power.
pub async fn seal(recording: &Recording, target: &Target) -> Result<Sealed> {
    let mut manifest = Manifest::of(recording);
    let before = match target.manifest(&manifest).await {
        Err(error) if error.is::<DamagedManifest>() => {
            return Ok(Sealed::InPart(format!("{error:#}")));
        }
        before => before?,
    };
    if let Some(before) = before {
        // Its seal may have been killed before it was durable.
        target.sync(&manifest)?;
        target.remove_unnamed(&before).await;
        return sealed_before(&before, &manifest, target).await;
    }
    let work = target.work_directory(&manifest.process)?;
    let mut files = vec![REST.to_owned()];
    let tables = tables::names(std::slice::from_ref(recording)).into_iter().map(|(name, _)| name);
    for name in tables.filter(|name| !tables::needs_recording(name)) {
        let file = format!("{name}.parquet");
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
        manifest.add_table(name, &columns);
    }
    for file in files {
        let sealed = SealedFile::seal(work.path(), &file)?;
        manifest.files.insert(file, sealed);
    }
    fs::write(work.path().join(MANIFEST), manifest.to_json()?)?;
    let is_new = target.publish(work, &manifest).await?;
    target.sync(&manifest)?;
    if is_new {
        target.remove_unnamed(&manifest).await;
        return Ok(Sealed::Now(Box::new(manifest)));
    }
    let before = target
        .manifest(&manifest)
        .await?
        .context("another seal was faster, and its partition is gone")?;
    target.remove_unnamed(&before).await;
    sealed_before(&before, &manifest, target).await
}

async fn sealed_before(before: &Manifest, manifest: &Manifest, target: &Target) -> Result<Sealed> {
    if let Some(why) = before.lacks(manifest) {
        let partition = manifest.partition();
        let url = target.url();
        let why =
            format!("{partition} is in {url}, but {why}: remove it, and seal the recording again");
        return Ok(Sealed::InPart(why));
    }
    let fault = target.faults_of(before).await?.into_iter().next();
    Ok(fault.map_or(Sealed::Before, Sealed::InPart))
}

/// The compression of all files.
fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(LEVEL).expect("zstd has this level"))
}

/// Properties that all files share.
fn properties() -> WriterPropertiesBuilder {
    WriterProperties::builder().set_compression(compression()).set_created_by("metaspy".to_owned())
}

fn write_table(rows: &RecordBatch, path: &Path) -> Result<()> {
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties().build()))?;
    writer.write(rows)?;
    writer.close()?;
    Ok(())
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
