//! A core for programs that have none, built once for each compiler, target and set of flags.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail};
use metaspy_reader::text::print_message;
use serde_json::Value;

use crate::plan::{CHAIN, Core, PLAN, read_whole, stamp, write_whole};
use crate::runtime::profilers::{self, Profiler};
use crate::runtime::toolchain::version;
use crate::runtime::{build_dir, cache, host};

/// The files of the core's packages that this command was built with, by their paths in a
/// workspace.
pub(super) static SOURCE: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/core.rs"));
/// The versions that it was built with.
static LOCK: &str = include_str!(concat!(env!("OUT_DIR"), "/Cargo.lock"));

/// The workspace keys that the core's manifest inherits.
const WORKSPACE: &str = r#"[workspace]
members = ["metaspy-core", "metaspy-core/probe", "metaspy-core/format", "metaspy-core/reader",
    "metaspy-core/recorder"]
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
metaspy-recorder = { path = "metaspy-core/recorder", version = "0.1.0" }

[workspace.lints.rust]
"#;

/// The name of the profile of the core, and so of the directory in its target directory.
const PROFILE: &str = "metaspy-core";
/// The profile. Each key that shapes code is here, so that no project's profiles make a core of
/// their own. Programs call the recorder, and not the reader, which takes more than a third of the
/// build when it is optimised. One unit takes less processor time than 16, whose code is optimised
/// again together.
pub(super) const IN_MANIFEST: &str = r#"
[profile.metaspy-core]
inherits = "release"
opt-level = 3
debug = false
strip = "none"
debug-assertions = false
overflow-checks = false
lto = false
panic = "unwind"
codegen-units = 1
incremental = false

[profile.metaspy-core.package]
memchr.opt-level = 0
metaspy-reader.opt-level = 0
serde.opt-level = 0
serde_core.opt-level = 0
serde_json.opt-level = 0
strsim.opt-level = 0

[profile.metaspy-core.build-override]
opt-level = 0
"#;

/// The environment variable that marks a build of the core: the wrapper then adds [`ALONE`].
pub(crate) const BUILDS_CORE: &str = "METASPY_WEAVE_CORE";
/// Further flags of the compiler for the core: programs may be optimised when they are linked, and
/// a crate that the program has too must not be taken for the core's. A variable with flags would
/// take the place of those configured.
pub const ALONE: [&str; 2] = ["-Cembed-bitcode=yes", "-Cmetadata=metaspy-weave"];

/// The error of a profiler that depends on another core.
const OTHER_CORE: &str =
    "--profiler: it must depend on `metaspy-core = \"0.1\"`, and on no other copy of it";

/// How the user builds, and so how the core is built.
pub struct Settings<'s> {
    /// The command.
    pub cargo: &'s OsStr,
    /// The target, if the user names one.
    pub target: Option<&'s str>,
    /// True if the network must not be used.
    pub is_offline: bool,
    /// The compiler's flags of the environment and of cargo's configuration.
    pub flags: String,
    /// The wrapper of the compiler that the user configured.
    pub wrapper: Option<OsString>,
}

/// A name for the core's source.
pub fn core_stamp() -> String {
    let manifests = [LOCK, profilers::MANIFEST, IN_MANIFEST];
    stamp(SOURCE.iter().flat_map(|(path, text)| [*path, *text]).chain(manifests))
}

/// The core, built if the cache does not have it; with the profilers of these directories, built
/// with it.
pub fn core(settings: &Settings<'_>, cache: &Path, profiler_dirs: &[PathBuf]) -> Result<Core> {
    let of_dir = |dir: &PathBuf| Profiler::of(dir, settings.cargo);
    let profilers = profiler_dirs.iter().map(of_dir).collect::<Result<Vec<_>>>()?;
    let dir = cache.join("core").join(settings.stamp()?);
    let core = cache::entry(&dir, |dir| {
        print_message("     Metaspy building its core, once for this compiler");
        unpack(dir)?;
        let core = Build { settings, dir, profilers: &[] }.run()?;
        let files = files(&core);
        Ok((core, files))
    })?;
    if profilers.is_empty() {
        return Ok(core);
    }
    Build { settings, dir: &dir, profilers: &profilers }.run()
}

impl Settings<'_> {
    /// Returns a name for a core with these settings, by this compiler. A wrapper, such as a cache,
    /// does not change results.
    fn stamp(&self) -> Result<String> {
        let parts =
            [&core_stamp(), version()?, self.core_target()?.unwrap_or_default(), &self.flags];
        Ok(stamp(parts.into_iter().chain(ALONE)))
    }

    /// Returns the target of the core, unless it is the default target of every build here. Without
    /// a named target, flags also reach build scripts and procedural macros.
    fn core_target(&self) -> Result<Option<&str>> {
        let host = host()?;
        Ok(self.target.filter(|target| *target != host || !self.flags.is_empty()))
    }
}

/// True for a variable that changes a profile of cargo.
fn is_of_profiles(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("CARGO_PROFILE_")
}

/// Writes the core's source. A build that was killed may have left a part of it.
fn unpack(dir: &Path) -> Result<()> {
    for (path, text) in SOURCE.iter().copied().chain([("Cargo.toml", WORKSPACE)]) {
        let path = dir.join(path);
        // Cargo builds a file again if its time is new.
        if read_whole(&path).ok().as_deref() != Some(text.as_bytes()) {
            write_whole(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// The files that programs are linked with.
fn files(core: &Core) -> Vec<PathBuf> {
    let dependencies = core.dependencies.iter().flat_map(|dir| {
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
    });
    let is_library = |path: &PathBuf| path.extension().is_some_and(|extension| extension != "d");
    dependencies.filter(is_library).chain([core.library.clone()]).collect()
}

/// A build of the core and of its profilers.
struct Build<'b> {
    settings: &'b Settings<'b>,
    /// The core's directory.
    dir: &'b Path,
    profilers: &'b [Profiler],
}

impl Build<'_> {
    /// Builds without a network if that is possible. The project's configuration may be needed to
    /// build the core, or it may replace the registry by one that lacks the core's dependencies:
    /// then the core is built outside the project.
    fn run(&self) -> Result<Core> {
        let workspace = profilers::write(self.profilers, self.dir, LOCK)?;
        let nowhere = workspace.ancestors().last().unwrap_or(&workspace);
        let here = env::current_dir()?;
        let offline = self.settings.is_offline;
        let once = |from: &Path, offline: bool| self.once(&workspace, from, offline);
        let first = match once(&here, true) {
            Ok(core) => return Ok(core),
            Err(error) => error,
        };
        let more = [(nowhere, true), (here.as_path(), false), (nowhere, false)];
        let mut more = more.into_iter().filter(|(_, is_offline)| *is_offline || !offline);
        // The user can repair the first of several failures.
        more.find_map(|(from, is_offline)| once(from, is_offline).ok()).ok_or(first).with_context(
            || {
                if offline {
                    "metaspy's core cannot be built; without --offline cargo fetches what it needs"
                } else {
                    "metaspy's core cannot be built"
                }
            },
        )
    }

    fn once(&self, workspace: &Path, from: &Path, offline: bool) -> Result<Core> {
        let Settings { cargo, wrapper, .. } = self.settings;
        let target = self.settings.core_target()?;
        let target_dir = self.dir.join("target");
        let mut command = Command::new(cargo);
        command.args([
            "build",
            "--profile",
            PROFILE,
            "--quiet",
            "--message-format=json-render-diagnostics",
        ]);
        command.arg("--manifest-path").arg(workspace.join("Cargo.toml"));
        command.arg("--target-dir").arg(&target_dir).arg(build_dir(&target_dir)?);
        command.args(target.map(|target| format!("--target={target}")));
        command.args(offline.then_some("--offline")).current_dir(from);
        command.env("RUSTC_WRAPPER", env::current_exe()?).env(BUILDS_CORE, "1");
        command
            .env_remove(PLAN)
            .env_remove(CHAIN)
            .envs(wrapper.as_ref().map(|wrapper| (CHAIN, wrapper)));
        // One core serves all builds, so those of this project's profiles do not shape it.
        for (name, _) in env::vars_os().filter(|(name, _)| is_of_profiles(name)) {
            command.env_remove(name);
        }
        command.stderr(Stdio::piped());
        let output = command.output().context("cargo cannot be started")?;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr);
            let error = error.trim_end();
            match self.profilers {
                [] => bail!("{error}"),
                // The profiler depends on another copy of the core.
                _ if error.contains("links to the native library `metaspy-core`") => {
                    bail!("{OTHER_CORE}: {error}")
                }
                _ => bail!("--profiler: {error}"),
            }
        }
        let messages = output.stdout.split(|byte| *byte == b'\n');
        let messages: Vec<Value> =
            messages.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        self.found(&messages)
    }

    /// The libraries that cargo reports.
    fn found(&self, messages: &[Value]) -> Result<Core> {
        let is_core = |message: &&Value| message["target"]["name"] == "metaspy_core";
        let library = messages.iter().filter(is_core).find_map(profilers::library);
        let library = library.context("cargo does not say where metaspy's core is")?;
        let beside = library.parent().unwrap_or(self.dir);
        let beside = if beside.ends_with("deps") { beside.to_owned() } else { beside.join("deps") };
        // With a named target, libraries that run in the compiler are in another directory.
        let of_host = self.dir.join("target").join(PROFILE).join("deps");
        let dependencies = if beside == of_host { vec![beside] } else { vec![beside, of_host] };
        let libraries = messages.iter().filter_map(profilers::library).collect();
        let profiler = |profiler: &Profiler| {
            let library = messages.iter().find_map(|message| profiler.library(message));
            library.with_context(|| format!("--profiler: `{}` has no library", profiler.name()))
        };
        let profilers = self.profilers.iter().map(profiler).collect::<Result<_>>()?;
        Ok(Core { library, dependencies, libraries, profilers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_profiles_do_not_reach_the_core() {
        assert!(is_of_profiles("CARGO_PROFILE_RELEASE_LTO".as_ref()));
        assert!(
            !["CARGO_HOME", "CARGO_BUILD_JOBS", "PROFILE"]
                .iter()
                .any(|name| is_of_profiles(name.as_ref()))
        );
    }
}
