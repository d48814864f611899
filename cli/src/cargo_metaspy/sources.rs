//! The files that a build reads. None of them is replaced by a file that this command writes.

use std::fs;
use std::path::{Path, PathBuf};

use metaspy_reader::files::input;
use metaspy_weave::plan::read_whole_text;

use crate::cargo_metaspy::graph::Graph;

/// Levels of directories in a target directory down to dep-info files: a platform, a profile,
/// `build`, a package, its hash and `deps`.
const LEVELS: u32 = 6;
/// Directories of a target directory without dep-info files, which may have many files.
const OTHER: [&str; 4] = ["incremental", ".fingerprint", "runs", "weave"];

/// The sources of a build.
pub struct Sources<'s> {
    /// The packages.
    pub graph: &'s Graph,
    /// The target directory, whose dep-info files name the files that the compiler read.
    pub target_dir: &'s Path,
}

impl Sources<'_> {
    /// Remembers them as inputs of this process.
    pub fn note(&self) {
        self.graph.files().for_each(|file| input::note(&file));
        let mut found = Vec::new();
        dep_info(self.target_dir, LEVELS, &mut found);
        for file in found {
            // Cargo may remove the file itself before an output is written.
            let text = read_whole_text(&file).unwrap_or_default();
            sources_in(&text)
                .for_each(|source| input::note(&self.graph.workspace_root.join(source)));
        }
    }
}

/// Collects the dep-info files below a directory.
fn dep_info(dir: &Path, levels: u32, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let kind = entry.file_type();
        let is_dir = kind.is_ok_and(|kind| kind.is_dir());
        if is_dir && levels > 0 && !OTHER.iter().any(|name| entry.file_name() == *name) {
            dep_info(&path, levels - 1, found);
        } else if !is_dir && path.extension().is_some_and(|extension| extension == "d") {
            found.push(path);
        }
    }
}

/// The sources that a dep-info file of the compiler names: each has a rule of its own, without a
/// dependency.
fn sources_in(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| line.strip_suffix(':')).map(|path| path.replace("\\ ", " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_of_a_dep_info_file_are_its_rules_without_dependencies() {
        let text = "/t/deps/a.d: src/lib.rs src/a\\ b.rs\n\n/t/deps/liba.rmeta: src/lib.rs src/a\\ b.rs\n\n\
                    src/lib.rs:\nsrc/a\\ b.rs:\n\n# env-dep:CARGO_PKG_NAME=a\n";
        assert_eq!(sources_in(text).collect::<Vec<_>>(), ["src/lib.rs", "src/a b.rs"]);
    }
}
