//! Files that weaving writes for itself, below a target directory or a cache.
//!
//! Such a directory may come from elsewhere, with anything in the place of a file: a pipe would
//! stop a build for ever, and a link would lead a write to another file.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use metaspy_reader::files::input::open_unnoted;
use metaspy_reader::files::text_of;

/// Maximum size of a file that is read whole, in bytes. Libraries are the largest ones.
const MOST: u64 = 1 << 30;

/// Reads a regular file. It is no input of the command, which may replace it.
pub fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_unnoted(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MOST} bytes")))
    } else {
        Ok(bytes)
    }
}

/// Reads a regular file of text.
pub fn read_whole_text(path: &Path) -> io::Result<String> {
    text_of(read_whole(path)?)
}

/// Writes a file at once: no reader sees a part of it.
pub fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let part = path.with_file_name(name);
    create_anew(&part)?.write_all(text)?;
    fs::rename(&part, path)
}

/// Creates a file in place of whatever has its name.
pub(crate) fn create_anew(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Opens a file for a lock, and creates it if it does not exist.
pub fn open_lock(path: &Path) -> io::Result<File> {
    let is_regular = |file: fs::Metadata| {
        if file.is_file() {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file: remove it"))
        }
    };
    if let Ok(found) = fs::metadata(path) {
        is_regular(found)?;
    }
    // A pipe that is opened for both does not wait for another process.
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path)?;
    is_regular(file.metadata()?)?;
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::Command;

    use super::*;

    fn directory(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("metaspy-own-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir(&dir).expect("it is new");
        dir
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
        let dir = directory("pipe");
        let pipe = dir.join("a.lock");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("every Unix has it").success());
        for refused in [read_whole(&pipe).map(drop), open_lock(&pipe).map(drop)] {
            assert!(refused.is_err_and(|error| error.to_string().contains("not a regular file")));
        }
        write_whole(&pipe, b"text").expect("it takes the place of the pipe");
        assert_eq!(read_whole_text(&pipe).expect("it is a file now"), "text");
        open_lock(&pipe).and_then(|lock| lock.lock()).expect("it is a file now");
        fs::remove_dir_all(dir).expect("it is ours");
    }

    #[test]
    fn a_link_in_the_place_of_a_file_leads_no_write_elsewhere() {
        let dir = directory("link");
        let (precious, link) =
            (dir.join("precious"), dir.join(format!("a.json.{}", std::process::id())));
        fs::write(&precious, "precious").expect("it is ours");
        symlink(&precious, &link).expect("it is new");
        write_whole(&dir.join("a.json"), b"text").expect("it is ours");
        symlink(&precious, dir.join("b")).expect("it is new");
        create_anew(&dir.join("b"))
            .and_then(|mut file| file.write_all(b"text"))
            .expect("it is ours");
        assert_eq!(fs::read_to_string(&precious).expect("it is there"), "precious");
        fs::remove_dir_all(dir).expect("it is ours");
    }
}
