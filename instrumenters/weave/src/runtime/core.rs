//! A core for programs that have none, built once for each compiler and target.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::{Core, stamp, write_whole};
use crate::runtime::profilers::{self, Profiler};

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

/// What is wrong with a profiler that brings a core along.
const OTHER_CORE: &str = "--profiler: it must depend on `metaspy-core = \"0.1\"`, and on no other copy of it";

/// The core for a target, built if it is not there yet; with the profilers of these directories, built with it.
pub fn core(cargo: &OsStr, target: Option<&str>, dir: &Path, offline: bool, profiler_dirs: &[PathBuf]) -> Result<Core> {
    let flags = flags();
    let dir = unpack(target, dir, &flags)?;
    let profilers = profiler_dirs.iter().map(|dir| Profiler::of(dir, cargo)).collect::<Result<Vec<_>>>()?;
    if !profilers.is_empty() {
        let package = profilers::write(&profilers, &dir, LOCK)?;
        let build = Build { cargo, target, dir: &dir, flags: &flags, profilers: &profilers };
        return build.run(&package, profilers::PACKAGE, offline);
    }
    let built = dir.join("core.json");
    if let Some(core) = fs::read(&built).ok().and_then(|text| serde_json::from_slice::<Core>(&text).ok())
        && core.library.is_file()
    {
        return Ok(core);
    }
    eprintln!("     Metaspy building its core, once for this compiler");
    let core = Build { cargo, target, dir: &dir, flags: &flags, profilers: &[] }.run(&dir, "metaspy-core", offline)?;
    write_whole(&built, &serde_json::to_vec(&core)?)?;
    Ok(core)
}

/// Writes the core's source where there is none; where that is.
fn unpack(target: Option<&str>, dir: &Path, flags: &OsStr) -> Result<PathBuf> {
    let version = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let version = String::from_utf8_lossy(&version.context("rustc cannot be started")?.stdout).into_owned();
    let texts = SOURCE.iter().flat_map(|(path, text)| [*path, *text]);
    let flags_text = flags.to_string_lossy().into_owned();
    let name = stamp(texts.chain([version.as_str(), target.unwrap_or_default(), &flags_text]));
    let dir = dir.join("core").join(name);
    // The manifest is written last: where it is, all else is.
    if !dir.join("Cargo.toml").is_file() {
        write_whole(&dir.join("Cargo.lock"), LOCK.as_bytes())?;
        for (path, text) in SOURCE {
            write_whole(&dir.join("metaspy-core").join(path), text.as_bytes())?;
        }
        write_whole(&dir.join("Cargo.toml"), WORKSPACE.as_bytes())?;
    }
    Ok(dir)
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

/// A build of the core, and of what is built with it.
struct Build<'b> {
    cargo: &'b OsStr,
    target: Option<&'b str>,
    /// The core's directory.
    dir: &'b Path,
    flags: &'b OsStr,
    profilers: &'b [Profiler],
}

impl Build<'_> {
    /// Without a network if it goes. The project's configuration may say what the core has to be built with, and may replace
    /// the registry by something that has not what the core needs: then it is built where nothing is said.
    fn run(&self, workspace: &Path, package: &str, offline: bool) -> Result<Core> {
        let nowhere = workspace.ancestors().last().unwrap_or(workspace);
        let once = |from: &Path, offline: bool| self.once(workspace, from, package, offline);
        let first = match once(workspace, true) {
            Ok(core) => return Ok(core),
            Err(error) => error,
        };
        let more = [(nowhere, true), (workspace, false), (nowhere, false)];
        let mut more = more.into_iter().filter(|(_, is_offline)| *is_offline || !offline);
        // Of several failures the first one is what the user can do something about.
        more.find_map(|(from, is_offline)| once(from, is_offline).ok()).ok_or(first).with_context(|| match offline {
            true => "metaspy's core cannot be built; without --offline cargo fetches what it needs",
            false => "metaspy's core cannot be built",
        })
    }

    fn once(&self, workspace: &Path, from: &Path, package: &str, offline: bool) -> Result<Core> {
        let mut command = Command::new(self.cargo);
        command.args(["build", "--release", "--quiet", "--message-format=json-render-diagnostics"]);
        command.arg("--package").arg(package).arg("--manifest-path").arg(workspace.join("Cargo.toml"));
        command.arg("--target-dir").arg(self.dir.join("target"));
        command.args(self.target.map(|target| format!("--target={target}")));
        command.args(offline.then_some("--offline")).current_dir(from);
        command.env("CARGO_ENCODED_RUSTFLAGS", self.flags).stderr(Stdio::piped());
        let output = command.output().context("cargo cannot be started")?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim_end();
            match self.profilers {
                [] => bail!("{said}"),
                // Another copy of the core than the one beside them.
                _ if said.contains("links to the native library `metaspy-core`") => bail!("{OTHER_CORE}: {said}"),
                _ => bail!("--profiler: {said}"),
            }
        }
        let messages = output.stdout.split(|byte| *byte == b'\n');
        let messages: Vec<Value> = messages.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        self.found(&messages)
    }

    /// Where cargo says that the libraries are.
    fn found(&self, messages: &[Value]) -> Result<Core> {
        let is_core = |message: &&Value| message["target"]["name"] == "metaspy_core";
        let library = messages.iter().filter(is_core).find_map(profilers::library);
        let library = library.context("cargo does not say where metaspy's core is")?;
        let beside = library.parent().unwrap_or(self.dir);
        let beside = if beside.ends_with("deps") { beside.to_owned() } else { beside.join("deps") };
        // Where a target is named, what runs in the compiler stands elsewhere.
        let of_host = self.dir.join("target").join("release").join("deps");
        let dependencies = if beside == of_host { vec![beside] } else { vec![beside, of_host] };
        let profiler = |profiler: &Profiler| {
            let library = messages.iter().find_map(|message| profiler.library(message));
            library.with_context(|| format!("--profiler: `{}` has no library", profiler.name()))
        };
        let profilers = self.profilers.iter().map(profiler).collect::<Result<_>>()?;
        Ok(Core { library, dependencies, profilers })
    }
}
