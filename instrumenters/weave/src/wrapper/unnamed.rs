//! Files that the compiler read and the source does not name: a macro of another crate declares
//! their modules, or a file that cannot be parsed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::plan::Target;
use crate::source::{CrateSource, plain};
use crate::wrapper::listing::{Left, Method};

/// The reason why their functions have no hooks.
const REASON: &str =
    "a macro of another crate declares this module, and its place is not in the source";
/// The same in a crate with a file that cannot be parsed.
const PERHAPS_UNPARSED: &str =
    "a file that cannot be parsed, or a macro of another crate, declares this module";

/// Returns these files of a package, as a list of code without hooks. `dep_info` is the list that
/// the compiler wrote for cargo, and `results` the directory of build results: code that a build
/// script writes is no source.
pub fn files(dep_info: &str, target: &Target, results: &Path, source: &CrateSource) -> Vec<Left> {
    let known = source.files.iter().flat_map(|file| file.included().chain([file.path.clone()]));
    let known: BTreeSet<PathBuf> = known.collect();
    let reason = if source.files.iter().any(|file| file.parsed.is_err()) {
        PERHAPS_UNPARSED
    } else {
        REASON
    };
    let read = dep_info.lines().filter_map(|line| line.strip_suffix(':'));
    let files = read.map(|file| plain(Path::new(&file.replace("\\ ", " ")))).filter(|file| {
        let is_source =
            file.extension() == Some(OsStr::new("rs")) && file.starts_with(&target.root);
        is_source && !file.starts_with(results) && !known.contains(file)
    });
    files.map(|file| left(&target.krate, &file, reason)).collect()
}

fn left(krate: &str, file: &Path, reason: &str) -> Left {
    let module = file.file_stem().unwrap_or_default().to_string_lossy();
    let path = format!("{krate}::…::{module}::*");
    let method = Method { path, file: file.display().to_string(), line: 1, ..Method::default() };
    Left::new(method, reason)
}
