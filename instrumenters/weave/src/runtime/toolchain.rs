//! How cargo and the compiler are started.

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

/// The output of `rustc -vV`, read once.
pub fn version() -> Result<&'static str> {
    static VERSION: OnceLock<String> = OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(version);
    }
    let output = Command::new(rustc()).arg("-vV").output();
    let output = output.context("rustc cannot be started: put it in PATH, or name it in RUSTC")?;
    Ok(VERSION.get_or_init(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The platform of this compiler.
pub fn host() -> Result<&'static str> {
    let host = version()?.lines().find_map(|line| line.strip_prefix("host: "));
    host.context("cannot read the host platform from `rustc -vV`")
}

/// The argument that makes cargo put the parts of a build beside its results, whatever is
/// configured. A variable would be inherited by build scripts and programs.
pub fn build_dir(target_dir: &Path) -> Result<String> {
    let dir =
        target_dir.to_str().with_context(|| format!("{} is not UTF-8", target_dir.display()))?;
    // TOML and JSON quote a text in the same way.
    Ok(format!("--config=build.build-dir={}", serde_json::to_string(dir)?))
}
