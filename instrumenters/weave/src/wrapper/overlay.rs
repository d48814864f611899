//! The copy of a package that is compiled: woven files, and links to all others.
//!
//! It is in a directory of its own, below which each file has the path of its original. So paths
//! from one file to another stay right, also out of the package. In one flat directory,
//! `../../README.md` would mean another file.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::{env, ffi::OsString, fs, iter};

use crate::plan::create_anew;
use crate::source::{CrateSource, SourceFile};

/// A copy.
pub struct Overlay {
    /// Its directory.
    pub dir: PathBuf,
}

impl Overlay {
    /// Makes the copy, and removes an older one first.
    pub fn build(
        dir: &Path,
        package: &Path,
        source: &CrateSource,
        woven: &BTreeMap<PathBuf, String>,
    ) -> io::Result<Overlay> {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let overlay = Overlay { dir: dir.to_owned() };
        // A directory that a path leaves by `..` must be a directory here: a link would lead to the
        // originals.
        let files = || source.files.iter().map(|file| &*file.path);
        let through =
            source.through.iter().filter(|dir| dir.is_dir()).flat_map(|dir| dir.ancestors());
        let directories: BTreeSet<&Path> =
            files().flat_map(|file| file.ancestors().skip(1)).chain(through).collect();
        let beside: BTreeSet<&Path> = files().filter_map(Path::parent).collect();
        for original in &directories {
            fs::create_dir_all(overlay.of(original))?;
            // Directories above the package may hold anything: only required entries are linked.
            if original.starts_with(package) || beside.contains(original) {
                overlay.link_entries(original, |path| {
                    directories.contains(path) || woven.contains_key(path)
                })?;
            }
        }
        for (file, text) in woven {
            create_anew(&overlay.of(file))?.write_all(text.as_bytes())?;
        }
        for included in source.files.iter().flat_map(SourceFile::included) {
            overlay.link_if_missing(&included)?;
        }
        Ok(overlay)
    }

    /// The path of the copy of a file.
    pub fn of(&self, original: &Path) -> PathBuf {
        original
            .components()
            .filter(|component| matches!(component, Component::Normal(_) | Component::ParentDir))
            .fold(self.dir.clone(), |path, component| path.join(component))
    }

    /// The flags that make the compiler print the originals' paths, relative ones if cargo named
    /// the crate by such a path.
    pub fn remap(&self, is_relative: bool) -> io::Result<Vec<OsString>> {
        let mut flags = vec![remap(&self.dir, Path::new("/"))];
        if is_relative {
            flags.push(remap(&self.of(&env::current_dir()?), Path::new("")));
        }
        Ok(flags)
    }

    fn link_entries(&self, original: &Path, is_made: impl Fn(&Path) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(original)? {
            let path = entry?.path();
            if !is_made(&path) {
                link(&path, &self.of(&path))?;
            }
        }
        Ok(())
    }

    fn link_if_missing(&self, original: &Path) -> io::Result<()> {
        let copy = self.of(original);
        if copy.exists() || !original.exists() {
            return Ok(());
        }
        fs::create_dir_all(copy.parent().unwrap_or(&self.dir))?;
        link(original, &copy)
    }
}

/// The path of a file in diagnostics, but for further `..`.
pub fn shown(original: &Path, is_relative: bool) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    let around = here.ancestors().enumerate().filter(|_| is_relative);
    let mut found = around.filter_map(|(up, dir)| Some((up, original.strip_prefix(dir).ok()?)));
    match found.next() {
        Some((up, below)) => iter::repeat_n(Path::new(".."), up).chain([below]).collect(),
        None => original.to_owned(),
    }
}

fn remap(from: &Path, to: &Path) -> OsString {
    let mut flag = OsString::from("--remap-path-prefix=");
    flag.push(from);
    flag.push("=");
    flag.push(to);
    flag
}

#[cfg(unix)]
fn link(original: &Path, copy: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, copy)
}

#[cfg(not(unix))]
fn link(original: &Path, copy: &Path) -> io::Result<()> {
    if !original.is_dir() {
        return fs::copy(original, copy).map(drop);
    }
    fs::create_dir_all(copy)?;
    for entry in fs::read_dir(original)? {
        let entry = entry?;
        if entry.file_name() != "target" && entry.file_name() != ".git" {
            link(&entry.path(), &copy.join(entry.file_name()))?;
        }
    }
    Ok(())
}
