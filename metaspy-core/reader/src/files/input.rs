//! Reads files that recordings, views, grammars and command lines name.
//!
//! Such a name may refer to any kind of file. So a file that a recording, a view or a code map
//! names must be regular, is limited in size, and is opened without waiting: a pipe would stop a
//! language server for ever. A file that the user names may be a pipe.

use std::collections::HashSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Maximum size of a source file, in bytes.
const MOST_TEXT: u64 = 16 << 20;
/// Maximum size of a file that a command line names, in bytes.
const MOST_ARGUMENT: u64 = 1 << 30;

/// Permissions to read and write.
pub(super) const READ_AND_WRITE: u32 = 0o666;

/// Opens a regular file for reading, and remembers it as an input.
pub fn open(path: &Path) -> io::Result<File> {
    let file = open_unnoted(path)?;
    inputs().add(&file.metadata()?);
    Ok(file)
}

/// Reads a regular file. A file with more than `most` bytes is an error.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    limited(open(path)?, most)
}

fn limited(file: File, most: u64) -> io::Result<Vec<u8>> {
    let too_large =
        || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes"));
    // The size of a pipe, and of a file in `/proc`, is 0.
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a file or a pipe that a command line names. More than 1 GiB is an error, and so is a
/// device, which may have no end.
pub fn read_argument(path: &Path) -> io::Result<Vec<u8>> {
    let found = std::fs::metadata(path)?;
    if is_device(&found) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device"));
    }
    inputs().add(&found);
    limited(File::open(path)?, MOST_ARGUMENT)
}

/// Reads a source file: a regular file of UTF-8. A file with more than 16 MiB is an error.
pub fn read_text(path: &Path) -> io::Result<String> {
    text_of(read(path, MOST_TEXT)?)
}

/// Converts bytes to text.
pub fn text_of(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

/// Reads the first `most` bytes of a regular file.
pub fn read_beginning(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file for reading. It does not count as an input of the command, so an output may
/// replace it.
pub fn open_unnoted(path: &Path) -> io::Result<File> {
    // To open a device may have an effect, so the check comes first; the name may mean something
    // else a moment later.
    must_be_regular(&std::fs::metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// Remembers a file as an input that another program reads for this process. A directory stands for
/// all files directly in it.
pub fn note(path: &Path) {
    if let Ok(metadata) = std::fs::metadata(path) {
        inputs().add(&metadata);
    }
}

fn is_device(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        metadata.file_type().is_char_device() || metadata.file_type().is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

fn must_be_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

/// Inputs of this process.
pub(super) struct Inputs {
    files: Option<HashSet<Identity>>,
    /// Permissions that all inputs share.
    permissions: u32,
}

/// Device and number of a file, and when it was created: another file gets the number of one that
/// was removed.
type Identity = (u64, u64, Option<SystemTime>);

pub(super) fn inputs() -> MutexGuard<'static, Inputs> {
    static INPUTS: Mutex<Inputs> = Mutex::new(Inputs { files: None, permissions: READ_AND_WRITE });
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inputs {
    fn add(&mut self, metadata: &Metadata) {
        let Some((identity, mode)) = facts(metadata) else { return };
        self.files.get_or_insert_default().insert(identity);
        self.permissions &= mode | 0o600;
    }

    /// Returns true if this is the metadata of an input.
    pub fn has(&self, metadata: &Metadata) -> bool {
        facts(metadata).is_some_and(|(identity, _)| {
            self.files.as_ref().is_some_and(|files| files.contains(&identity))
        })
    }

    /// Returns the permissions of a new output: if only its user may read an input, only its user
    /// may read the output.
    #[cfg(unix)]
    pub fn permissions(&self) -> u32 {
        self.permissions
    }
}

/// Returns identity and permissions of a file; `None` where the system has none.
fn facts(metadata: &Metadata) -> Option<(Identity, u32)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some(((metadata.dev(), metadata.ino(), metadata.created().ok()), metadata.mode()))
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}
