//! The plan, which the command passes to the wrappers that cargo starts, one for each crate.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

mod file_state;
mod function_selector;
mod own_files;
mod selection;
mod subject;

pub use file_state::{Content, File};
pub use function_selector::{FunctionSelector, FunctionSelectorError};
pub(crate) use own_files::create_anew;
pub use own_files::{open_lock, read_whole, read_whole_text, write_whole};
pub(crate) use selection::MAY_READ;
pub use selection::{Entries, Selection, Selectors};
pub use subject::{SubjectError, SubjectOf};

/// The environment variable that has the plan's path.
pub const PLAN: &str = "METASPY_WEAVE_PLAN";
/// The environment variable that has the wrapper that was there before.
pub const CHAIN: &str = "METASPY_WEAVE_CHAIN";

/// The woven functions, and the core that programs get.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The directory of everything that weaving writes.
    pub dir: PathBuf,
    /// The directory of the libraries that are built once for a compiler.
    pub cache: PathBuf,
    /// The selected functions.
    pub selection: Selection,
    /// The crates that are changed, by the file of their root.
    pub targets: BTreeMap<PathBuf, Target>,
    /// A core for programs that have none.
    pub core: Option<Core>,
}

/// A crate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The package, as an argument of cargo: `name@version`.
    pub package: String,
    /// The crate's name in paths.
    pub krate: String,
    /// The directory of its package.
    pub root: PathBuf,
    /// True if functions of it are selected.
    pub is_woven: bool,
    /// True if it has tests, which are distinguished if it is compiled as a test.
    pub has_tests: bool,
    /// True for a program that needs a core.
    pub needs_core: bool,
    /// A change of it makes cargo compile the crate again.
    pub stamp: String,
}

/// A core that was built for programs that have none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Core {
    /// Its library.
    pub library: PathBuf,
    /// The directories of the libraries and procedural macros that it needs.
    pub dependencies: Vec<PathBuf>,
    /// The libraries among them that it was built with. The directories may also have the results
    /// of another build, with or without profilers.
    pub libraries: Vec<PathBuf>,
    /// Libraries of profilers that were built with it.
    #[serde(default)]
    pub profilers: Vec<PathBuf>,
}

impl Plan {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Plan> {
        let text = read_whole(path)
            .with_context(|| format!("the plan {} cannot be read", path.display()))?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Writes it. The file name depends on the content, so that two runs at once do not disturb
    /// each other.
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
