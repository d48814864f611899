//! Opening of a recording: maps the file, checks it, and states why a file cannot be read.

pub mod absent_files;
pub mod closing_counts;
pub mod header;
pub(crate) mod missing;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use memmap2::{Mmap, MmapOptions};

use crate::debug_as_message;
use crate::files;
use crate::platform::{holes, truncation, writer_lock};
use crate::text::file_name;
use metaspy_format::layout::Layout;
use metaspy_format::{BLOCK_BYTES, Region, Words, high, superblock as sb};

/// Reason why a recording cannot be read.
#[non_exhaustive]
pub enum OpenError {
    /// There is no such file.
    Missing(PathBuf),
    /// The path is a directory, a device or a pipe.
    NoFile(PathBuf),
    /// The system denies access to the file.
    Unreadable(PathBuf, io::Error),
    /// The file has no bytes.
    Empty(PathBuf),
    /// The first bytes differ from the bytes that begin every recording.
    NotARecording,
    /// The first bytes are zeros: the writer has not finished the first page, or the beginning was
    /// lost.
    Unfinished,
    /// A later version of metaspy wrote it.
    Newer {
        /// Major version of its layout.
        major: u32,
    },
    /// The first page contradicts itself, or is cut.
    Damaged(&'static str),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Missing(path) => {
                write!(
                    f,
                    "there is no file {}: `metaspy list` shows the recordings there are",
                    file_name(path)
                )
            }
            OpenError::NoFile(path) => {
                write!(
                    f,
                    "{} is not a file: give the path of a recording (`.spy`) in it",
                    file_name(path)
                )
            }
            OpenError::Unreadable(path, error) => {
                write!(
                    f,
                    "{} cannot be read ({error}): check who owns it and its permissions",
                    file_name(path)
                )
            }
            OpenError::Empty(path) => {
                write!(
                    f,
                    "{} is empty: if it was started just now, try again; else its recorder stopped before it wrote \
                     anything: record again",
                    file_name(path)
                )
            }
            OpenError::NotARecording => {
                write!(
                    f,
                    "this is not a metaspy recording: give a `.spy` file, or the name that `metaspy list` shows"
                )
            }
            OpenError::Unfinished => write!(
                f,
                "this recording has no beginning: if it was started just now, try again; else it cannot be read"
            ),
            OpenError::Newer { major } => write!(
                f,
                "this recording has layout version {major}, and this metaspy reads up to {}: install a newer metaspy",
                sb::MAJOR
            ),
            OpenError::Damaged(what) => {
                write!(
                    f,
                    "this recording cannot be read: {what}; look for an undamaged copy, or record again"
                )
            }
        }
    }
}

debug_as_message!(OpenError);

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OpenError::Unreadable(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Longest time that a reader waits for a process that is beginning its recording.
const BEGINNING: Duration = Duration::from_secs(1);
/// Age of a file whose process may not have locked it.
const UNLOCKED: Duration = Duration::from_millis(20);
/// Maximum number of bytes in the holes of a file. To read them as zeros takes as long as to read
/// data, and a file of a few bytes may have holes of any size.
const MOST_HOLES: u64 = 512 << 20;

/// Memory that a store reads. It is guarded against a file that is cut while it is mapped.
pub(crate) struct Mapped {
    pub region: Region,
    /// Mapped file; `None` for memory.
    file: Option<File>,
    /// Address under which the truncation guard has registered the mapping; 0 = it is not guarded.
    guarded: usize,
    /// Offset from which on a file with large holes is not mapped.
    pub(crate) cut_at_holes: Option<u64>,
}

impl Mapped {
    /// Wraps memory of this process.
    pub fn memory(region: Region) -> Self {
        Mapped { region, file: None, guarded: 0, cut_at_holes: None }
    }

    /// Wraps a mapped temporary file, and guards it.
    pub fn guarded(region: Region) -> Self {
        let guarded = region.map().map_or(0, |map| map.as_ptr() as usize);
        truncation::guard(guarded as *const u8, region.len() * 8);
        Mapped { region, file: None, guarded, cut_at_holes: None }
    }

    /// Maps a file for reading: all of it, unless most of it is holes. Where a process is just
    /// beginning its recording, waits until it has begun.
    pub fn file(path: &Path) -> Result<Self, OpenError> {
        let until = Instant::now() + BEGINNING;
        loop {
            let mapped = Self::file_as_it_is(path);
            let has_begun = match &mapped {
                Ok(mapped) => mapped.region.words().acquire(sb::MAGIC) != 0,
                Err(OpenError::Empty(_)) => false,
                Err(_) => true,
            };
            if has_begun || !is_beginning(path) || Instant::now() > until {
                return mapped;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn file_as_it_is(path: &Path) -> Result<Self, OpenError> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => OpenError::Missing(path.to_owned()),
            io::ErrorKind::InvalidInput => OpenError::NoFile(path.to_owned()),
            _ => OpenError::Unreadable(path.to_owned(), error),
        };
        let file = files::open(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.len() == 0 {
            return Err(OpenError::Empty(path.to_owned()));
        }
        let mut mapped = Self::of(&file, None).map_err(unreadable)?;
        if let Some(start) = start_of_excess(&file, mapped.region.words())
            && writer_lock::is_taken(&file) != Some(true)
        {
            mapped = Self::of(&file, Some(start)).map_err(unreadable)?;
        }
        mapped.file = Some(file);
        Ok(mapped)
    }

    /// Maps a file, or its beginning, and guards it.
    fn of(file: &File, end: Option<u64>) -> io::Result<Self> {
        let map = map(file, end)?;
        let guarded = map.as_ptr() as usize;
        truncation::guard(map.as_ptr(), map.len());
        Ok(Mapped { region: Region::read_only(map), file: None, guarded, cut_at_holes: end })
    }

    /// Returns true if a process records into the file; `None` if that is unknown.
    pub(crate) fn is_being_written(&self) -> Option<bool> {
        writer_lock::is_taken(self.file.as_ref()?)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.guarded != 0 {
            truncation::unguard(self.guarded as *const u8);
        }
    }
}

/// True if a process records into the file, or may have made it and not yet locked it.
fn is_beginning(path: &Path) -> bool {
    let Ok(file) = files::open(path) else { return false };
    let age =
        file.metadata().and_then(|metadata| metadata.modified()).map(|modified| modified.elapsed());
    matches!(age, Ok(Ok(age)) if age < UNLOCKED) || writer_lock::is_taken(&file) == Some(true)
}

/// Returns the start of the hole with which the used part of a file has too many bytes of holes.
fn start_of_excess(file: &File, words: Words<'_>) -> Option<u64> {
    let layout = Layout::read(words)?;
    let blocks = layout.chunks.offset() as u64 + layout.places(words) * BLOCK_BYTES as u64;
    let tables = layout.areas().filter(|(at, ..)| *at != sb::CHUNKS);
    let end = tables.map(|(.., area)| (area.offset() + area.bytes()) as u64).fold(blocks, u64::max);
    holes::start_of_excess(file, end, MOST_HOLES)
}

/// Maps a file, or the bytes before `end`, for reading.
#[allow(unsafe_code, reason = "the one place where the read side needs it")]
fn map(file: &File, end: Option<u64>) -> io::Result<Mmap> {
    let mut options = MmapOptions::new();
    if let Some(end) = end {
        options.len(end as usize);
    }
    // SAFETY: other processes may write and cut the file while it is mapped. The map goes straight
    // into a `Region`, which hands out only atomic words, so a changing word is no undefined
    // behaviour. `truncation::guard` handles access to pages that a cut removed.
    unsafe { options.map(file) }
}

/// Checks that a region holds a readable recording, and returns the layout of its tables.
pub(crate) fn check(region: &Region) -> Result<Layout, OpenError> {
    let words = region.words();
    match words.acquire(sb::MAGIC) {
        sb::MAGIC_WORD => {}
        0 if !words.is_empty() => return Err(OpenError::Unfinished),
        _ => return Err(OpenError::NotARecording),
    }
    let major = high(words.get(sb::VERSION));
    if major > sb::MAJOR {
        return Err(OpenError::Newer { major });
    }
    if words.len() < sb::BYTES / 8 {
        return Err(OpenError::Damaged("the file ends within its first page"));
    }
    if major == 0 {
        return Err(OpenError::Damaged("its version is 0"));
    }
    Layout::read(words).ok_or(OpenError::Damaged("the number of its blocks makes no sense"))
}
