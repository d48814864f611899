//! [`OutputFile`]: a file that is complete, or as it was before.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::query::Source;

/// The file of a result. A regular file appears when it is complete, in place of the one that was there. A pipe or a device
/// is written directly.
pub struct OutputFile {
    path: PathBuf,
    /// The file beside it that becomes it.
    partial: Option<PathBuf>,
}

impl OutputFile {
    /// Opens a file to write. Refuses one that the query reads.
    pub fn create(path: &Path, source: &Source) -> Result<(Self, File)> {
        let cannot = || format!("cannot write {}", path.display());
        // A link stays a link.
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if source.has_file(&file) {
            bail!("{} is what the query reads: name another file with -o", path.display());
        }
        let before = fs::symlink_metadata(&file).ok();
        if before.as_ref().is_some_and(|before| !before.is_file()) {
            return Ok((OutputFile { path: file, partial: None }, File::create(path).with_context(cannot)?));
        }
        let partial = beside(&file).with_context(cannot)?;
        let output = OutputFile { path: file, partial: Some(partial.clone()) };
        let open = File::create(partial).with_context(cannot)?;
        if let Some(before) = before {
            open.set_permissions(before.permissions()).with_context(cannot)?;
        }
        Ok((output, open))
    }

    /// Makes the file visible.
    pub fn complete(mut self) -> Result<()> {
        let Some(partial) = self.partial.take() else { return Ok(()) };
        fs::rename(partial, &self.path).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(partial) = &self.partial {
            // A part of a document is no document. It may not be there.
            let _ = fs::remove_file(partial);
        }
    }
}

/// The name of a file while it is written.
fn beside(file: &Path) -> Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(file.file_name().context("it has no name")?);
    name.push(format!(".partial-{}", std::process::id()));
    Ok(file.with_file_name(name))
}
