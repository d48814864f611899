//! The crate that woven code calls: a few files of the core and macros, compiled by `rustc` alone.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use metaspy_core::site::woven::SHARED;

use crate::plan::stamp;

/// Its name among crates; what woven code calls it is another one.
const NAME: &str = "metaspy_woven";

/// The crate, compiled.
#[derive(Clone, Debug)]
pub struct Hooks {
    /// The library.
    pub library: PathBuf,
    /// The directory that it is in.
    pub dir: PathBuf,
}

/// It needs no `std`, so that crates without it can have hooks; where there is one it takes thread-locals from it.
const HEAD: &str = "#![no_std]\n#[cfg(not(metaspy_bare))]\nextern crate std;\npub extern crate core as library;\n";

/// The source of the crate.
pub fn source() -> String {
    let modules = SHARED.iter().map(|(name, text)| format!("mod {name} {{\n{text}\n}}\npub use {name}::*;\n"));
    format!("{HEAD}{}", modules.collect::<String>())
}

/// The crate for a compiler and a target, built if it is not there yet. Wrappers that build it at the same time do not
/// meet.
pub fn hooks(rustc: &[OsString], target: Option<&OsStr>, dir: &Path) -> Result<Hooks> {
    let source = source();
    let (program, before) = rustc.split_first().context("there is a compiler")?;
    let version = version_of(program, before)?;
    let target_text = target.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = dir.join("hooks").join(stamp([source.as_str(), &version, &target_text]));
    let library = dir.join(format!("lib{NAME}.rlib"));
    if library.is_file() {
        return Ok(Hooks { library, dir });
    }
    let part = dir.with_extension(std::process::id().to_string());
    fs::create_dir_all(&part)?;
    let file = part.join("hooks.rs");
    fs::write(&file, source)?;
    let compile = |flavour: &[&str]| {
        let mut command = Command::new(program);
        command.args(before).arg("--crate-name").arg(NAME).args(flavour);
        command.args([
            "--edition=2021",
            "--crate-type=rlib",
            "--cap-lints=allow",
            "-Copt-level=3",
            "-Cmetadata=metaspy",
        ]);
        command.arg(&file).arg("--out-dir").arg(&part);
        command.args(target.into_iter().flat_map(|target| [OsStr::new("--target"), target]));
        command.output().context("the compiler cannot be started")
    };
    // Where a target has no `std` there is a flavour without.
    let mut output = compile(&[])?;
    if !output.status.success() {
        output = compile(&["--cfg=metaspy_bare"])?;
    }
    if !output.status.success() {
        bail!("the compiler refuses the hooks: {}", String::from_utf8_lossy(&output.stderr));
    }
    if fs::rename(&part, &dir).is_err() {
        // Another wrapper was first.
        let _ = fs::remove_dir_all(&part);
    }
    match library.is_file() {
        true => Ok(Hooks { library, dir }),
        false => bail!("the hooks cannot be kept in {}", dir.display()),
    }
}

fn version_of(rustc: &OsStr, before: &[OsString]) -> Result<String> {
    let output = Command::new(rustc).args(before).arg("-vV").output().context("the compiler cannot be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
