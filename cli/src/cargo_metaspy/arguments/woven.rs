//! What is woven, and what is done with it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use metaspy_weave::plan::Selection;

/// What is woven, and what is done with it.
#[derive(Debug, Args)]
#[command(override_usage = "cargo metaspy <COMMAND> [CARGO ARGUMENTS] [OPTIONS] [-- ARGUMENTS OF THE PROGRAM]")]
pub struct Woven {
    /// Functions that get a hook: `taffy::compute::**`, `Scene::measure`, `pub ** -> *Result<*>`, `#[inline] **`,
    /// `** lines>=10` [default: those of the workspace's crates]
    #[arg(long, value_name = "SELECTOR")]
    pub weave: Vec<String>,
    /// Functions that get none though they are selected
    #[arg(long, value_name = "SELECTOR")]
    pub without: Vec<String>,
    /// Sees what functions return, too: a hook stands around the body where the function can take it
    #[arg(long)]
    pub returns: bool,
    /// Sees arguments, too: those of parameters with a plain name
    #[arg(long)]
    pub args: bool,
    /// Closures of these functions get a hook, too: `Scene::measure::{closure#1}` is the first of `Scene::measure`
    #[arg(long)]
    pub closures: bool,
    /// What calls are about, where it is not the object itself: a parameter or a path from one, as in
    /// `taffy::*::compute_child_layout=node_id` or `Scene::*=self.id`
    #[arg(long, value_name = "SELECTOR=PARAMETER")]
    pub subject: Vec<String>,
    /// Starts a profiler: `coverage` (objects and tests; the default with `test`, `--returns` and `--args`), `calls` (times,
    /// callers and callees), or one of your own; `none`: no default
    #[arg(long, value_name = "NAME")]
    pub spy: Vec<String>,
    /// Takes the time of each call: `--spy calls`
    #[arg(long)]
    pub timed: bool,
    /// Builds the profiler crate in this directory and links programs with it; `cargo metaspy new` makes one
    #[arg(long, value_name = "DIRECTORY")]
    pub profiler: Vec<PathBuf>,
    /// Prints packages, their types and their methods, instead of the most frequent functions
    #[arg(long)]
    pub tree: bool,
    /// Prints who calls these functions, and whom they call
    #[arg(long, value_name = "SELECTOR")]
    pub callers: Option<String>,
    /// So many functions in the table, and types in each list; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,
    /// Writes what was woven, what was not, and what ran into this file: docs/weaving.md says what stands where
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Writes which functions ran, for editors and coverage services that read lcov
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Writes which functions ran, for services that read Cobertura's XML
    #[arg(long, value_name = "FILE")]
    pub cobertura: Option<PathBuf>,
    /// Arguments of cargo and of the program
    #[arg(last = true, hide = true)]
    pub cargo: Vec<OsString>,
}

impl Woven {
    /// The rows of a table; `None` for all.
    pub fn top(&self) -> Option<usize> {
        (self.top > 0).then_some(self.top)
    }

    /// Which functions are meant, and how much of their calls is seen.
    pub fn selection(&self) -> Selection {
        Selection {
            weave: self.weave.clone(),
            without: self.without.clone(),
            closures: self.closures,
            returns: self.returns,
            args: self.args,
            subjects: self.subject.clone(),
        }
    }
}
