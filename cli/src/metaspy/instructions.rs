//! `metaspy instructions`: callgrind's counts, in the recordings of the same program.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use metaspy_core::Store;
use metaspy_report::text::{clean, counted, file_name, grouped, print_message};
use metaspy_sampler::instructions::callgrind::{self, Output};
use metaspy_sampler::instructions::{Instructions, append};
use serde_json::{Value, json};

use super::live;
use super::private_directory::PrivateDirectory;
use crate::exit::{Ended, say};
use crate::metaspy::arguments;

/// The variable with the directory that valgrind writes into: cargo would split a path with spaces.
const DIRECTORY: &str = "CALLGRIND_OUT_DIR";

/// Runs the command under callgrind, and adds the counts.
pub fn run(options: &arguments::Instructions, out: &mut impl Write) -> Result<Ended> {
    let paths = live::paths_of(std::slice::from_ref(&options.recording))?;
    // A recording that cannot be opened is reported before the program runs.
    paths.iter().try_for_each(|path| live::open(path).map(drop))?;
    let private = PrivateDirectory::new("instructions")?;
    let counts = private.path();
    let status = count(&options.command, Path::new("."), counts, Stdio::inherit)?;
    if !status.success() {
        return Err(say(format!("the command failed ({status}), so nothing was added")));
    }
    let added = add(&paths, counts)?;
    options.json.write(out, |out| writeln!(out, "{}", json(&added)), |out| text(out, &added))?;
    Ok(Ended::Fine)
}

/// Runs a command in a directory so that its programs write their instruction counts into `counts`.
///
/// # Errors
///
/// If the command or valgrind does not start.
pub fn count(
    command: &[OsString],
    dir: &Path,
    counts: &Path,
    output: impl Fn() -> Stdio,
) -> Result<ExitStatus> {
    let probe = Command::new("valgrind").arg("--version").output();
    if !probe.is_ok_and(|version| version.status.success()) {
        return Err(say(
            "there is no valgrind to count instructions with: install the package `valgrind`",
        ));
    }
    fs::create_dir_all(counts).with_context(|| format!("cannot create {}", counts.display()))?;
    let counts = std::path::absolute(counts)?;
    let valgrind = callgrind::ARGUMENTS.map(str::to_owned).into_iter();
    let valgrind: Vec<String> =
        valgrind.chain([format!("--callgrind-out-file=%q{{{DIRECTORY}}}/%p.out")]).collect();
    let (program, arguments) = command.split_first().expect("the parser requires a command");
    let mut started = if Path::new(program)
        .file_stem()
        .is_some_and(|name| name.to_string_lossy().starts_with("cargo"))
    {
        // The programs that cargo starts, and not cargo.
        let mut cargo = Command::new(program);
        let runner: Vec<&str> =
            std::iter::once("valgrind").chain(valgrind.iter().map(String::as_str)).collect();
        cargo.env(runner_variable(), runner.join(" "));
        cargo
    } else {
        let mut started = Command::new("valgrind");
        started.args(valgrind).arg("--trace-children=yes").arg(program);
        started
    };
    started.env(DIRECTORY, &counts);
    // The hooks of an unobserved program cost least, and another recording is not wanted.
    for name in ["METASPY_RECORD", "METASPY_PROFILE", "METASPY_OBSERVE"] {
        started.env_remove(name);
    }
    if arguments.first().is_some_and(|name| name == "metaspy") {
        // Such a run keeps a recording anyway.
        started.env("METASPY_RECORD", counts.join("recorded.spy"));
    }
    started.args(arguments).current_dir(dir).stdin(Stdio::null()).stdout(output()).stderr(output());
    started
        .status()
        .map_err(|error| say(format!("cannot start `{}`: {error}", program.to_string_lossy())))
}

/// The variable with the program that cargo starts programs with.
fn runner_variable() -> String {
    let version =
        Command::new("rustc").arg("-vV").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version).into_owned();
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or("x86_64-unknown-linux-gnu");
    format!("CARGO_TARGET_{}_RUNNER", host.to_uppercase().replace(['-', '.'], "_"))
}

/// Adds the instruction counts of programs to the recordings of the same programs: to the first one
/// of each.
///
/// # Errors
///
/// If nothing was counted, and if no recording is of a program that was.
pub fn add(recordings: &[PathBuf], counts: &Path) -> Result<Vec<(PathBuf, Instructions)>> {
    let mut outputs = Vec::new();
    for entry in
        fs::read_dir(counts).with_context(|| format!("cannot read {}", counts.display()))?
    {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "out") {
            continue;
        }
        outputs.push(
            Output::read(&path).map_err(|error| say(format!("{}: {error}", path.display())))?,
        );
    }
    if outputs.is_empty() {
        return Err(say(
            "valgrind counted nothing: name a program, or `cargo run`, `test` or `bench`",
        ));
    }
    let mut added = Vec::new();
    let mut why = None;
    for path in recordings {
        let store = live::open(path)?;
        let (own, others): (Vec<Output>, Vec<Output>) =
            outputs.into_iter().partition(|output| recordings.len() == 1 || is_of(output, &store));
        outputs = others;
        match append(&own, path, &store) {
            Ok(instructions) => added.push((path.clone(), instructions)),
            Err(error) => why = Some(say(format!("{}: {error}", path.display()))),
        }
    }
    match why {
        Some(error) if added.is_empty() => Err(error),
        _ => Ok(added),
    }
}

/// True if a recording is of the program that was counted.
fn is_of(output: &Output, store: &Store) -> bool {
    file_name(Path::new(&output.program)) == store.program().name
}

fn text(out: &mut impl Write, added: &[(PathBuf, Instructions)]) -> io::Result<()> {
    for (path, instructions) in added {
        let share = 100.0 * instructions.of_methods as f64 / instructions.all.max(1) as f64;
        writeln!(
            out,
            "{}: {} of {} instructions ({share:.0} %) are of {}",
            clean(&path.display().to_string()),
            grouped(instructions.of_methods),
            grouped(instructions.all),
            counted(instructions.methods as u64, "method")
        )?;
    }
    if let Some((path, _)) = added.first() {
        print_message(&format!("they are shown by:  metaspy report {} --by type", path.display()));
    }
    Ok(())
}

fn json(added: &[(PathBuf, Instructions)]) -> Value {
    let row = |(path, known): &(PathBuf, Instructions)| {
        json!({
            "recording": path.display().to_string(),
            "instructions": known.all,
            "of_methods": known.of_methods,
            "methods": known.methods,
        })
    };
    Value::from(added.iter().map(row).collect::<Vec<_>>())
}
