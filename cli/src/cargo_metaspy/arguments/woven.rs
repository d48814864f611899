//! The options of `build`, `run`, `test`, `nextest` and `bench`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use metaspy_weave::plan::Selection;

use crate::options::{ContextOptions, FailUnderOption, JsonOption, TopOption};
use crate::outputs::{OutputPath, document};

/// The options of `build`, `run`, `test`, `nextest` and `bench`.
#[derive(Debug, Args)]
#[command(
    override_usage = "cargo metaspy <COMMAND> [CARGO ARGUMENTS] [OPTIONS] [-- ARGUMENTS OF THE PROGRAM]"
)]
pub struct Woven {
    /// Functions that get a hook: `taffy::compute::**`, `Scene::measure`, `pub ** -> *Result<*>`,
    /// `#[inline] **`, `** lines>=10` [default: those of the workspace's crates]
    #[arg(long, value_name = "SELECTOR")]
    pub weave: Vec<String>,
    /// Functions that get no hook although they are selected
    #[arg(long, value_name = "SELECTOR")]
    pub without: Vec<String>,
    /// Weaves functions below these attributes, too: an attribute that is not well known may be a
    /// macro that reads their code, and would read hooks as well
    #[arg(long, value_name = "ATTRIBUTE", value_delimiter = ',')]
    pub weave_attributes: Vec<String>,
    /// Records returned values, too: the hook is around the body of functions that allow it
    #[arg(long)]
    pub returns: bool,
    /// Records arguments, too, of parameters with a plain name, and counts calls with equal
    /// arguments on an unchanged receiver
    #[arg(long)]
    pub args: bool,
    /// With `--returns` and `--args`: runs `Debug`, `Hash` and `PartialEq` of all types on values
    /// of these functions. Otherwise only functions that other crates can call have values of types
    /// that are not std's: the others may return values that their callers complete
    #[arg(long, value_name = "SELECTOR")]
    pub trust: Vec<String>,
    /// Closures of these functions get a hook, too: `Scene::measure::{closure#1}` is the first of
    /// `Scene::measure`
    #[arg(long)]
    pub closures: bool,
    /// The subject of calls, if it is not the object itself: a parameter or a path from one, as in
    /// `taffy::*::compute_child_layout=node_id` or `Scene::*=self.id`
    #[arg(long, value_name = "SELECTOR=PARAMETER")]
    pub subject: Vec<String>,
    /// Records the types of receivers, arguments and returned values, and prints them: the types
    /// behind trait objects, the variants of enums, and what never arrived
    #[arg(long)]
    pub types: bool,
    /// Starts a method profiler: `coverage` (objects and tests; the default with `test`, `nextest`,
    /// `--returns` and `--args`), `calls` (times, callers and callees), `contexts` (the tree of
    /// calls), `allocations`, `types`, `repeats` (calls that compute again what an earlier one did;
    /// the default with `--args`), or one of your own; `none` does not start the default ones.
    /// Cargo's own `--profile` is `--cargo-profile` here
    #[arg(long, value_name = "NAME", value_parser = parse_profile)]
    pub profile: Vec<String>,
    /// Takes the time of each call: `--profile calls`
    #[arg(long)]
    pub timed: bool,
    /// Builds the profiler crate in this directory and links programs with it; `cargo metaspy new`
    /// makes one
    #[arg(long, value_name = "DIRECTORY")]
    pub profiler: Vec<PathBuf>,
    /// Prints packages, their types and their methods, instead of the most frequent functions
    #[arg(long)]
    pub tree: bool,
    /// Prints the callers and the callees of these functions
    #[arg(long, value_name = "SELECTOR")]
    pub callers: Option<String>,
    /// Prints the tree of calling contexts: what was called on which path of calls, and how often;
    /// with --timed, its time
    #[arg(long)]
    pub contexts: bool,
    /// Counts objects on the heap: who allocates how many bytes, and how long they live; with --contexts, in the tree
    #[arg(long)]
    pub allocations: bool,
    /// What of the tree is printed
    #[command(flatten)]
    pub shown: ContextOptions,
    /// Prints for each test the methods that it reached; with JSON, lists them
    #[arg(long)]
    pub by_test: bool,
    /// The least coverage
    #[command(flatten)]
    pub least: FailUnderOption,
    /// Compares with what --json=FILE wrote earlier; ends with 1 if a method ran there and does not
    /// now
    #[arg(long, value_name = "OLD.json")]
    pub baseline: Option<PathBuf>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// Writes which functions ran, for editors and coverage services that read lcov
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub lcov: Option<OutputPath>,
    /// Writes which functions ran, for services that read Cobertura's XML
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub cobertura: Option<OutputPath>,
    /// Draws the run into this file, a page for a browser: the coverage blueprint with `test`; with
    /// `run`, `bench` and `--timed` the structural blueprint. `metaspy blueprint` has further
    /// pictures
    #[arg(long, value_name = "FILE.html", value_parser = document())]
    pub blueprint: Option<OutputPath>,
    /// Arguments of cargo and of the program
    #[arg(last = true, hide = true)]
    pub cargo: Vec<OsString>,
}

impl Woven {
    /// The selected functions, and what their hooks record.
    pub fn selection(&self) -> Selection {
        Selection {
            weave: self.weave.clone(),
            without: self.without.clone(),
            closures: self.closures,
            returns: self.returns,
            args: self.args,
            types: self.types,
            subjects: self.subject.clone(),
            trust: self.trust.clone(),
            attributes: self.weave_attributes.clone(),
            allocations: self.allocations,
            entries: None,
        }
    }
}

/// The names of cargo's own profiles are refused, because `--profile release` most likely means one
/// of them.
fn parse_profile(name: &str) -> Result<String, String> {
    match name {
        "dev" | "release" | "test" | "bench" => Err(format!(
            "`{name}` is a profile of cargo, and --profile starts a method profiler: write --cargo-profile {name}"
        )),
        _ => Ok(name.to_owned()),
    }
}
