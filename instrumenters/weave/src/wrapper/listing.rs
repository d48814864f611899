//! The list of what was woven into a crate and what was not.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::plan::{Plan, Target, write_whole};
use crate::source::{CrateSource, SelfKind, Visibility};
use crate::wrapper::file_state::{File, Source};

/// Changes with what is written down of functions: what was listed otherwise is woven again.
pub const FORMAT: &str = "listing 5";

/// What became of a crate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The package.
    pub package: String,
    /// The stamp that the crate was compiled with.
    pub stamp: String,
    /// The file of its root.
    pub root: PathBuf,
    /// The files that it was compiled from, as they were.
    pub sources: Vec<Source>,
    /// Functions with a hook.
    pub woven: Vec<Method>,
    /// Those of them whose hook sees less than was asked for.
    #[serde(default)]
    pub light: Vec<Left>,
    /// Functions that were selected and have none.
    pub skipped: Vec<Left>,
    /// Calls of macros where items stand, in files with selected functions.
    pub macros: usize,
    /// Traits that are derived there.
    pub derives: usize,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Method {
    /// `crate::module::Type::Trait::method`.
    pub path: String,
    /// Its file, as `file!()` says.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// How many it has.
    pub lines: u32,
    /// How many ways lead through it: its cyclomatic complexity.
    pub complexity: u32,
    /// Whether it is async.
    pub is_async: bool,
    /// The module that it stands in: `crate::module`.
    pub module: String,
    /// The type of the `impl` that it stands in.
    pub ty: Option<String>,
    /// The trait that it implements, or, without a type, that it is a default method of.
    pub of_trait: Option<String>,
    /// Of a default method, what its trait asks for besides.
    pub supertraits: Vec<String>,
    /// How it takes `self`.
    pub receiver: SelfKind,
    /// Who may call it.
    pub seen: Visibility,
    /// Whether it is a closure.
    pub is_closure: bool,
    /// Whether it is a test.
    pub is_test: bool,
}

/// A function that was left as it is, or whose hook sees less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Left {
    /// The function, or a file.
    #[serde(flatten)]
    pub method: Method,
    /// Why.
    pub reason: String,
    /// What the compiler said, if it is what refuses.
    #[serde(default)]
    pub said: Option<String>,
}

impl Listing {
    /// Of a crate in which nothing was looked at yet.
    pub fn of(target: &Target, root: &Path) -> Self {
        Listing {
            package: target.package.clone(),
            stamp: target.stamp.clone(),
            root: root.to_owned(),
            ..Listing::default()
        }
    }

    /// With the files of this source, as they are now.
    pub fn with_files(mut self, source: &CrateSource) -> Self {
        let files = source.files.iter().map(|file| &file.path).chain(&source.missing);
        self.sources = files.cloned().map(Source::at).collect();
        self
    }

    /// Adds a function: why it has no hook, or why that sees less than was asked for.
    pub(super) fn add(&mut self, method: &Method, skipped: Option<&str>, less: Option<&str>) {
        let left = |reason: &str| Left { method: method.clone(), reason: reason.to_owned(), said: None };
        match skipped {
            Some(reason) => self.skipped.push(left(reason)),
            None => self.woven.push(method.clone()),
        }
        if skipped.is_none() {
            self.light.extend(less.map(left));
        }
    }

    /// A function's hook sees less.
    pub(super) fn lighten(&mut self, method: &Method, reason: &str, said: Option<&str>) {
        self.light.retain(|light| light.method != *method);
        let said = said.map(str::to_owned);
        self.light.push(Left { method: method.clone(), reason: reason.to_owned(), said });
    }

    /// A function has no hook after all. One that was not selected is in no list.
    pub(super) fn leave(&mut self, method: &Method, is_alone: bool, reason: &str, said: Option<&str>) {
        if is_alone {
            return;
        }
        self.woven.retain(|woven| woven != method);
        self.light.retain(|light| light.method != *method);
        let said = said.map(str::to_owned);
        self.skipped.push(Left { method: method.clone(), reason: reason.to_owned(), said });
    }

    /// Writes it down.
    pub fn write(&self, plan: &Plan, unit: &str) -> Result<()> {
        Ok(write_whole(&place(plan, unit), &serde_json::to_vec(self)?)?)
    }
}

/// Removes the list of a crate that is compiled as it is.
pub fn forget(plan: &Plan, unit: &str) {
    let _ = fs::remove_file(place(plan, unit));
}

fn place(plan: &Plan, unit: &str) -> PathBuf {
    plan.dir.join("listings").join(format!("{unit}.json"))
}

/// All of them, with the files that they stand in.
pub fn listings(dir: &Path) -> Vec<(File, Listing)> {
    let entries =
        fs::read_dir(dir.join("listings")).into_iter().flatten().flatten().map(|entry| File::at(entry.path()));
    entries
        .filter_map(|file| Some((file.clone(), serde_json::from_slice(&fs::read(file.path()).ok()?).ok()?)))
        .collect()
}

/// Those of crates whose source is another one now. Cargo compiles such a crate again if it is asked for, and its list is
/// written anew.
pub fn outdated(dir: &Path) -> Vec<File> {
    let is_outdated = |listing: &Listing| !listing.sources.iter().all(Source::is_same);
    listings(dir).into_iter().filter(|(_, listing)| is_outdated(listing)).map(|(file, _)| file).collect()
}
