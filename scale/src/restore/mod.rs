//! `metaspy restore`: converts sealed recordings to recordings again, for the crawler and every
//! other reader.
//!
//! A restored recording appears by a rename, and stays for later commands within the bound of the
//! cache.

mod cache;
mod events;

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use futures::TryStreamExt;
use metaspy_reader::text::print_message;
use object_store::{GetResultPayload, ObjectStoreExt};

use crate::arguments;
use crate::panics::caught;
use crate::seal::partitions::{Partitions, Unreadable};
use crate::seal::sync;
use crate::seal::target::{Target, split};
use crate::seal::{Manifest, REST};
use crate::stdout::print;
use events::Filler;

/// Bytes that are written at once, or left out if they are zeros.
const PIECE: usize = 1 << 16;

/// File of the table of events.
const EVENTS: &str = "events.parquet";

/// Runs the command, and prints the paths of the restored recordings.
pub async fn run(options: &arguments::Restore) -> Result<bool> {
    let to = options.to.clone().map_or_else(cache::directory, Ok)?;
    let is_cache = options.to.is_none();
    let mut complete = true;
    for set in &options.sets {
        complete &= restore_set(set, &to, is_cache).await?;
    }
    if is_cache {
        cache::trim(&to)?;
    }
    Ok(complete)
}

/// Restores the partitions of a set, and prints their paths. Returns false if some cannot be
/// restored, and reports these.
async fn restore_set(set: &str, to: &Path, is_cache: bool) -> Result<bool> {
    let (root, below) = split(set);
    if !root.contains("://") && !Path::new(&root).is_dir() {
        bail!("there is no directory {root}: name a sealed set");
    }
    let target = Target::parse(&root)?;
    let Partitions { complete: partitions, unreadable } = target.partitions(&below).await?;
    for Unreadable { partition, why } in &unreadable {
        print_message(&format_args!("metaspy restore: cannot restore {partition}: {why}"));
    }
    if partitions.is_empty() {
        bail!("{set} has no sealed recording: metaspy seal RECORDING --to {root}");
    }
    let count = partitions.len();
    let mut failed = 0;
    for (at, partition) in (1..).zip(&partitions) {
        let name = partition.partition();
        let events = partition.events;
        // A partition that was sealed again has another manifest.
        let path = to.join(format!("{name}.{}.spy", partition.hash));
        if !path.is_file() {
            print_message(&format_args!(
                "metaspy restore: {at} of {count}: {name}, {events} events"
            ));
            if let Err(error) = caught(restore(&target, partition, &path)).await {
                print_message(&format_args!("metaspy restore: cannot restore {name}: {error:#}"));
                failed += 1;
                continue;
            }
        }
        if is_cache {
            cache::mark_used(&path)?;
        }
        print(&format!("{}\n", path.display()))?;
    }
    if failed == count {
        bail!("{set} could not be restored");
    }
    Ok(failed == 0 && unreadable.is_empty())
}

async fn restore(target: &Target, partition: &Manifest, path: &Path) -> Result<()> {
    if partition.rest == 0 {
        bail!("it was sealed by an older metaspy, which left out what is not in tables");
    }
    let directory = path.parent().context("a partition is in a directory")?;
    sync::create_directories(directory)
        .with_context(|| format!("cannot create {}", directory.display()))?;
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let made = restore_into(target, partition, &partial).await;
    let made =
        made.and_then(|()| sync::path(&partial)).and_then(|()| Ok(fs::rename(&partial, path)?));
    if made.is_err() {
        // The partial file may not exist.
        let _ = fs::remove_file(&partial);
    }
    made?;
    sync::path(directory)
}

async fn restore_into(target: &Target, partition: &Manifest, path: &Path) -> Result<()> {
    let rest = target.store().get(&target.key(partition, REST)).await?.bytes().await?;
    if let Some(sealed) = partition.files.get(REST) {
        sealed.check(0, &rest).with_context(|| format!("{} is damaged", sealed.name))?;
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    file.set_len(partition.rest)?;
    decompress(&rest, file, partition.rest)?;
    let table = target.store().get(&target.key(partition, EVENTS)).await?;
    let table = match table.payload {
        GetResultPayload::File(file, _) => file,
        GetResultPayload::Stream(mut bytes) => {
            let mut file =
                nameless_file(&path.with_extension(format!("events-{}", std::process::id())))?;
            while let Some(bytes) = bytes.try_next().await? {
                file.write_all(&bytes)?;
            }
            file
        }
    };
    if let Some(sealed) = partition.files.get(EVENTS) {
        sealed.check_file(&table).with_context(|| format!("{} is damaged", sealed.name))?;
    }
    Filler::open(path)?.fill(&table)
}

/// Creates a file without a name, which is removed after its last use.
fn nameless_file(path: &Path) -> Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(path)?;
    fs::remove_file(path)?;
    Ok(file)
}

/// Decompresses into a sparse file, whose zeros take no room.
fn decompress(compressed: &[u8], mut file: File, most: u64) -> Result<()> {
    let mut input = zstd::stream::read::Decoder::new(compressed)?.take(most);
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        piece.clear();
        let read = input.by_ref().take(PIECE as u64).read_to_end(&mut piece)?;
        match piece.iter().all(|byte| *byte == 0) {
            _ if read == 0 => return Ok(()),
            true => drop(file.seek(SeekFrom::Current(read as i64))?),
            false => file.write_all(&piece)?,
        }
    }
}
