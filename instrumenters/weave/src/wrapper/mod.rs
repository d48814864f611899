//! In place of the compiler: cargo starts this command for each crate, with the command line of `rustc`.
//!
//! A crate that the plan does not name is compiled as it is. Of one that it does a woven copy is compiled, as if it stood
//! where the original stands; and whatever goes wrong with that, the original is.

mod arguments;
mod attempt;
mod choice;
mod dep_info;
mod diagnostics;
mod linked;
mod listing;
mod mirror;
mod record;

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result};

use crate::plan::{CHAIN, PLAN, Plan, Target};
use crate::runtime;
use arguments::Arguments;

pub use listing::{FORMAT, Left, Listing, Method, listings};
pub use record::{PLAIN, Record, records};

/// Whether cargo started this process in place of the compiler.
pub fn is_wanted(first: Option<&OsStr>) -> bool {
    std::env::var_os(PLAN).is_some() && first.is_some_and(|first| first != "metaspy")
}

/// Compiles a crate. `arguments` are the compiler and what it is told.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    // A wrapper of the workspace's crates stands before the compiler, whose own arguments begin with a flag.
    let is_flag = |argument: &&OsString| argument.as_encoded_bytes().first().is_some_and(|first| b"-@".contains(first));
    let words = arguments.iter().take_while(|argument| !is_flag(argument)).count();
    let compiler: Vec<OsString> =
        std::env::var_os(CHAIN).into_iter().chain(arguments[..words].iter().cloned()).collect();
    let arguments = Arguments::new(arguments.into_iter().skip(words));
    match woven(&compiler, &arguments) {
        Ok(Some(code)) => code,
        Ok(None) => plain(&compiler, &arguments),
        Err(error) => {
            let krate = arguments.crate_name().unwrap_or("a crate");
            eprintln!("warning: metaspy: {krate} is compiled as it is, and woven when it is built again: {error:#}");
            // What stands there is of an earlier build; if not even this can be written, that is said already.
            let _ = forget(&arguments);
            plain(&compiler, &arguments)
        }
    }
}

/// Notes that a crate is compiled as it is though it is selected, so that the next build weaves it.
fn forget(arguments: &Arguments) -> Result<()> {
    let plan = plan()?;
    listing::forget(&plan, &arguments.unit());
    record::write(&plan, arguments, None)
}

/// Compiles a crate as it is. Crates that it depends on may be woven, so the compiler is told where the hooks are.
fn plain(compiler: &[OsString], arguments: &Arguments) -> ExitCode {
    let mut command = command(compiler);
    command.args(arguments.all());
    if arguments.root().is_some()
        && let Ok(hooks) = hooks(compiler, arguments)
    {
        command.arg("-L").arg(prefixed("dependency=", &hooks.dir));
    }
    match command.status() {
        Ok(status) => code(status),
        Err(error) => {
            eprintln!("error: metaspy: the compiler cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compiles a crate of the plan; `None` if it is none.
fn woven(compiler: &[OsString], arguments: &Arguments) -> Result<Option<ExitCode>> {
    let Some(root) = arguments.root() else { return Ok(None) };
    let plan = plan()?;
    let absolute = std::env::current_dir()?.join(root);
    let target = target(&plan, arguments, &absolute);
    if !arguments.is_build_script() {
        record::write(&plan, arguments, target)?;
    }
    let Some(target) = target else { return Ok(None) };
    let hooks = hooks(compiler, arguments)?;
    attempt::compile(&attempt::Crate { compiler, arguments, plan: &plan, target, root: &absolute, hooks: &hooks })
        .map(Some)
}

fn target<'p>(plan: &'p Plan, arguments: &Arguments, root: &Path) -> Option<&'p Target> {
    let target = plan.targets.get(&std::fs::canonicalize(root).ok()?)?;
    // A library that is compiled as a program is its test; where the plan says so.
    let needs_core = target.needs_core && arguments.is_program();
    let has_tests = target.has_tests && arguments.is_test();
    (target.is_woven || needs_core || has_tests).then_some(target)
}

fn plan() -> Result<Plan> {
    Plan::read(Path::new(&std::env::var_os(PLAN).context("this is no part of `cargo metaspy`")?))
}

fn hooks(compiler: &[OsString], arguments: &Arguments) -> Result<runtime::Hooks> {
    runtime::hooks(compiler, arguments.target(), &plan()?.dir)
}

fn command(compiler: &[OsString]) -> Command {
    let (program, before) = compiler.split_first().expect("cargo names the compiler first");
    let mut command = Command::new(program);
    command.args(before);
    command
}

fn code(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// A flag and a path, in one word.
fn prefixed(flag: &str, path: &Path) -> OsString {
    let mut word = OsString::from(flag);
    word.push(path);
    word
}
