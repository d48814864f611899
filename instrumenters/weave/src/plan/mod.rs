//! The plan: what the command tells the wrappers that cargo starts, one for each crate.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

mod function_selector;
mod selection;
mod subject;

pub use function_selector::{FunctionSelector, FunctionSelectorError};
pub use selection::{Selection, Selectors};
pub use subject::{SubjectError, SubjectOf};

/// The environment variable that has the plan's path.
pub const PLAN: &str = "METASPY_WEAVE_PLAN";
/// The environment variable that has the wrapper that was there before.
pub const CHAIN: &str = "METASPY_WEAVE_CHAIN";

/// What is woven, and with what.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The directory of everything that weaving writes.
    pub dir: PathBuf,
    /// What is selected.
    pub selection: Selection,
    /// By the file of their root, the crates that are not compiled as they are.
    pub targets: BTreeMap<PathBuf, Target>,
    /// A core for programs that have none.
    pub core: Option<Core>,
}

/// A crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The package, as cargo takes it: `name@version`.
    pub package: String,
    /// The crate's name in paths.
    pub krate: String,
    /// The directory of its package.
    pub root: PathBuf,
    /// Whether functions of it are selected.
    pub is_woven: bool,
    /// Whether it has tests, which are told apart where it is compiled to be tested.
    pub has_tests: bool,
    /// Whether it is a program that needs a core.
    pub needs_core: bool,
    /// Whose change makes it be compiled again.
    pub stamp: String,
}

/// A core that was built for programs that have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// Its library.
    pub library: PathBuf,
    /// Where the libraries are that it needs, and the procedural macros that these were made with.
    pub dependencies: Vec<PathBuf>,
    /// Libraries of profilers that were built with it.
    #[serde(default)]
    pub profilers: Vec<PathBuf>,
}

impl Plan {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = fs::read(path).with_context(|| format!("the plan {} cannot be read", path.display()))?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Writes it; where it stands says what is in it, so that two runs at once do not meet.
    pub fn write(&self) -> Result<PathBuf> {
        let text = serde_json::to_string_pretty(self)?;
        let path = self.dir.join("plans").join(format!("{}.json", stamp([&text])));
        write_whole(&path, text.as_bytes())?;
        Ok(path)
    }
}

/// A name for texts.
pub fn stamp<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let mut hasher = DefaultHasher::new();
    texts.into_iter().for_each(|text| text.as_ref().hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

/// Writes a file so that nobody ever sees a part of it.
pub fn write_whole(path: &Path, text: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", std::process::id()));
    let part = path.with_file_name(name);
    fs::write(&part, text)?;
    fs::rename(&part, path)
}
