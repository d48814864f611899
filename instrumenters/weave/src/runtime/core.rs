//! A core for programs that have none, built once for each compiler and target.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::{Core, stamp, write_whole};

/// The files of the core that this command was built with.
static SOURCE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/core.rs"));
/// The versions that it was built with.
static LOCK: &str = include_str!(concat!(env!("OUT_DIR"), "/Cargo.lock"));

/// What the core's manifest takes from its workspace.
const WORKSPACE: &str = r#"[workspace]
members = ["metaspy-core"]
resolver = "3"

[workspace.package]
version = "0.1.0"
edition = "2024"
rust-version = "1.91"
license = "MIT OR Apache-2.0"
repository = "https://github.com/metaspy/metaspy"

[workspace.lints.rust]

[profile.release]
debug = false
"#;

/// The core for a target, built if it is not there yet.
pub fn core(cargo: &OsStr, target: Option<&str>, dir: &Path, offline: bool) -> Result<Core> {
    let version = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let version = String::from_utf8_lossy(&version.context("rustc cannot be started")?.stdout).into_owned();
    let flags = flags();
    let texts = SOURCE.iter().flat_map(|(path, text)| [*path, *text]);
    let flags_text = flags.to_string_lossy().into_owned();
    let name = stamp(texts.chain([version.as_str(), target.unwrap_or_default(), &flags_text]));
    let dir = dir.join("core").join(name);
    let built = dir.join("core.json");
    if let Some(core) = fs::read(&built).ok().and_then(|text| serde_json::from_slice::<Core>(&text).ok())
        && core.library.is_file()
    {
        return Ok(core);
    }
    eprintln!("     Metaspy building its core, once for this compiler");
    write_whole(&dir.join("Cargo.toml"), WORKSPACE.as_bytes())?;
    write_whole(&dir.join("Cargo.lock"), LOCK.as_bytes())?;
    for (path, text) in SOURCE {
        write_whole(&dir.join("metaspy-core").join(path), text.as_bytes())?;
    }
    // The project's configuration may say what the core has to be built with, and may replace the registry by something
    // that has not what the core needs. Then it is built where nothing is said.
    let nowhere = dir.ancestors().last().unwrap_or(&dir);
    let build = |from: &Path, offline: bool| build(cargo, target, &dir, &flags, from, offline);
    let kept = build(&dir, true).or_else(|_| build(nowhere, true));
    let core = if offline { kept } else { kept.or_else(|_| build(&dir, false)).or_else(|_| build(nowhere, false)) };
    let core = core.with_context(|| match offline {
        true => "metaspy's core cannot be built; without --offline cargo fetches what it needs",
        false => "metaspy's core cannot be built",
    })?;
    write_whole(&built, &serde_json::to_vec(&core)?)?;
    Ok(core)
}

/// The user's flags, and two more: programs may be optimised when they are linked, and a crate that the program has too
/// must not be taken for the core's.
fn flags() -> OsString {
    let mut flags = match env::var("CARGO_ENCODED_RUSTFLAGS") {
        Ok(encoded) => encoded,
        Err(_) => env::var("RUSTFLAGS").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join("\u{1f}"),
    };
    for flag in ["-Cembed-bitcode=yes", "-Cmetadata=metaspy-weave"] {
        if !flags.is_empty() {
            flags.push('\u{1f}');
        }
        flags.push_str(flag);
    }
    flags.into()
}

fn build(cargo: &OsStr, target: Option<&str>, dir: &Path, flags: &OsStr, from: &Path, offline: bool) -> Result<Core> {
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--quiet", "--package=metaspy-core", "--message-format=json"]);
    command.arg("--manifest-path").arg(dir.join("Cargo.toml")).arg("--target-dir").arg(dir.join("target"));
    command.args(target.map(|target| format!("--target={target}")));
    command.args(offline.then_some("--offline")).current_dir(from);
    command.env("CARGO_ENCODED_RUSTFLAGS", flags).stderr(Stdio::piped());
    let output = command.output().context("cargo cannot be started")?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim_end());
    }
    let messages = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let library = messages.filter_map(|message: Value| library(&message)).next();
    let library = library.context("cargo does not say where metaspy's core is")?;
    let beside = library.parent().unwrap_or(dir).join("deps");
    // Where a target is named, what runs in the compiler stands elsewhere.
    let of_host = dir.join("target").join("release").join("deps");
    let dependencies = if beside == of_host { vec![beside] } else { vec![beside, of_host] };
    Ok(Core { library, dependencies })
}

fn library(message: &Value) -> Option<PathBuf> {
    let is_core = message["reason"] == "compiler-artifact" && message["target"]["name"] == "metaspy_core";
    let mut files = message["filenames"].as_array().filter(|_| is_core)?.iter().filter_map(Value::as_str);
    files.find(|file| file.ends_with(".rlib")).map(PathBuf::from)
}
