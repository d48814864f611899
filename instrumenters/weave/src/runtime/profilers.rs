//! The user's own profilers. They are built together with the core, because a program has one core.
//!
//! A package that depends on the core and on all profilers is built in a workspace of its own. In
//! it, `metaspy-core` is the packed core, whatever version the profilers require. Without profilers
//! the core is built in the same way: cargo would otherwise give it another name, and build it
//! again for the first profiler.
//!
//! The profilers do not become a part of the program, because its manifest and lock file would
//! change. A program with a core of its own cannot get them from outside.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::{stamp, write_whole};
use crate::runtime::core::IN_MANIFEST;

pub const MANIFEST: &str = r#"[package]
name = "metaspy-profilers"
version = "0.1.0"
edition = "2024"

[lib]
path = "lib.rs"

[workspace]

[dependencies]
metaspy-core = { path = "../../metaspy-core" }
"#;

/// The packed core takes the place of the one that profilers depend on.
const PATCH: &str = r#"
[patch.crates-io]
metaspy-core = { path = "../../metaspy-core" }
"#;

/// A crate with profilers.
pub struct Profiler {
    /// The manifest of its package.
    manifest: PathBuf,
    /// The package's name.
    name: String,
}

impl Profiler {
    /// The profilers of the package in a directory.
    pub fn of(dir: &Path, cargo: &OsStr) -> Result<Profiler> {
        let manifest = dir.join("Cargo.toml");
        if !manifest.is_file() {
            bail!(
                "--profiler: there is no {}; `cargo metaspy new NAME` makes a crate",
                manifest.display()
            );
        }
        let manifest = fs::canonicalize(manifest)?;
        let mut command = Command::new(cargo);
        command
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
            .arg(&manifest);
        let output = command.output().context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("--profiler: {}", String::from_utf8_lossy(&output.stderr).trim_end());
        }
        let metadata: Value = serde_json::from_slice(&output.stdout)?;
        let mut packages = metadata["packages"].as_array().into_iter().flatten();
        let package = packages.find(|package| is_at(package, &manifest));
        let name = package.and_then(|package| package["name"].as_str()).map(str::to_owned);
        let name =
            name.with_context(|| format!("--profiler: {} names no package", manifest.display()))?;
        Ok(Profiler { manifest, name })
    }

    /// Its library, if cargo's message reports it.
    pub fn library(&self, message: &Value) -> Option<PathBuf> {
        if is_at(message, &self.manifest) { library(message) } else { None }
    }

    /// The name of its package.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// True if a message of cargo is about the package with this manifest.
fn is_at(message: &Value, manifest: &Path) -> bool {
    message["manifest_path"].as_str().is_some_and(|path| Path::new(path) == manifest)
}

/// The library that a message of cargo reports.
pub fn library(message: &Value) -> Option<PathBuf> {
    let is_built = message["reason"] == "compiler-artifact";
    let mut files =
        message["filenames"].as_array().filter(|_| is_built)?.iter().filter_map(Value::as_str);
    files.find(|file| file.ends_with(".rlib")).map(PathBuf::from)
}

/// Writes the package that depends on all of them into the core's directory. The name of its
/// directory depends on its content.
pub fn write(profilers: &[Profiler], dir: &Path, lock: &str) -> Result<PathBuf> {
    let mut manifest = MANIFEST.to_owned();
    for (at, Profiler { manifest: of, name }) in profilers.iter().enumerate() {
        let path = of.parent().and_then(Path::to_str);
        let path = path.with_context(|| format!("--profiler: {} is not UTF-8", of.display()))?;
        // TOML and JSON quote a text in the same way.
        writeln!(
            manifest,
            "profiler-{at} = {{ package = {}, path = {} }}",
            serde_json::to_string(name)?,
            serde_json::to_string(path)?
        )?;
    }
    if !profilers.is_empty() {
        manifest.push_str(PATCH);
    }
    manifest.push_str(IN_MANIFEST);
    let dir = dir.join("profilers").join(stamp([&manifest]));
    write_whole(&dir.join("Cargo.toml"), manifest.as_bytes())?;
    write_whole(&dir.join("lib.rs"), b"")?;
    if !dir.join("Cargo.lock").exists() {
        write_whole(&dir.join("Cargo.lock"), lock.as_bytes())?;
    }
    Ok(dir)
}
