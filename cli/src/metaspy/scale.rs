//! The commands of the package `metaspy-scale`, which is installed apart from this one: its engines take long to build.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::exit::{Ended, say};

/// The program that has the commands.
const PROGRAM: &str = "metaspy-scale";

/// Runs a command of [`PROGRAM`] in place of this process, with these arguments.
pub fn run(command: &str, arguments: &[OsString]) -> Result<Ended> {
    let mut program = Command::new(program());
    program.arg(command).args(arguments);
    let error = become_program(program);
    Err(say(match error.kind() {
        io::ErrorKind::NotFound => format!(
            "`metaspy {command}` is a command of {PROGRAM}, which is not installed: \
             cargo install --locked --path scale, in a clone of metaspy"
        ),
        _ => format!("cannot start {PROGRAM}: {error}"),
    }))
}

/// The program beside this one, or else on the `PATH`.
fn program() -> PathBuf {
    let name = format!("{PROGRAM}{EXE_SUFFIX}");
    let beside = env::current_exe().ok().map(|own| own.with_file_name(&name));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| name.into())
}

#[cfg(unix)]
fn become_program(mut program: Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(&mut program)
}

#[cfg(not(unix))]
fn become_program(mut program: Command) -> io::Error {
    match program.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(2)),
        Err(error) => error,
    }
}
