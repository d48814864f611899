//! [`Journal`]: a file that notes which events a receiver has, so that none is sent twice.
//!
//! Events end in another order than they begin, so a number up to which all are sent does not
//! exist. After each message that the receiver took, the slots of its events are added to the file.
//! After a kill between the answer and this note, the message is sent again, and its spans have the
//! same numbers.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use metaspy_reader::{Event, EventId};

use crate::recordings::Recording;
use crate::seal::sync;

/// First bytes of the file, with its format and version.
const MAGIC: &[u8; 8] = b"mspysent";
/// Bytes of an entry: the recording, the sequence of the block, and a bit for each slot.
const ENTRY: usize = 40;
/// Bytes beyond which the file is written anew when it is opened.
const LONG: u64 = 1 << 20;

/// Key of a recording in the file: a hash of its start and its process.
pub type Key = [u8; 16];

/// Slots of blocks, by the sequence of the block.
type Slots = HashMap<u64, u128>;

/// Events that the receiver has.
pub struct Journal {
    file: File,
    sent: HashMap<Key, Slots>,
}

/// Returns the key of a recording. It leaves out the host, which may be renamed while its
/// recordings wait.
pub fn key(recording: &Recording) -> Key {
    let names = format!("{}\n{}", recording.run, recording.process);
    blake3::hash(names.as_bytes()).as_bytes()[..16].try_into().expect("it has 32 bytes")
}

impl Journal {
    /// Opens or creates the file. Only one process can open it at a time.
    pub fn open(path: &Path) -> Result<Self> {
        let directory = path.parent().context("it is no file")?;
        sync::create_directories(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
        let cannot = || format!("cannot open {}", path.display());
        let mut file = open_for_update(path).with_context(cannot)?;
        if file.try_lock().is_err() {
            bail!(
                "another metaspy otlp --follow uses {}: name another file with --state",
                path.display()
            );
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(cannot)?;
        if bytes.len() < MAGIC.len() {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(MAGIC)?;
            return Ok(Journal { file, sent: HashMap::new() });
        }
        let Some(entries) = bytes.strip_prefix(MAGIC) else {
            bail!("{} was not written by metaspy otlp --follow of this version", path.display());
        };
        let mut sent: HashMap<Key, Slots> = HashMap::new();
        let whole = entries.chunks_exact(ENTRY);
        // A loss of power may have cut the last entry.
        file.set_len((bytes.len() - whole.remainder().len()) as u64)?;
        file.seek(SeekFrom::End(0))?;
        for entry in whole {
            let (recording, rest) = entry.split_at(16);
            let (sequence, slots) = rest.split_at(8);
            let recording = recording.try_into().expect("16 bytes");
            let sequence = u64::from_le_bytes(sequence.try_into().expect("8 bytes"));
            let slots = u128::from_le_bytes(slots.try_into().expect("16 bytes"));
            *sent.entry(recording).or_default().entry(sequence).or_default() |= slots;
        }
        Ok(Journal { file, sent })
    }

    /// True for an event that was sent.
    pub fn has(&self, recording: &Key, event: EventId) -> bool {
        let slots = self.sent.get(recording).and_then(|sent| sent.get(&event.sequence()));
        slots.is_some_and(|slots| slots >> event.slot() & 1 == 1)
    }

    /// Notes that events were sent. The note survives a loss of power once the function returns.
    pub fn add(&mut self, recording: Key, events: &[Event]) -> Result<()> {
        let mut blocks = Slots::new();
        for Event { id, .. } in events {
            *blocks.entry(id.sequence()).or_default() |= 1 << id.slot();
        }
        self.file.write_all(&entries(&recording, &blocks)).context("cannot note what was sent")?;
        self.file.sync_data().context("cannot note what was sent")?;
        let sent = self.sent.entry(recording).or_default();
        blocks
            .into_iter()
            .for_each(|(sequence, slots)| *sent.entry(sequence).or_default() |= slots);
        Ok(())
    }

    /// Writes a long file anew, with one entry for each block of the recordings that are still
    /// there.
    pub fn compact(&mut self, path: &Path, present: &HashSet<Key>) -> Result<()> {
        if self.file.metadata()?.len() < LONG {
            return Ok(());
        }
        self.sent.retain(|recording, _| present.contains(recording));
        let part = PathBuf::from(format!("{}.part", path.display()));
        let cannot = || format!("cannot write {}", part.display());
        let mut file = open_for_update(&part).with_context(cannot)?;
        file.try_lock().with_context(cannot)?;
        file.set_len(0)?;
        file.write_all(MAGIC)?;
        for (recording, blocks) in &self.sent {
            file.write_all(&entries(recording, blocks))?;
        }
        file.sync_all()?;
        fs::rename(&part, path).with_context(cannot)?;
        self.file = file;
        sync::path(path.parent().context("it is no file")?)
    }
}

fn open_for_update(path: &Path) -> std::io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

fn entries(recording: &Key, blocks: &Slots) -> Vec<u8> {
    let entry = |(sequence, slots): (&u64, &u128)| {
        [&recording[..], &sequence.to_le_bytes(), &slots.to_le_bytes()].concat()
    };
    blocks.iter().flat_map(entry).collect()
}
