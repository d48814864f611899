//! A core for programs that have none, built once for each compiler and target.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::plan::{CHAIN, Core, PLAN, stamp, write_whole};
use crate::runtime::profilers::{self, Profiler};
use crate::runtime::{build_dir, version};

/// The files of the core's packages that this command was built with, by their paths in a workspace.
pub(super) static SOURCE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/core.rs"));
/// The versions that it was built with.
static LOCK: &str = include_str!(concat!(env!("OUT_DIR"), "/Cargo.lock"));

/// What the core's manifest takes from its workspace.
const WORKSPACE: &str = r#"[workspace]
members = ["metaspy-core", "metaspy-core/probe", "metaspy-core/format", "metaspy-core/reader"]
resolver = "3"

[workspace.package]
version = "0.1.0"
edition = "2024"
rust-version = "1.91"
license = "MIT OR Apache-2.0"
homepage = "https://github.com/metaspy/metaspy"
repository = "https://github.com/metaspy/metaspy"

[workspace.dependencies]
metaspy-probe = { path = "metaspy-core/probe", version = "0.1.0" }
metaspy-format = { path = "metaspy-core/format", version = "0.1.0" }
metaspy-reader = { path = "metaspy-core/reader", version = "0.1.0" }

[workspace.lints.rust]

[profile.release]
debug = false
"#;

/// The environment variable that says that the core is built: this command, in the compiler's place, then adds [`ALONE`].
pub const BUILDS_CORE: &str = "METASPY_WEAVE_CORE";
/// What the compiler is told of the core besides: programs may be optimised when they are linked, and a crate that the
/// program has too must not be taken for the core's. A variable with flags would take the place of those configured.
pub const ALONE: [&str; 2] = ["-Cembed-bitcode=yes", "-Cmetadata=metaspy-weave"];

/// What is wrong with a profiler that brings a core along.
const OTHER_CORE: &str = "--profiler: it must depend on `metaspy-core = \"0.1\"`, and on no other copy of it";

/// How the user builds, and so how the core is built.
pub struct Settings<'s> {
    /// The command.
    pub cargo: &'s OsStr,
    /// What is built for, if it is said.
    pub target: Option<&'s str>,
    /// Whether the network is not to be used.
    pub is_offline: bool,
    /// All that the environment and cargo's configuration say of the compiler's flags.
    pub flags: String,
    /// The wrapper of the compiler that is called where there is no weaving.
    pub wrapper: Option<OsString>,
}

/// A name for the core's source.
pub fn core_stamp() -> String {
    stamp(SOURCE.iter().flat_map(|(path, text)| [*path, *text]).chain([LOCK]))
}

/// The core, built if it is not there yet; with the profilers of these directories, built with it.
pub fn core(settings: &Settings<'_>, dir: &Path, profiler_dirs: &[PathBuf]) -> Result<Core> {
    let dir = unpack(settings, dir)?;
    let of_dir = |dir: &PathBuf| Profiler::of(dir, settings.cargo);
    let profilers = profiler_dirs.iter().map(of_dir).collect::<Result<Vec<_>>>()?;
    if !profilers.is_empty() {
        let package = profilers::write(&profilers, &dir, LOCK)?;
        return Build { settings, dir: &dir, profilers: &profilers }.run(&package, profilers::PACKAGE);
    }
    let built = dir.join("core.json");
    if let Some(core) = fs::read(&built).ok().and_then(|text| serde_json::from_slice::<Core>(&text).ok())
        && core.library.is_file()
    {
        return Ok(core);
    }
    eprintln!("     Metaspy building its core, once for this compiler");
    let core = Build { settings, dir: &dir, profilers: &[] }.run(&dir, "metaspy-core")?;
    write_whole(&built, &serde_json::to_vec(&core)?)?;
    Ok(core)
}

/// Writes the core's source where there is none; where that is.
fn unpack(settings: &Settings<'_>, dir: &Path) -> Result<PathBuf> {
    let said =
        [core_stamp(), version()?.to_owned(), settings.target.unwrap_or_default().to_owned(), settings.flags.clone()];
    let dir = dir.join("core").join(stamp(said.iter().map(String::as_str).chain(ALONE)));
    // The manifest is written last: where it is, all else is.
    if !dir.join("Cargo.toml").is_file() {
        write_whole(&dir.join("Cargo.lock"), LOCK.as_bytes())?;
        for (path, text) in SOURCE {
            write_whole(&dir.join(path), text.as_bytes())?;
        }
        write_whole(&dir.join("Cargo.toml"), WORKSPACE.as_bytes())?;
    }
    Ok(dir)
}

/// A build of the core, and of what is built with it.
struct Build<'b> {
    settings: &'b Settings<'b>,
    /// The core's directory.
    dir: &'b Path,
    profilers: &'b [Profiler],
}

impl Build<'_> {
    /// Without a network if it goes. The project's configuration may say what the core has to be built with, and may replace
    /// the registry by something that has not what the core needs: then it is built where nothing is said.
    fn run(&self, workspace: &Path, package: &str) -> Result<Core> {
        let nowhere = workspace.ancestors().last().unwrap_or(workspace);
        let here = env::current_dir()?;
        let offline = self.settings.is_offline;
        let once = |from: &Path, offline: bool| self.once(workspace, from, package, offline);
        let first = match once(&here, true) {
            Ok(core) => return Ok(core),
            Err(error) => error,
        };
        let more = [(nowhere, true), (here.as_path(), false), (nowhere, false)];
        let mut more = more.into_iter().filter(|(_, is_offline)| *is_offline || !offline);
        // Of several failures the first one is what the user can do something about.
        more.find_map(|(from, is_offline)| once(from, is_offline).ok()).ok_or(first).with_context(|| match offline {
            true => "metaspy's core cannot be built; without --offline cargo fetches what it needs",
            false => "metaspy's core cannot be built",
        })
    }

    fn once(&self, workspace: &Path, from: &Path, package: &str, offline: bool) -> Result<Core> {
        let Settings { cargo, target, wrapper, .. } = self.settings;
        let target_dir = self.dir.join("target");
        let mut command = Command::new(cargo);
        command.args(["build", "--release", "--quiet", "--message-format=json-render-diagnostics"]);
        command.arg("--package").arg(package).arg("--manifest-path").arg(workspace.join("Cargo.toml"));
        command.arg("--target-dir").arg(&target_dir).arg(build_dir(&target_dir)?);
        command.args(target.map(|target| format!("--target={target}")));
        command.args(offline.then_some("--offline")).current_dir(from);
        command.env("RUSTC_WRAPPER", env::current_exe()?).env(BUILDS_CORE, "1");
        command.env_remove(PLAN).env_remove(CHAIN).envs(wrapper.as_ref().map(|wrapper| (CHAIN, wrapper)));
        command.stderr(Stdio::piped());
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
