//! The list of the functions of a crate that were woven, and of those that were not.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::plan::MAY_READ;
use crate::plan::{Content, File, Plan, Target, read_whole, write_whole};
use crate::source::{CrateSource, SelfKind, Visibility};

/// The version of the lists. A crate with a list of another version is woven again.
pub const FORMAT: &str = "listing 11";

/// The reason of a function whose hook was removed.
const REFUSED: &str = "the compiler refuses the hook";
/// The reason of a hook that sees less than requested.
const REFUSED_MORE: &str = "the compiler refuses the hook that sees more";

/// The woven functions of a crate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The package.
    pub package: String,
    /// The stamp that the crate was compiled with.
    pub stamp: String,
    /// The file of its root.
    pub root: PathBuf,
    /// Whether a core counts the calls of its shared library.
    #[serde(default)]
    pub shared_library: SharedLibrary,
    /// The files that it was compiled from, with their state.
    pub sources: Vec<Content>,
    /// Functions with a hook.
    pub woven: Vec<Method>,
    /// Functions whose hook sees less than requested.
    #[serde(default)]
    pub light: Vec<Left>,
    /// Selected functions without a hook.
    pub skipped: Vec<Left>,
    /// Calls that spawn work and do not carry its cause, because the compiler refuses it.
    #[serde(default)]
    pub uncarried: Vec<Uncarried>,
    /// Calls of item macros in files with selected functions.
    pub macros: usize,
    /// Derived traits in these files.
    pub derives: usize,
}

/// A shared library, which programs load while they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SharedLibrary {
    /// The crate has none, or has a core without the help of this build.
    #[default]
    None,
    /// The library has a core, so its calls are in a recording of its own.
    Counting,
    /// The library has no core, so its calls are not counted.
    WithoutCore,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Method {
    /// `crate::module::Type::Trait::method`.
    pub path: String,
    /// Its file, as `file!()` gives it.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// The number of its lines.
    pub lines: u32,
    /// Its cyclomatic complexity.
    pub complexity: u32,
    /// True for an async function.
    pub is_async: bool,
    /// Its module: `crate::module`.
    pub module: String,
    /// The type of its `impl`.
    pub ty: Option<String>,
    /// The trait that it implements, or, without a type, the trait whose default method it is.
    pub of_trait: Option<String>,
    /// The type arguments of the type, and those of the trait.
    #[serde(default)]
    pub type_arguments: String,
    #[serde(default)]
    #[expect(missing_docs)]
    pub trait_arguments: String,
    /// The supertraits of the trait, for a default method.
    pub supertraits: Vec<String>,
    /// How it takes `self`.
    pub receiver: SelfKind,
    /// Who may call it.
    pub seen: Visibility,
    /// True for a closure.
    pub is_closure: bool,
    /// True for a test.
    pub is_test: bool,
    /// True if only builds of tests contain it.
    #[serde(default)]
    pub is_test_only: bool,
}

/// A call that spawns work without its cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uncarried {
    /// The called function, as it is written.
    pub door: String,
    /// Its file, as `file!()` gives it.
    pub file: String,
    /// Its first line.
    pub line: u32,
    /// The compiler's message.
    pub message: Option<String>,
}

/// A function without a hook, or with a smaller one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Left {
    /// The function, or a file.
    #[serde(flatten)]
    pub method: Method,
    /// The reason.
    pub reason: String,
    /// The compiler's message, if the compiler refuses the hook.
    #[serde(default)]
    pub message: Option<String>,
    /// The option that asked for the refused hook, if the user named the function or its subject.
    #[serde(default)]
    pub asked_by: Option<String>,
}

impl Left {
    /// A function, and the reason why it has no hook, or a smaller one.
    pub(super) fn new(method: Method, reason: &str) -> Left {
        Left { method, reason: reason.to_owned(), message: None, asked_by: None }
    }

    fn with(self, message: Option<&str>, asked_by: Option<&str>) -> Left {
        Left { message: message.map(str::to_owned), asked_by: asked_by.map(str::to_owned), ..self }
    }

    /// True if the compiler refuses the hook, and the function has none.
    pub fn is_refused(&self) -> bool {
        self.reason == REFUSED
    }

    /// True if an attribute of unknown effect keeps the hook away.
    pub fn is_below_attribute(&self) -> bool {
        self.reason.contains(MAY_READ)
    }
}

impl Listing {
    /// An empty list for a crate.
    pub fn of(target: &Target, root: &Path, shared_library: SharedLibrary) -> Self {
        Listing {
            package: target.package.clone(),
            stamp: target.stamp.clone(),
            root: root.to_owned(),
            shared_library,
            ..Listing::default()
        }
    }

    /// Adds the files of this source, with their present state.
    pub(crate) fn with_files(mut self, source: &CrateSource) -> Self {
        let files = source.files.iter().map(|file| &file.path).chain(&source.missing);
        self.sources = files.cloned().map(Content::at).collect();
        self
    }

    /// Adds a function, with the reason why it has no hook, or why its hook sees less than
    /// requested.
    pub(super) fn add(&mut self, method: &Method, skipped: Option<&str>, less: Option<&str>) {
        match skipped {
            Some(reason) => self.skipped.push(Left::new(method.clone(), reason)),
            None => self.woven.push(method.clone()),
        }
        if skipped.is_none() {
            self.light.extend(less.map(|reason| Left::new(method.clone(), reason)));
        }
    }

    /// Records that the compiler refuses a function's hook, and accepts one that sees less.
    pub(super) fn lighten(
        &mut self,
        method: &Method,
        message: Option<&str>,
        asked_by: Option<&str>,
    ) {
        self.light.retain(|light| light.method != *method);
        self.light.push(Left::new(method.clone(), REFUSED_MORE).with(message, asked_by));
    }

    /// Records that the compiler refuses any hook of a function.
    pub(super) fn leave(&mut self, method: &Method, message: Option<&str>, asked_by: Option<&str>) {
        self.woven.retain(|woven| woven != method);
        self.light.retain(|light| light.method != *method);
        self.skipped.push(Left::new(method.clone(), REFUSED).with(message, asked_by));
    }

    /// Writes the list.
    pub fn write(&self, plan: &Plan, unit: &str) -> Result<()> {
        Ok(write_whole(&place(plan, unit), &serde_json::to_vec(self)?)?)
    }
}

/// Removes the list of a crate that is compiled without hooks.
pub fn forget(plan: &Plan, unit: &str) {
    let _ = fs::remove_file(place(plan, unit));
}

fn place(plan: &Plan, unit: &str) -> PathBuf {
    plan.dir.join("listings").join(format!("{unit}.json"))
}

/// All lists, with their files.
pub fn listings(dir: &Path) -> Vec<(File, Listing)> {
    let entries = fs::read_dir(dir.join("listings"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| File::at(entry.path()));
    entries
        .filter_map(|file| {
            Some((file.clone(), serde_json::from_slice(&read_whole(file.path()).ok()?).ok()?))
        })
        .collect()
}

/// The lists before a build.
#[derive(Debug, Default)]
pub struct EarlierLists {
    all: Vec<File>,
    outdated: Vec<File>,
}

impl EarlierLists {
    /// Reads them.
    pub fn read(dir: &Path) -> EarlierLists {
        let mut earlier = EarlierLists::default();
        for (file, listing) in listings(dir) {
            if !listing.sources.iter().all(Content::is_same) {
                earlier.outdated.push(file.clone());
            }
            earlier.all.push(file);
        }
        earlier
    }

    /// True if a list was there before, so that the build did not compile its crate.
    pub fn has(&self, file: &File) -> bool {
        self.all.contains(file)
    }

    /// True if a list was there before, and its crate's source has changed. Cargo compiles such a
    /// crate again if it is needed, and then its list is written again.
    pub fn is_outdated(&self, file: &File) -> bool {
        self.outdated.contains(file)
    }
}
