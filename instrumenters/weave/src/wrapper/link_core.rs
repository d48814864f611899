//! A core that the linker adds to a program, without the compiler knowing of it.
//!
//! A crate that a program names brings the traits of all that it depends on: with `serde_json` in
//! the graph `assert_eq!(numbers, &[])` is ambiguous, as an integer can be compared with a JSON
//! value, too. Where that happens the core's libraries are handed to the linker, as the archives
//! that they are.
//!
//! It would not help to remove `serde_json` from the core: the impls of all crates in a graph
//! count, and the next dependency would do the same.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::plan::Core;
use crate::wrapper::prefixed;

/// Arguments for the linker: the whole core and all profilers, because only their sections refer to
/// them; and the parts of their dependencies that are called.
pub fn arguments(core: &Core) -> Vec<OsString> {
    let whole: Vec<&Path> =
        [&core.library].into_iter().chain(&core.profilers).map(PathBuf::as_path).collect();
    let mut words = vec![plain("-Wl,--whole-archive")];
    words.extend(whole.iter().map(|library| path(library)));
    words.push(plain("-Wl,--no-whole-archive"));
    words.push(plain("-Wl,--start-group"));
    words.extend(
        core.libraries
            .iter()
            .filter(|library| !whole.contains(&library.as_path()))
            .map(|library| path(library)),
    );
    words.push(plain("-Wl,--end-group"));
    words
}

fn plain(word: &str) -> OsString {
    format!("-Clink-arg={word}").into()
}

fn path(library: &Path) -> OsString {
    prefixed("-Clink-arg=", library)
}
