//! Output files: an [`OutputFile`] is complete, or as it was before.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use metaspy_format::superblock as sb;

use super::input::{inputs, open_unnoted};
use crate::platform::{random, writer_lock};

/// Number of bytes that are written at once.
const BUFFER: usize = 1 << 18;
/// Maximum number of links that are followed; the kernel has the same limit.
const LINKS: usize = 40;

/// File that a command writes. A regular file is written under a temporary name, and renamed when
/// it is complete. A pipe or a device is written directly.
pub struct OutputFile {
    out: BufWriter<File>,
    /// Final path; `None` for a file that is written directly.
    place: Option<OutputPaths>,
}

/// Paths of an output that takes its name when it is complete.
struct OutputPaths {
    path: PathBuf,
    /// True if the path has a file already.
    is_taken: bool,
    /// Temporary file beside the final path, which is removed if it does not become complete.
    partial: PathBuf,
}

/// Files that an output may replace.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Any file except an input or a recording.
    Other,
    /// Any file except an input or a recording that is still being written.
    Recording,
    /// Any file except a recording, for a file that the program both reads and changes.
    Own,
}

/// Destination of a path.
enum Target {
    /// Device, pipe or other special file, or an open file of a process.
    Direct,
    /// Regular file, or no file yet, at the path that all links lead to.
    File(PathBuf, Option<Metadata>),
}

impl OutputFile {
    /// Opens a file to write. A file that this process read, and a recording, are errors.
    pub fn create(path: &Path) -> io::Result<OutputFile> {
        OutputFile::new(path, Before::Other)
    }

    /// Opens a file to write a recording. It may replace another recording whose process no longer
    /// writes it.
    pub fn create_recording(path: &Path) -> io::Result<OutputFile> {
        OutputFile::new(path, Before::Recording)
    }

    /// Writes a whole file.
    pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        OutputFile::create(path)?.finish(bytes)
    }

    /// Fails if [`create`](OutputFile::create) would fail. Changes nothing.
    pub fn check(path: &Path) -> io::Result<()> {
        match allowed(path, Before::Other)? {
            Target::Direct => Ok(()),
            Target::File(..) => OutputFile::create(path).map(drop),
        }
    }

    /// Makes the file visible.
    pub fn complete(mut self) -> io::Result<()> {
        self.out.flush()?;
        let Some(place) = &self.place else { return Ok(()) };
        // Some file systems report a full disk only here. Without an earlier file, this can lose
        // nothing.
        if place.is_taken {
            self.out.get_ref().sync_all()?;
        }
        match fs::rename(&place.partial, &place.path) {
            // Another file is mounted there, as in a container, so nothing can take its place.
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                // Dropping the output removes the partial file.
                fs::copy(&place.partial, &place.path).map(drop)
            }
            renamed => {
                renamed?;
                self.place = None;
                Ok(())
            }
        }
    }

    fn finish(mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)?;
        self.complete()
    }

    fn new(path: &Path, before: Before) -> io::Result<OutputFile> {
        match allowed(path, before)? {
            Target::Direct => {
                let file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
                Ok(OutputFile { out: BufWriter::with_capacity(BUFFER, file), place: None })
            }
            Target::File(path, found) => {
                let partial = path.with_file_name(format!(
                    ".metaspy-{}-{:016x}.part",
                    std::process::id(),
                    random()
                ));
                let file = create_partial(&partial, found.as_ref())?;
                let place = OutputPaths { path, is_taken: found.is_some(), partial };
                let output =
                    OutputFile { out: BufWriter::with_capacity(BUFFER, file), place: Some(place) };
                if let Some(found) = found {
                    keep_owner(output.out.get_ref(), &found);
                    output.out.get_ref().set_permissions(found.permissions())?;
                }
                Ok(output)
            }
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            // A partial document is useless. The file may be gone already.
            let _ = fs::remove_file(&place.partial);
        }
    }
}

/// Replaces a file that belongs to the program itself, which may have read it before.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    OutputFile::new(path, Before::Own)?.finish(bytes)
}

/// Returns the destination of a path, if it may be written.
fn allowed(path: &Path, before: Before) -> io::Result<Target> {
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    if let Ok(found) = fs::metadata(path) {
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if before != Before::Own && inputs().has(&found) {
            return refused("it is an input of this command: name another file");
        }
        if let Some(recording) = recording_at(path) {
            if writer_lock::is_taken(&recording) == Some(true) {
                return refused("it is a recording that a process writes: name another file");
            }
            if before != Before::Recording {
                return refused("it is a recording: name another file");
            }
        }
    }
    let target = target_of(path)?;
    if let Target::File(path, _) = &target
        && before != Before::Own
        && fs::metadata(directory_of(path)).is_ok_and(|directory| inputs().has(&directory))
    {
        return refused(
            "its directory is an input of this command: name a file in another directory",
        );
    }
    Ok(target)
}

/// Opens the file at a path, if it is a recording.
fn recording_at(path: &Path) -> Option<File> {
    let mut file = open_unnoted(path).ok()?;
    let mut head = [0; (sb::MAGIC + 1) * 8];
    file.read_exact(&mut head).ok()?;
    let (_, magic) = head.split_last_chunk()?;
    (u64::from_le_bytes(*magic) == sb::MAGIC_WORD).then_some(file)
}

/// Follows the links at the end of a path. The open files of processes are links too, and are
/// written directly, because others have them open.
fn target_of(path: &Path) -> io::Result<Target> {
    let mut at = path.to_owned();
    for _ in 0..LINKS {
        let found = match fs::symlink_metadata(&at) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Target::File(at, None));
            }
            found => found?,
        };
        if found.is_file() {
            return Ok(Target::File(at, Some(found)));
        }
        let directory = directory_of(&at).to_owned();
        if !found.is_symlink() || fs::canonicalize(&directory)?.starts_with("/proc") {
            return Ok(Target::Direct);
        }
        at = directory.join(fs::read_link(&at)?);
    }
    Err(io::Error::other("too many links lead to it"))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Creates a file that no other user can read before it has its permissions.
fn create_partial(path: &Path, found: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = found.map_or_else(|| inputs().permissions(), |_| 0o600);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = found;
    options.open(path)
}

/// Gives a file the owner of the file that it replaces. Only a superuser can do this, and needs to.
fn keep_owner(file: &File, found: &Metadata) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, Some(found.uid()), Some(found.gid()));
    }
    #[cfg(not(unix))]
    let _ = (file, found);
}
