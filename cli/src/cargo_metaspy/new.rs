//! `cargo metaspy new`: a crate with a working profiler, to start from.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use metaspy_reader::files::OutputFile;

/// The files of the crate. `{name}` stands for its name.
const FILES: [(&str, &str); 3] = [
    ("Cargo.toml", include_str!("new/manifest")),
    ("src/lib.rs", include_str!("new/profiler")),
    ("README.md", include_str!("new/readme")),
];

/// Creates the crate in a new directory.
pub fn make(path: &Path) -> Result<ExitCode> {
    let name = path.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
    let Some(name) = name else {
        bail!(
            "`{}` is not a name for a crate: use letters, digits, `-` and `_`, with a letter first",
            path.display()
        )
    };
    if path.exists() {
        bail!("{} exists already: choose another name", path.display());
    }
    for (file, text) in FILES {
        let file = path.join(file);
        fs::create_dir_all(file.parent().unwrap_or(path))
            .with_context(|| format!("cannot create {}", path.display()))?;
        OutputFile::write(&file, text.replace("{name}", name).as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    println!(
        "created the profiler `{name}`; start it with  cargo metaspy run --profiler {}",
        path.display()
    );
    Ok(ExitCode::SUCCESS)
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
