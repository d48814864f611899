//! The inputs: files, the files of directories, and the lines of standard input.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use anyhow::Result;
use globset::{Glob, GlobSet, GlobSetBuilder};
use metaspy_reader::files;
use metaspy_report::grammar::skipped::Skipped;
use walkdir::WalkDir;

use crate::exit::say;

/// Largest input, in bytes.
const MOST_BYTES: u64 = 1 << 30;
/// Most bytes of standard input, whose lines are kept in memory.
const MOST_LINES: u64 = 256 << 20;

/// An input that was found, and may turn out not to be text.
pub struct CorpusInput {
    /// Its name: its path as it was reached, or its line.
    pub name: String,
    origin: Origin,
}

enum Origin {
    /// A file. It is read when its turn comes, so a corpus need not fit into memory.
    File(PathBuf),
    /// An input that can be read only once: a line of standard input, or a pipe.
    Once(String),
}

impl CorpusInput {
    /// Its text, or why there is none.
    pub fn read(&self) -> Result<Cow<'_, str>, String> {
        match &self.origin {
            Origin::Once(text) => Ok(Cow::Borrowed(text)),
            Origin::File(path) => {
                text_of(files::read(path, MOST_BYTES).map_err(|error| error.to_string())?)
                    .map(Cow::Owned)
            }
        }
    }
}

/// The inputs of a run, in the order that they are parsed.
#[derive(Default)]
pub struct Corpus {
    /// The inputs.
    pub found: Vec<CorpusInput>,
    /// The files and lines that were left out, with the reasons.
    pub skipped: Skipped,
    /// The files met so far, by the one path that leads to each without links.
    met: HashSet<PathBuf>,
}

impl Corpus {
    /// Collects the inputs that the command line names: files, directories, `-`; no name stands for
    /// `-`.
    pub fn collect(places: &[PathBuf], globs: &[String]) -> Result<Corpus> {
        let globs = set_of(globs)?;
        let mut corpus = Corpus::default();
        if places.is_empty() {
            if io::stdin().is_terminal() {
                return Err(say(
                    "there are no inputs: name files or directories, or pipe one input a line into it, as in \
                    `metaspy grammar FILE.pest --rule RULE tests/`",
                ));
            }
            corpus.take_lines()?;
        }
        let mut lines_taken = false;
        for place in places {
            if place == Path::new("-") {
                if lines_taken {
                    corpus.skipped.repeated += 1
                } else {
                    corpus.take_lines()?
                }
                lines_taken = true;
                continue;
            }
            // A named file that does not exist is a mistake of the command line; one that is only
            // unreadable is counted.
            let metadata = match fs::metadata(place) {
                Ok(metadata) => metadata,
                Err(error) => return Err(say(format!("cannot read {}: {error}", place.display()))),
            };
            if metadata.is_dir() {
                corpus.take_directory(place, globs.as_ref());
            } else if metadata.is_file() {
                corpus.take_file(place);
            } else {
                corpus.take_once(place);
            }
        }
        Ok(corpus)
    }

    fn take_directory(&mut self, root: &Path, globs: Option<&GlobSet>) {
        for entry in WalkDir::new(root).follow_links(true).sort_by_file_name() {
            match entry {
                // Pipes and devices are no files: to read one might wait for ever.
                Ok(entry) if entry.file_type().is_file() => {
                    if globs.is_none_or(|globs| takes(globs, root, entry.path())) {
                        self.take_file(entry.path())
                    } else {
                        self.skipped.excluded += 1
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    let name = || error.path().map_or_else(|| name_of(root), name_of);
                    match error.loop_ancestor() {
                        Some(_) => self.skipped.loops.push(name),
                        None => {
                            let why = error
                                .io_error()
                                .map_or_else(|| error.to_string(), ToString::to_string);
                            self.skipped.unreadable.push(|| format!("{} ({why})", name()));
                        }
                    }
                }
            }
        }
    }

    fn take_file(&mut self, path: &Path) {
        match fs::canonicalize(path) {
            Ok(real) => {
                if self.met.insert(real) {
                    self.found.push(CorpusInput {
                        name: name_of(path),
                        origin: Origin::File(path.to_owned()),
                    })
                } else {
                    self.skipped.repeated += 1
                }
            }
            Err(error) => self.skipped.unreadable.push(|| format!("{} ({error})", name_of(path))),
        }
    }

    fn take_once(&mut self, path: &Path) {
        match files::read_argument(path).map_err(|error| error.to_string()).and_then(text_of) {
            Ok(text) => {
                self.found.push(CorpusInput { name: name_of(path), origin: Origin::Once(text) })
            }
            Err(why) => self.skipped.unreadable.push(|| format!("{} ({why})", name_of(path))),
        }
    }

    fn take_lines(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MOST_LINES + 1).read_to_end(&mut bytes);
        read.map_err(|error| say(format!("cannot read standard input: {error}")))?;
        if bytes.len() as u64 > MOST_LINES {
            return Err(say(format!(
                "standard input has more than {MOST_LINES} bytes: name files or a directory"
            )));
        }
        // The end of the last line begins no further one.
        let bytes = bytes
            .strip_suffix(b"\n")
            .or(Some(&bytes).filter(|bytes| !bytes.is_empty()).map(Vec::as_slice));
        let lines = bytes.into_iter().flat_map(|bytes| bytes.split(|&byte| byte == b'\n'));
        for (line, number) in lines.zip(1u64..) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let name = format!("line {number}");
            match text_of(line.to_vec()) {
                Ok(text) => self.found.push(CorpusInput { name, origin: Origin::Once(text) }),
                Err(why) => self.skipped.unreadable.push(|| format!("{name} ({why})")),
            }
        }
        Ok(())
    }
}

fn text_of(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 from byte {} on", error.utf8_error().valid_up_to()))
}

/// A path as people write it: without the `./` of a walk that began at `.`.
fn name_of(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

fn set_of(globs: &[String]) -> Result<Option<GlobSet>> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(Glob::new(glob).map_err(|error| say(format!("--glob: {error}")))?);
    }
    Ok(Some(set.build().map_err(|error| say(format!("--glob: {error}")))?))
}

/// A glob is about the path below the directory that was named, or about the file's name alone.
fn takes(globs: &GlobSet, root: &Path, path: &Path) -> bool {
    globs.is_match(path.strip_prefix(root).unwrap_or(path))
        || globs.is_match(path.file_name().unwrap_or(OsStr::new("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_about_the_path_below_the_directory_or_about_the_name() {
        let takes = |glob: &str, path| {
            takes(&set_of(&[glob.to_owned()]).unwrap().unwrap(), Path::new("x.d"), Path::new(path))
        };
        assert!(takes("*.toml", "x.d/a.toml") && takes("*.toml", "x.d/valid/a.toml"));
        assert!(
            takes("valid/**", "x.d/valid/a/b.toml") && !takes("valid/**", "x.d/invalid/b.toml")
        );
        assert!(takes("spec-*", "x.d/valid/spec-1.toml") && !takes("*.d", "x.d/a.toml"));
    }
}
