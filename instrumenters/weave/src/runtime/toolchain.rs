//! Cargo and the compiler, as they are started here.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result};

/// The compiler.
fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// What the compiler says of itself. It is asked once.
pub fn version() -> Result<&'static str> {
    static VERSION: OnceLock<String> = OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(version);
    }
    let output = Command::new(rustc()).arg("-vV").output();
    let output = output.context("rustc cannot be started: put it in PATH, or name it in RUSTC")?;
    Ok(VERSION.get_or_init(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// What makes cargo put the parts of a build where its results are, whatever else is configured. It is an argument, as
/// build scripts and programs would hear of a variable.
pub fn build_dir(target_dir: &Path) -> Result<String> {
    let dir = target_dir.to_str().with_context(|| format!("{} is not UTF-8", target_dir.display()))?;
    // As TOML writes a text, which is as JSON does.
    Ok(format!("--config=build.build-dir={}", serde_json::to_string(dir)?))
}
