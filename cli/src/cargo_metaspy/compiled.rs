//! The results that cargo has compiled for the plain programs, copied to the directory of the woven
//! ones.
//!
//! Cargo names results by everything that shapes them, and compiles those that it does not find. So
//! copies of downloaded crates, which are compiled once and never change, save the time in which
//! they would be compiled again. Cargo takes a result for fresh if it is newer than its
//! dependencies, so a copy has the times of its original.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use metaspy_report::text::{counted, print_message};
use metaspy_weave::plan::{Plan, read_whole_text};
use metaspy_weave::wrapper::write_plain;

use crate::cargo_metaspy::graph::{Graph, Package};

/// The directory with the fingerprints of compiled packages.
const FINGERPRINTS: &str = ".fingerprint";

/// Copies the crates of a profile that have no hooks, if nothing of the profile was compiled with
/// hooks so far. A message comes first, because hundreds of crates take seconds.
pub fn copy(graph: &Graph, plan: &Plan, target: Option<&str>, profile: &str, target_dir: &Path) {
    let is_woven = |root: &Path| plan.targets.get(root).is_some_and(|target| target.is_woven);
    let mut packages = BTreeMap::new();
    for package in graph.downloaded() {
        let roots =
            package.targets.iter().filter_map(|target| fs::canonicalize(&target.src_path).ok());
        let roots: Vec<PathBuf> = roots.collect();
        if !roots.iter().any(|root| is_woven(root)) {
            packages.extend(roots.into_iter().map(|root| (root, package)));
        }
    }
    let of_target = target.map(|target| Path::new(target).join(profile));
    let directories = [Some(PathBuf::from(profile)), of_target].into_iter().flatten();
    let copies = directories.map(|directory| Copies {
        from: graph.build_directory().join(&directory),
        to: target_dir.join(&directory),
        plan,
        packages: &packages,
    });
    let copies: Vec<Copies<'_>> =
        copies.filter(|copies| !copies.to.join(FINGERPRINTS).exists()).collect();
    let found: Vec<Vec<Library<'_>>> =
        copies.iter().map(|copies| copies.libraries().collect()).collect();
    let number: usize = found.iter().map(Vec::len).sum();
    if number > 0 {
        let crates = counted(number as u64, "crate");
        print_message(&format_args!(
            "     Metaspy copying {crates} without hooks, which cargo has compiled"
        ));
    }
    for (copies, libraries) in copies.iter().zip(&found) {
        copies.copy(libraries);
    }
}

/// Copies from one directory of a profile to another one.
struct Copies<'c> {
    from: PathBuf,
    to: PathBuf,
    plan: &'c Plan,
    /// The packages whose crates are copied, by the files of their roots.
    packages: &'c BTreeMap<PathBuf, &'c Package>,
}

/// The results of a library.
struct Library<'c> {
    package: &'c Package,
    /// The file of its root.
    root: PathBuf,
    /// The file that names its dependencies.
    depends: PathBuf,
    /// Its name, with the hash.
    unit: String,
}

impl<'c> Copies<'c> {
    fn libraries(&self) -> impl Iterator<Item = Library<'c>> {
        let depends = paths(&self.from.join("deps"))
            .filter(|path| path.extension().is_some_and(|it| it == "d"));
        depends.filter_map(|path| self.library(path))
    }

    /// The library that has this file, if it is one of the packages' and cargo takes it for
    /// compiled.
    fn library(&self, depends: PathBuf) -> Option<Library<'c>> {
        let root = fs::canonicalize(root_of(&read_whole_text(&depends).ok()?)?).ok()?;
        let package = *self.packages.get(&root)?;
        let unit = format!("{}-{}", package.name, unit_of(&depends)?.1);
        let is_compiled = self.from.join(FINGERPRINTS).join(&unit).is_dir();
        is_compiled.then_some(Library { package, root, depends, unit })
    }

    /// Copies these libraries, and the build scripts of all packages. Cargo compiles those that
    /// cannot be copied.
    fn copy(&self, libraries: &[Library<'_>]) {
        for library in libraries {
            _ = self.copy_library(library);
        }
        let names: BTreeSet<&str> =
            self.packages.values().map(|package| package.name.as_str()).collect();
        for directory in paths(&self.from.join("build")) {
            if unit_of(&directory).is_some_and(|(name, _)| names.contains(name)) {
                // Without it, cargo runs the build script again.
                _ = self.build_script(&directory);
            }
        }
    }

    fn copy_library(&self, library: &Library<'_>) -> io::Result<()> {
        let Library { package, root, depends, unit } = library;
        let results = depends.file_stem().unwrap_or_default().to_string_lossy();
        let deps = self.to.join("deps");
        fs::create_dir_all(&deps)?;
        for [prefix, suffix] in [
            ["", ".d"],
            ["lib", ".rlib"],
            ["lib", ".rmeta"],
            ["lib", ".so"],
            ["lib", ".dylib"],
            ["", ".dll"],
        ] {
            let file = format!("{prefix}{results}{suffix}");
            let original = depends.with_file_name(&file);
            if original.is_file() {
                copy_file(&original, &deps.join(file))?;
            }
        }
        write_plain(&self.plan.dir, package.spec(), root.clone(), &deps, &results)
            .map_err(io::Error::other)?;
        // Cargo compiles a library without a fingerprint. So this is last.
        copy_directory(
            &self.from.join(FINGERPRINTS).join(unit),
            &self.to.join(FINGERPRINTS).join(unit),
        )
    }

    /// Copies a build script, or its output.
    fn build_script(&self, directory: &Path) -> io::Result<()> {
        let unit = directory.file_name().unwrap_or_default();
        copy_directory(directory, &self.to.join("build").join(unit))?;
        let fingerprint = self.from.join(FINGERPRINTS).join(unit);
        copy_directory(&fingerprint, &self.to.join(FINGERPRINTS).join(unit))
    }
}

/// The name and the hash of a file or directory of cargo's: `NAME-HASH`.
fn unit_of(path: &Path) -> Option<(&str, &str)> {
    let stem = if path.extension().is_some_and(|it| it == "d") {
        path.file_stem()
    } else {
        path.file_name()
    };
    stem?.to_str()?.rsplit_once('-')
}

/// The first file that a result depends on, in the compiler's list: the root of the crate.
fn root_of(depends: &str) -> Option<PathBuf> {
    let (_, files) = depends.lines().next()?.split_once(": ")?;
    // A space in a name has a backslash.
    let first: Vec<&str> = files
        .split_inclusive(' ')
        .scan(true, |goes_on, part| {
            let is_in = *goes_on;
            *goes_on = part.ends_with("\\ ");
            is_in.then_some(part)
        })
        .collect();
    let first = first.concat().replace("\\ ", " ");
    Some(PathBuf::from(first.trim_end())).filter(|root| !root.as_os_str().is_empty())
}

fn paths(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let copy = to.join(entry.file_name());
        match kind {
            kind if kind.is_dir() => copy_directory(&entry.path(), &copy)?,
            kind if kind.is_file() => copy_file(&entry.path(), &copy)?,
            _ => return Err(io::Error::other("neither a file nor a directory")),
        }
    }
    Ok(())
}

/// Copies a file with its time.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let copy = File::options().append(true).open(to).or_else(|_| File::open(to))?;
    copy.set_modified(fs::metadata(from)?.modified()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_first_file_of_the_list() {
        let root = |text: &str| root_of(text).map(|root| root.to_string_lossy().into_owned());
        assert_eq!(root("/t/a.d: /c/src/lib.rs /c/src/b.rs\n").as_deref(), Some("/c/src/lib.rs"));
        assert_eq!(
            root("/t/a.d: /my\\ c/src/lib.rs /c/src/b.rs\n").as_deref(),
            Some("/my c/src/lib.rs")
        );
        assert_eq!(root("C:\\t\\a.d: C:\\c\\lib.rs\n").as_deref(), Some("C:\\c\\lib.rs"));
        assert_eq!([root(""), root("/t/a.d:"), root("/t/a.d: \n")], [None, None, None]);
    }
}
