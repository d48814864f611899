//! In place of the compiler: cargo starts this command for each crate, with the command line of
//! `rustc`.
//!
//! A crate of the plan is compiled from a woven copy that seems to have the path of the original.
//! If that fails, and for all other crates, the original is compiled.
//!
//! Weaving sets no flags in the environment. The command adds the flags of the core in place of the
//! compiler, because `RUSTFLAGS` replaces everything that cargo's configuration sets.

mod arguments;
mod compile;
mod diagnostics;
pub mod doc_tests;
mod fallback;
mod link_core;
mod listing;
mod overlay;
mod stamp;
mod unnamed;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

use crate::plan::{CHAIN, PLAN, Plan, Target};
use crate::runtime::{self, ALONE, BUILDS_CORE};
use arguments::Arguments;
use metaspy_reader::text::print_message;

pub use arguments::adds_core_to_libraries;
pub use listing::{
    EarlierLists, FORMAT, Left, Listing, Method, SharedLibrary, Uncarried, listings,
};
pub use stamp::{CrateStamp, PLAIN, stamps, write_plain};

/// True if cargo started this process in place of the compiler.
pub fn is_wanted(first: Option<&OsStr>) -> bool {
    if doc_tests::is_wanted(first) {
        return true;
    }
    let is_set = |name| std::env::var_os(name).is_some();
    (is_set(PLAN) || is_set(BUILDS_CORE)) && first.is_some_and(|first| first != "metaspy")
}

/// Compiles a crate, or tests its documentation. `arguments` are the compiler and its arguments.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    if doc_tests::is_wanted(arguments.first().map(OsString::as_os_str)) {
        return doc_tests::run(arguments);
    }
    // A wrapper of the workspace's crates comes before the compiler, whose own arguments begin with
    // a flag.
    let is_flag = |argument: &&OsString| {
        argument.as_encoded_bytes().first().is_some_and(|first| b"-@".contains(first))
    };
    let words = arguments.iter().take_while(|argument| !is_flag(argument)).count();
    let compiler: Vec<OsString> =
        std::env::var_os(CHAIN).into_iter().chain(arguments[..words].iter().cloned()).collect();
    let arguments = Arguments::new(arguments.into_iter().skip(words));
    if std::env::var_os(BUILDS_CORE).is_some() {
        return plain(&compiler, &arguments.with(&ALONE));
    }
    match woven(&compiler, &arguments) {
        Ok(Some(code)) => code,
        Ok(None) => plain(&compiler, &arguments),
        Err(error) => {
            // The stamp is of an earlier build. If it cannot be written, the warning below reports
            // that.
            let _ = forget(&arguments);
            let code = plain(&compiler, &arguments);
            // Otherwise the compiler has reported errors that have nothing to do with weaving.
            if code == ExitCode::SUCCESS {
                let krate = arguments.crate_name().unwrap_or("a crate");
                print_message(&format!(
                    "warning: metaspy: {krate} has no hooks in this build, the next build adds them: {error:#}"
                ));
            }
            code
        }
    }
}

/// Marks a selected crate as compiled without hooks, so that the next build weaves it.
fn forget(arguments: &Arguments) -> Result<()> {
    let plan = plan()?;
    listing::forget(&plan, &arguments.unit());
    stamp::write(&plan, arguments, None)
}

/// Compiles a crate without hooks.
fn plain(compiler: &[OsString], arguments: &Arguments) -> ExitCode {
    let mut command = command(compiler);
    command.args(arguments.all());
    match command.status() {
        Ok(status) => exit_code(status),
        Err(error) => {
            print_message(&format!("error: metaspy: the compiler cannot be started: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Compiles a crate of the plan; `None` if the plan does not contain it.
fn woven(compiler: &[OsString], arguments: &Arguments) -> Result<Option<ExitCode>> {
    let Some(root) = arguments.root() else { return Ok(None) };
    let plan = plan()?;
    if !is_of_this_build(&plan, arguments) {
        return Ok(None);
    }
    let absolute = std::env::current_dir()?.join(root);
    let target = target(&plan, arguments, &absolute);
    if !arguments.is_build_script() {
        stamp::write(&plan, arguments, target)?;
    }
    let Some(target) = target else { return Ok(None) };
    let hooks = runtime::hooks(compiler, arguments.target(), &plan.cache)?;
    if let Some(libraries) = arguments.out_dir().filter(|_| !arguments.is_program()) {
        hooks.put_beside(&libraries)?;
    }
    compile::compile(&compile::Crate {
        compiler,
        arguments,
        plan: &plan,
        target,
        root: &absolute,
        hooks: &hooks,
    })
    .map(Some)
}

/// True for crates of this build. A build script or a program may start cargo itself: its results
/// are elsewhere, and have no hooks.
fn is_of_this_build(plan: &Plan, arguments: &Arguments) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let out_dir = arguments.out_dir().unwrap_or_default();
    real(&out_dir).starts_with(real(plan.dir.parent().unwrap_or(&plan.dir)))
}

fn target<'p>(plan: &'p Plan, arguments: &Arguments, root: &Path) -> Option<&'p Target> {
    let target = plan.targets.get(&std::fs::canonicalize(root).ok()?)?;
    // A library that is compiled as a program is its own test.
    let needs_core = target.needs_core && arguments.takes_core();
    let has_tests = target.has_tests && arguments.is_test();
    (target.is_woven || needs_core || has_tests).then_some(target)
}

fn plan() -> Result<Plan> {
    Plan::read(Path::new(
        &std::env::var_os(PLAN)
            .context("METASPY_WEAVE_PLAN is not set: run this through `cargo metaspy`")?,
    ))
}

fn command(compiler: &[OsString]) -> Command {
    let (program, before) = compiler.split_first().expect("cargo names the compiler first");
    let mut command = Command::new(program);
    command.args(before);
    command
}

/// The exit code of a process; for a signal, the shell's code.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    #[cfg(unix)]
    let signal = std::os::unix::process::ExitStatusExt::signal(&status).map(|signal| 128 + signal);
    #[cfg(not(unix))]
    let signal = None;
    ExitCode::from(status.code().or(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// A flag and a path, in one word.
fn prefixed(flag: &str, path: &Path) -> OsString {
    let mut word = OsString::from(flag);
    word.push(path);
    word
}
