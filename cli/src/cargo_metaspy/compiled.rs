//! What cargo has compiled for the plain programs, copied to the directory of the woven ones.
//!
//! Cargo names results by all that shapes them, and compiles what it does not find. So copies of downloaded crates, which
//! are compiled once and never change, save the time in which they would be compiled again. What it finds is taken for
//! fresh if it is newer than what it depends on, so a copy has the times of its original.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use metaspy_weave::plan::{Plan, read_whole_text};
use metaspy_weave::wrapper::write_plain;

use crate::cargo_metaspy::graph::{Graph, Package};

/// The directory with the fingerprints of what was compiled.
const FINGERPRINTS: &str = ".fingerprint";

/// Copies the crates of a profile that have no hooks, if nothing of the profile was compiled with hooks so far. Returns
/// their number.
pub fn copy(graph: &Graph, plan: &Plan, target: Option<&str>, profile: &str, target_dir: &Path) -> usize {
    let is_woven = |root: &Path| plan.targets.get(root).is_some_and(|target| target.is_woven);
    let mut packages = BTreeMap::new();
    for package in graph.downloaded() {
        let roots = package.targets.iter().filter_map(|target| fs::canonicalize(&target.src_path).ok());
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
    copies.filter(|copies| !copies.to.join(FINGERPRINTS).exists()).map(|copies| copies.all()).sum()
}

/// Copies from one directory of a profile to another one.
struct Copies<'c> {
    from: PathBuf,
    to: PathBuf,
    plan: &'c Plan,
    /// The packages whose crates are copied, by the files of their roots.
    packages: &'c BTreeMap<PathBuf, &'c Package>,
}

impl Copies<'_> {
    fn all(&self) -> usize {
        let libraries = paths(&self.from.join("deps")).filter(|path| path.extension().is_some_and(|it| it == "d"));
        let libraries = libraries.filter(|path| self.library(path).is_ok_and(|is_copied| is_copied)).count();
        let names: BTreeSet<&str> = self.packages.values().map(|package| package.name.as_str()).collect();
        for directory in paths(&self.from.join("build")) {
            if unit_of(&directory).is_some_and(|(name, _)| names.contains(name)) {
                // Without it, cargo runs the build script again.
                _ = self.build_script(&directory);
            }
        }
        libraries
    }

    /// Copies the results of a library. `depends` is the file that names what it depends on.
    fn library(&self, depends: &Path) -> io::Result<bool> {
        let text = read_whole_text(depends)?;
        let Some(root) = root_of(&text).map(fs::canonicalize).transpose()? else { return Ok(false) };
        let Some(package) = self.packages.get(&root) else { return Ok(false) };
        let Some((_, hash)) = unit_of(depends) else { return Ok(false) };
        let unit = format!("{}-{hash}", package.name);
        let results = depends.file_stem().unwrap_or_default().to_string_lossy();
        let fingerprint = self.from.join(FINGERPRINTS).join(&unit);
        if !fingerprint.is_dir() {
            return Ok(false);
        }
        let deps = self.to.join("deps");
        fs::create_dir_all(&deps)?;
        for [prefix, suffix] in
            [["", ".d"], ["lib", ".rlib"], ["lib", ".rmeta"], ["lib", ".so"], ["lib", ".dylib"], ["", ".dll"]]
        {
            let file = format!("{prefix}{results}{suffix}");
            let original = depends.with_file_name(&file);
            if original.is_file() {
                copy_file(&original, &deps.join(file))?;
            }
        }
        write_plain(&self.plan.dir, package.spec(), root, &deps, &results).map_err(io::Error::other)?;
        // What has no fingerprint, cargo compiles. So this is last.
        copy_directory(&fingerprint, &self.to.join(FINGERPRINTS).join(unit))?;
        Ok(true)
    }

    /// Copies a build script, or what it has made.
    fn build_script(&self, directory: &Path) -> io::Result<()> {
        let unit = directory.file_name().unwrap_or_default();
        copy_directory(directory, &self.to.join("build").join(unit))?;
        let fingerprint = self.from.join(FINGERPRINTS).join(unit);
        copy_directory(&fingerprint, &self.to.join(FINGERPRINTS).join(unit))
    }
}

/// The name and the hash of a file or directory of cargo's: `NAME-HASH`.
fn unit_of(path: &Path) -> Option<(&str, &str)> {
    let stem = if path.extension().is_some_and(|it| it == "d") { path.file_stem() } else { path.file_name() };
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
        assert_eq!(root("/t/a.d: /my\\ c/src/lib.rs /c/src/b.rs\n").as_deref(), Some("/my c/src/lib.rs"));
        assert_eq!(root("C:\\t\\a.d: C:\\c\\lib.rs\n").as_deref(), Some("C:\\c\\lib.rs"));
        assert_eq!([root(""), root("/t/a.d:"), root("/t/a.d: \n")], [None, None, None]);
    }
}
