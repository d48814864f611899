//! The commands of the package `metaspy-scale`, which is installed apart from this one: its engines
//! take long to build.

use std::env::{self, consts::EXE_SUFFIX};
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Result;
use clap::CommandFactory;
use metaspy_reader::files::input;

use crate::exit::{Ended, say};
use crate::metaspy::arguments::Cli;

/// The program that has the commands.
const PROGRAM: &str = "metaspy-scale";
/// How it is installed.
const INSTALL: &str = "cargo install --locked --path scale, in a clone of metaspy";

/// Runs a command of [`PROGRAM`] in place of this process, with these arguments.
pub fn run(command: &str, arguments: &[OsString]) -> Result<Ended> {
    let mut program = Command::new(program());
    program.arg(command).args(arguments);
    let error = become_program(program);
    let asks_for_help = arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    if asks_for_help && error.kind() == io::ErrorKind::NotFound {
        io::stdout().write_all(help(command).as_bytes())?;
        return Ok(Ended::Fine);
    }
    Err(cannot_start(command, &error))
}

/// Returns the help of a command without its program.
fn help(command: &str) -> String {
    let mut all = Cli::command();
    all.build();
    let known = all.find_subcommand_mut(command).expect("it is a command of this program");
    format!(
        "{}\nIts options are those of {PROGRAM}, which is not installed: {INSTALL}.\n",
        known.render_help()
    )
}

/// True if a source is a sealed set, or a run, a host or a process of one.
pub fn is_sealed(source: &Path) -> bool {
    let has_runs = || entries(source).any(|entry| is_run(&entry.file_name()));
    let is_bucket = source.to_string_lossy().starts_with("s3://");
    is_bucket || source.is_dir() && (source.iter().any(is_run) || has_runs())
}

/// True for the name of the directory of a run in a sealed set.
fn is_run(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with("run=")
}

/// Makes recordings of a sealed set, and returns their paths. Recordings that cannot be restored
/// are reported, and the others are read.
pub fn restored(source: &Path) -> Result<Vec<PathBuf>> {
    note_set(source);
    let mut program = Command::new(program());
    let output = program.arg("restore").arg("--").arg(source).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| cannot_start("restore", &error))?;
    let paths: Vec<PathBuf> =
        String::from_utf8_lossy(&output.stdout).lines().map(PathBuf::from).collect();
    match output.status.code() {
        Some(0 | 1) if !paths.is_empty() => Ok(paths),
        _ => Err(say(format!("{} is a sealed set, which could not be restored", source.display()))),
    }
}

/// Remembers all of a sealed set as an input, because another program reads it for this process.
fn note_set(source: &Path) {
    let runs = source.ancestors().filter(|part| part.file_name().is_some_and(is_run));
    let set = runs.last().and_then(Path::parent).unwrap_or(source);
    let set = if set.as_os_str().is_empty() { Path::new(".") } else { set };
    note_runs(set);
    // Each table has the runs in a directory of its own.
    entries(set).for_each(|entry| note_runs(&entry.path()));
}

/// Remembers the runs in a directory. Beside them are files of others.
fn note_runs(directory: &Path) {
    entries(directory).filter(|entry| is_run(&entry.file_name())).for_each(note_below);
}

/// Remembers a directory with all that is in it, or a file.
fn note_below(entry: DirEntry) {
    input::note(&entry.path());
    if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
        entries(&entry.path()).for_each(note_below);
    }
}

/// The entries of a directory, as far as they can be read.
fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

/// Puts the restored recordings of each run together: `run=…/host=…/process=….spy`.
pub fn runs_of(restored: Vec<PathBuf>) -> Vec<Vec<PathBuf>> {
    let run = |path: &Path| {
        path.ancestors().find(|at| at.file_name().is_some_and(is_run)).map(Path::to_owned)
    };
    let mut runs: Vec<(Option<PathBuf>, Vec<PathBuf>)> = Vec::new();
    for path in restored {
        let of = run(&path);
        match runs.iter_mut().find(|(known, _)| of.is_some() && *known == of) {
            Some((_, run)) => run.push(path),
            None => runs.push((of, vec![path])),
        }
    }
    runs.into_iter().map(|(_, run)| run).collect()
}

fn cannot_start(command: &str, error: &io::Error) -> anyhow::Error {
    say(match error.kind() {
        io::ErrorKind::NotFound => {
            format!(
                "`metaspy {command}` is a command of {PROGRAM}, which is not installed: {INSTALL}"
            )
        }
        _ => format!("cannot start {PROGRAM}: {error}"),
    })
}

/// The program that has the commands, if it is installed.
#[cfg(feature = "mcp")]
pub fn installed() -> Option<PathBuf> {
    let program = program();
    if program.is_absolute() { Some(program) } else { on_path(PROGRAM) }
}

/// The file of a program on the `PATH`.
#[cfg(feature = "mcp")]
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{EXE_SUFFIX}");
    env::split_paths(&env::var_os("PATH")?)
        .map(|directory| directory.join(&name))
        .find(|file| file.is_file())
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
