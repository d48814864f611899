//! The graph of packages, from `cargo metadata`.
//!
//! The crate cargo_metadata is not used: its types cost five more crates and save 60 lines.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

use anyhow::{Context, Result, bail};
use metaspy_report::text::print_message;
use serde::Deserialize;

use crate::cargo_metaspy::cargo::{Cargo, NO_CARGO};

/// The package that has the core.
const CORE: &str = "metaspy-core";

/// Packages, and their dependencies.
#[derive(Debug, Deserialize)]
pub struct Graph {
    packages: Vec<Package>,
    workspace_members: BTreeSet<String>,
    resolve: Resolve,
    /// The directory for cargo's results.
    pub target_directory: PathBuf,
    /// Where it puts the parts, if that is configured.
    build_directory: Option<PathBuf>,
    /// The directory of the workspace.
    pub workspace_root: PathBuf,
}

/// A package.
#[derive(Debug, Deserialize)]
pub struct Package {
    id: String,
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    manifest_path: PathBuf,
    /// Where it was downloaded from; `None` for one that is built where it lies.
    source: Option<String>,
    /// Its crates.
    pub targets: Vec<Crate>,
}

/// A crate of a package.
#[derive(Debug, Deserialize)]
pub struct Crate {
    name: String,
    kind: Vec<String>,
    /// The file of its root.
    pub src_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

/// Reads cargo's messages on standard error. Progress is passed on, because fetching packages takes
/// time. Warnings are not, because the build repeats them.
fn read_messages(messages: impl Read) -> String {
    const PROGRESS: [&str; 5] = ["Updating", "Downloading", "Downloaded", "Blocking", "Fetching"];
    let mut held = String::new();
    for line in BufReader::new(messages).lines().map_while(Result::ok) {
        if line.starts_with(' ')
            && line.split_whitespace().next().is_some_and(|word| PROGRESS.contains(&word))
        {
            print_message(&line)
        } else {
            held = held + &line + "\n"
        }
    }
    held
}

impl Package {
    /// The package as an argument of cargo: `name@version`.
    pub fn spec(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Its directory.
    pub fn root(&self) -> PathBuf {
        self.manifest_path.parent().map(PathBuf::from).unwrap_or_default()
    }

    fn is_proc_macro(&self) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|kind| kind == "proc-macro"))
    }
}

impl Crate {
    /// Its name in paths.
    pub fn name(&self) -> String {
        self.name.replace('-', "_")
    }

    /// True if it is a program, or a library that programs are linked with.
    pub fn is_target(&self) -> bool {
        !self.kind.iter().any(|kind| kind == "proc-macro" || kind == "custom-build")
    }

    /// True for a library.
    pub fn is_library(&self) -> bool {
        self.is_target()
            && !self
                .kind
                .iter()
                .any(|kind| matches!(kind.as_str(), "bin" | "test" | "bench" | "example"))
    }

    /// True for a program that is built without tests.
    pub fn is_binary(&self) -> bool {
        self.kind.iter().any(|kind| kind == "bin")
    }

    /// True for a library that programs load while they run, or that is linked into programs in
    /// other languages.
    pub fn is_system_library(&self) -> bool {
        self.kind.iter().any(|kind| kind == "cdylib" || kind == "staticlib")
    }

    /// True if it may use the dependencies of tests.
    pub(crate) fn is_for_developers(&self) -> bool {
        self.kind.iter().any(|kind| matches!(kind.as_str(), "test" | "bench" | "example"))
    }
}

impl Graph {
    /// Runs `cargo metadata`.
    pub fn read(cargo: &Cargo, target: &str) -> Result<Graph> {
        let mut command = cargo.metadata(target);
        let mut running =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context(NO_CARGO)?;
        let messages =
            running.stderr.take().map(|messages| thread::spawn(|| read_messages(messages)));
        let output = running.wait_with_output().context(NO_CARGO)?;
        let messages = messages.and_then(|messages| messages.join().ok()).unwrap_or_default();
        if !output.status.success() {
            bail!("{}", messages.trim_end().trim_start_matches("error: "));
        }
        serde_json::from_slice(&output.stdout).context(
            "cannot read the graph that cargo writes: install a newer version with `cargo install metaspy-cli`",
        )
    }

    /// The files that cargo reads before it builds: manifests, the lock file, settings, and the
    /// roots of all crates.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let of_workspace =
            ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "rust-toolchain.toml"];
        let of_workspace = of_workspace.into_iter().map(|name| self.workspace_root.join(name));
        of_workspace.chain(self.packages.iter().flat_map(|package| {
            let roots = package.targets.iter().map(|target| target.src_path.clone());
            roots.chain([package.manifest_path.clone()]).collect::<Vec<_>>()
        }))
    }

    /// The packages that were downloaded.
    pub fn downloaded(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|package| package.source.is_some())
    }

    /// Returns the directory with cargo's compiled results.
    pub fn build_directory(&self) -> &Path {
        self.build_directory.as_deref().unwrap_or(&self.target_directory)
    }

    /// True for a package of the workspace.
    pub fn is_member(&self, package: &Package) -> bool {
        self.workspace_members.contains(&package.id)
    }

    /// True if there is such a package.
    pub fn has(&self, spec: &str) -> bool {
        self.packages.iter().any(|package| package.spec() == spec)
    }

    /// The packages whose code is part of the programs of the workspace. Packages for build scripts
    /// and procedural macros are left out, and so is the core with its dependencies, because hooks
    /// call it.
    pub fn woven(&self) -> Vec<&Package> {
        let members = self.workspace_members.iter().map(String::as_str);
        let reached = self.reached(members, |id| self.workspace_members.contains(id));
        let cores = self
            .packages
            .iter()
            .filter(|package| package.name == CORE)
            .map(|package| package.id.as_str());
        let hooks = self.reached(cores, |_| false);
        let ours = |package: &Package| {
            matches!(package.name.as_str(), "metaspy" | "metaspy-instrumenters")
        };
        let all = self.packages.iter().filter(|package| reached.contains(package.id.as_str()));
        all.filter(|package| !hooks.contains(package.id.as_str()) && !ours(package)).collect()
    }

    /// True if the programs of a package have a core of their own.
    pub(crate) fn has_core(&self, package: &Package, for_developers: bool) -> bool {
        let reached = self.reached([package.id.as_str()], |id| for_developers && id == package.id);
        self.packages
            .iter()
            .any(|package| package.name == CORE && reached.contains(package.id.as_str()))
    }

    /// True if a package of the workspace has programs or tests with a core of their own.
    pub(crate) fn has_own_core(&self) -> bool {
        self.packages.iter().any(|package| self.is_member(package) && self.has_core(package, true))
    }

    /// These packages and their dependencies. The dependencies of tests belong to them for a
    /// package that is `developed`.
    fn reached<'g>(
        &'g self,
        from: impl IntoIterator<Item = &'g str>,
        developed: impl Fn(&str) -> bool,
    ) -> BTreeSet<&'g str> {
        let nodes: BTreeMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let macros: BTreeSet<&str> = self
            .packages
            .iter()
            .filter(|package| package.is_proc_macro())
            .map(|package| package.id.as_str())
            .collect();
        let mut reached = BTreeSet::new();
        let mut to_visit: Vec<&str> = from.into_iter().collect();
        while let Some(id) = to_visit.pop() {
            if macros.contains(id) || !reached.insert(id) {
                continue;
            }
            let needed =
                nodes.get(id).into_iter().flat_map(|node| &node.deps).filter(|dependency| {
                    dependency.dep_kinds.iter().any(|kind| match kind.kind.as_deref() {
                        None => true,
                        Some("dev") => developed(id),
                        Some(_) => false,
                    })
                });
            to_visit.extend(needed.map(|dependency| dependency.pkg.as_str()));
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_passed_on_and_errors_are_kept() {
        let messages = "    Updating crates.io index\nwarning: unused key\n  Downloaded a v1.0.0\n    |  Updating\nerror: no package\n";
        assert_eq!(
            read_messages(messages.as_bytes()),
            "warning: unused key\n    |  Updating\nerror: no package\n"
        );
    }
}
