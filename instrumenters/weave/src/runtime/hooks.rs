//! The crate that woven code calls: the sources of `metaspy-probe`, compiled by `rustc` alone.
//!
//! Woven code depends on `metaspy-probe` alone, and the core of the program adopts its sites. It
//! cannot be compiled against the graph's own core, because cargo may build that later, and that
//! may depend on the woven crate. So any crate can be woven, and where there is no core, as in a
//! procedural macro, its sites stay unarmed.
//!
//! The same files are compiled twice, and `opt-level` selects one: hooks are called in debug builds
//! and inlined in release builds. Inlined hooks tripled a debug build, and called hooks double the
//! cost of a count in a release build.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::plan::{read_whole, stamp, write_whole};
use crate::runtime::cache;
use crate::runtime::core::SOURCE;

/// Its crate names, for programs without and with optimisation. Woven code uses another name.
const NAMES: [&str; 2] = ["metaspy_woven_called", "metaspy_woven"];

/// The crate, compiled twice: a hook that is called is quick to compile, a hook that is inlined is
/// quick to run.
#[derive(Clone, Debug)]
pub struct Hooks {
    dir: PathBuf,
    /// Distinguishes it from the one of another compiler.
    stamp: String,
}

impl Hooks {
    /// The library for a crate.
    pub fn library(&self, is_optimized: bool) -> PathBuf {
        self.dir.join(format!("lib{}.rlib", NAMES[usize::from(is_optimized)]))
    }

    fn libraries(&self) -> [PathBuf; 2] {
        [false, true].map(|is_optimized| self.library(is_optimized))
    }

    /// Puts the libraries where cargo makes the compiler and rustdoc search for dependencies.
    /// Crates of both kinds may be linked into one program.
    pub(crate) fn put_beside(&self, libraries: &Path) -> Result<()> {
        for (library, name) in self.libraries().iter().zip(NAMES) {
            let beside = libraries.join(format!("lib{name}-{}.rlib", self.stamp));
            if !beside.is_file() {
                write_whole(&beside, &read_whole(library)?)?;
            }
        }
        Ok(())
    }
}

/// The arguments of the compiler beside the sources and the place. A change of them makes other
/// libraries.
const FLAGS: [&str; 5] = [
    "--edition=2024",
    "--crate-type=rlib",
    "--cap-lints=allow",
    "-Copt-level=3",
    "-Cmetadata=metaspy",
];
/// Replaces the directories in the libraries: the libraries of two caches are then the same, so a
/// crate that was woven with one links with the other.
const PLACE: &str = "=metaspy-probe";

/// The directory of the probe's sources among the packed files.
const PROBE: &str = "metaspy-core/probe/src/";

/// The files of the probe, by their paths in its `src`.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCE.iter().filter_map(|(path, text)| Some((path.strip_prefix(PROBE)?, *text)))
}

/// The text of all files of the probe.
pub fn source() -> String {
    files().flat_map(|(path, text)| [path, "\n", text]).collect()
}

/// The crate for a compiler and a target, built if the cache does not have it.
pub fn hooks(rustc: &[OsString], target: Option<&OsStr>, cache: &Path) -> Result<Hooks> {
    let source = source();
    let (program, before) = rustc.split_first().context("there is a compiler")?;
    let version = version_of(program, before)?;
    let target_text =
        target.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
    let stamp = stamp([source.as_str(), &version, &target_text, PLACE].into_iter().chain(FLAGS));
    let hooks = Hooks { dir: cache.join("hooks").join(&stamp), stamp };
    cache::entry(&hooks.dir, |dir| {
        compile(rustc, target, dir)?;
        Ok(((), hooks.libraries().into()))
    })?;
    Ok(hooks)
}

/// Compiles the crate twice.
fn compile(rustc: &[OsString], target: Option<&OsStr>, dir: &Path) -> Result<()> {
    let (program, before) = rustc.split_first().context("there is a compiler")?;
    let sources = dir.join("src");
    for (path, text) in files() {
        write_whole(&sources.join(path), text.as_bytes())?;
    }
    let file = sources.join("lib.rs");
    let here = env::current_dir().unwrap_or_default();
    let compile = |name: &str, flavour: &[&str]| {
        let mut command = Command::new(program);
        command.args(before).arg("--crate-name").arg(name).args(flavour);
        command.args(FLAGS);
        for place in [&*here, dir] {
            let mut remapped = OsString::from("--remap-path-prefix=");
            remapped.push(place);
            remapped.push(PLACE);
            command.arg(remapped);
        }
        command.arg(&file).arg("--out-dir").arg(dir);
        command.args(target.into_iter().flat_map(|target| [OsStr::new("--target"), target]));
        command.output().context("the compiler cannot be started")
    };
    for (name, flavour) in [(NAMES[0], &["--cfg=metaspy_called"][..]), (NAMES[1], &[])] {
        // A target without `std` gets a variant without it.
        let mut output = compile(name, flavour)?;
        if !output.status.success() {
            output = compile(name, &[flavour, &["--cfg=metaspy_bare"]].concat())?;
        }
        if !output.status.success() {
            bail!("the compiler refuses the hooks: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(())
}

fn version_of(rustc: &OsStr, before: &[OsString]) -> Result<String> {
    let output = Command::new(rustc)
        .args(before)
        .arg("-vV")
        .output()
        .context("the compiler cannot be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
