//! In place of rustdoc: documentation tests are linked with the core, so that their calls are
//! counted.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs, io};

use anyhow::{Context, Result, bail};
use metaspy_reader::text::print_message;

use crate::plan::{Core, Plan, write_whole};
use crate::wrapper::{Arguments, exit_code, link_core, plan, target};

/// The environment variable that has the rustdoc of the user.
pub const RUSTDOC: &str = "METASPY_WEAVE_RUSTDOC";
/// The file of a run's directory with a line for each thing that could not be counted.
pub const UNCOUNTED: &str = "uncounted";

/// True if cargo started this process in place of rustdoc, whose first argument is a flag.
pub fn is_wanted(first: Option<&OsStr>) -> bool {
    env::var_os(RUSTDOC).is_some()
        && first.is_some_and(|first| first.as_encoded_bytes().starts_with(b"-"))
}

/// Runs rustdoc.
pub fn run(words: Vec<OsString>) -> ExitCode {
    let mut rustdoc = Command::new(env::var_os(RUSTDOC).unwrap_or_else(|| "rustdoc".into()));
    rustdoc.args(&words);
    if words.iter().any(|word| word == "--test") {
        let arguments = Arguments::new(words.into_iter());
        match core_arguments(&arguments) {
            Ok(more) => {
                rustdoc.args(more);
            }
            Err(error) => {
                let krate = arguments.crate_name().unwrap_or("a crate");
                // The results of the run repeat it.
                print_message(&format!(
                    "warning: metaspy: documentation tests of {krate} are not counted: {error:#}"
                ));
                note(&format!("the documentation tests of {krate} are not counted"));
            }
        }
    }
    match rustdoc.status() {
        Ok(status) => exit_code(status),
        Err(error) => {
            print_message(&format!("error: metaspy: rustdoc cannot be started: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// The arguments that link the core; none for a crate that brings a core of its own, and for crates
/// without hooks.
fn core_arguments(arguments: &Arguments) -> Result<Vec<OsString>> {
    let Some(root) = arguments.root() else { return Ok(Vec::new()) };
    let plan = plan()?;
    let target = target(&plan, arguments, &env::current_dir()?.join(root));
    let Some(core) = plan.core.as_ref().filter(|_| target.is_some_and(|target| target.needs_core))
    else {
        return Ok(Vec::new());
    };
    let link = link_core::arguments(core);
    try_to_link(&plan, core, arguments, &link)?;
    if plan.selection.allocations {
        let krate = arguments.crate_name().unwrap_or("a crate");
        note(&format!("objects that the documentation tests of {krate} allocate are not counted"));
    }
    Ok(link)
}

/// Links an empty program first, because a documentation test that cannot be linked fails.
fn try_to_link(plan: &Plan, core: &Core, arguments: &Arguments, link: &[OsString]) -> Result<()> {
    let dir = plan.dir.join("doc-tests").join(std::process::id().to_string());
    fs::create_dir_all(&dir)?;
    let source = dir.join("empty.rs");
    write_whole(&source, b"fn main() {}\n")?;
    let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc
        .arg(&source)
        .arg("-o")
        .arg(dir.join("empty"))
        .args(arguments.code_generation())
        .args(link);
    let output = rustc.stdin(Stdio::null()).output();
    let _ = fs::remove_dir_all(&dir);
    let output = output.context("rustc cannot be started")?;
    if !output.status.success() {
        bail!("{} cannot be linked with them{}", core.library.display(), reason(&output.stderr));
    }
    Ok(())
}

/// Returns the message of the compiler or the linker in a line: the first error that says more than
/// that linking failed.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let (_, reasons) = text.split_once(" failed: ").unwrap_or(("", &text));
    let reason = reasons.lines().find_map(|line| line.split_once("error: "));
    reason.map(|(_, reason)| format!(": {}", reason.trim())).unwrap_or_default()
}

/// Adds a line to this run's list of documentation tests that are not counted.
fn note(line: &str) {
    let (Some(dir), Some(run)) = (env::var_os("METASPY_DIR"), env::var_os("METASPY_RUN")) else {
        return;
    };
    let path = PathBuf::from(dir).join(run).join(UNCOUNTED);
    // The message above was printed.
    let _ = append(&path, line);
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = fs::File::options().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
