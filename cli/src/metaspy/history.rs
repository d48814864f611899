//! `metaspy history`: the revisions of a repository, each built and recorded in a worktree of its
//! own.
//!
//! `DIRECTORY/COMMIT/run-N` has the recordings of a run, so that a revision that was recorded once
//! is only read. Runs take turns: the first of each revision, then the second of each, so that a
//! slow minute of the machine meets all of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use metaspy_blueprints::Options;
use metaspy_blueprints::picture::findings;
use metaspy_report::runs::UNFINISHED;
use metaspy_report::text::{clean, print_message};
use metaspy_sampler::instructions::has_instructions;

use super::blueprint::write;
use super::evolution::{draw, page, steps, strip, versions};
use super::instructions;
use crate::exit::{Ended, say};
use crate::metaspy::arguments::{ChangeOf, HistoryRun};

/// A revision.
struct Revision {
    /// The whole name of its commit.
    commit: String,
    /// The first line of its message.
    subject: String,
}

/// Records the revisions, and draws the changes.
pub fn run(options: &HistoryRun, out: &mut impl Write) -> Result<Ended> {
    let revisions = revisions(&options.revisions)?;
    fs::create_dir_all(&options.dir)
        .with_context(|| format!("cannot create {}", options.dir.display()))?;
    let dir = std::path::absolute(&options.dir)?;
    let mut failed: BTreeMap<&str, String> = BTreeMap::new();
    for number in 1..=options.runs {
        for revision in &revisions {
            if failed.contains_key(&*revision.commit) {
                continue;
            }
            let mut recorded = record(revision, number, &dir, options)?;
            if options.instructions && number == 1 && recorded.is_ok() {
                recorded =
                    count_instructions(revision, &dir, options).map_err(|error| error.to_string());
            }
            if let Err(message) = recorded {
                print_message(&format!("{}: {message}", revision.short()));
                failed.insert(&revision.commit, message);
            }
        }
    }
    for revision in &revisions {
        let state =
            if failed.contains_key(&*revision.commit) { "not recorded" } else { "recorded" };
        writeln!(out, "{} {state:>12}  {}", revision.short(), clean(&revision.subject))?;
    }
    let recorded = revisions.iter().filter(|revision| !failed.contains_key(&*revision.commit));
    let recorded: Vec<PathBuf> = recorded.map(|revision| dir.join(revision.short())).collect();
    if recorded.len() > 1 || options.html.is_some() {
        report(&recorded, options, out)?;
    }
    Ok(if failed.is_empty() { Ended::Fine } else { Ended::Failed })
}

/// Prints the changes from revision to revision, and how to see more of them; draws them if a file
/// is named.
fn report(recorded: &[PathBuf], options: &HistoryRun, out: &mut impl Write) -> Result<()> {
    let (mut versions, _) = versions(recorded, None, None)?;
    versions.iter_mut().for_each(|version| version.runs.truncate(options.runs as usize));
    let steps = steps(&versions, options.instructions.then_some(ChangeOf::Instructions))?;
    for (title, step) in &steps {
        writeln!(out, "\n{}", clean(title))?;
        findings(step).iter().try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    writeln!(out)?;
    if let Some(file) = &options.html {
        let drawn = steps
            .iter()
            .map(|(title, step)| {
                Ok((step, draw(step, &Options { title: title.clone(), ..Options::default() })?))
            })
            .collect::<Result<Vec<_>>>()?;
        write(file, &page(&drawn, strip(&steps, &versions).as_ref()))?;
    }
    let names: Vec<String> = recorded.iter().map(|dir| dir.display().to_string()).collect();
    let by = if options.instructions { " --by instructions" } else { "" };
    writeln!(out, "as pictures: metaspy blueprint evolution{by} {}", names.join(" "))?;
    if let [first, .., last] = &names[..] {
        writeln!(out, "as a table: metaspy diff {first} {last} --by method")?;
    }
    Ok(())
}

/// Records a run, unless it is there. The inner error states why the revision has no recording.
fn record(
    revision: &Revision,
    number: u32,
    dir: &Path,
    options: &HistoryRun,
) -> Result<Result<(), String>> {
    let run = dir.join(revision.short()).join(format!("run-{number}"));
    if run.is_dir() {
        return Ok(Ok(()));
    }
    let tree = worktree(revision, dir)?;
    // Another name until the run has ended, so that an interrupted one is no recording.
    let (unfinished, log) =
        (run.with_extension(UNFINISHED), dir.join(format!("{}.log", revision.short())));
    let _ = fs::remove_dir_all(&unfinished);
    fs::create_dir_all(&unfinished)
        .with_context(|| format!("cannot create {}", unfinished.display()))?;
    print_message(&format!("{} run {number}: {}", revision.short(), revision.subject));
    let output = new_log(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let (program, arguments) =
        options.command.split_first().expect("the parser requires a command");
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&tree)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output);
    command.env("METASPY_RECORD", unfinished.join("run.spy"));
    for (name, value) in [("METASPY_PROFILE", "calls"), ("METASPY_MODE", "tally")] {
        if std::env::var_os(name).is_none_or(|value| value.is_empty()) {
            command.env(name, value);
        }
    }
    let program = program.to_string_lossy();
    let status =
        command.status().map_err(|error| say(format!("cannot start `{program}`: {error}")))?;
    let give_up = |why: String| {
        let _ = fs::remove_dir_all(&unfinished);
        Ok(Err(format!("{why}; the output is in {}", log.display())))
    };
    if !status.success() {
        return give_up(format!(
            "it does not build, or `{program}` fails ({status}); the other revisions go on"
        ));
    }
    if super::live::paths_of(std::slice::from_ref(&unfinished)).is_err() {
        return give_up(format!(
            "`{program}` recorded nothing: run a program with #[observe], or `cargo metaspy run`"
        ));
    }
    fs::rename(&unfinished, &run)
        .with_context(|| format!("cannot rename {}", unfinished.display()))?;
    Ok(Ok(()))
}

/// Creates a log in the place of an earlier one. The target of a link at its path stays as it is.
fn new_log(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(path),
    }
}

/// Adds instructions to the first run, unless it has them.
fn count_instructions(revision: &Revision, dir: &Path, options: &HistoryRun) -> Result<()> {
    let run = dir.join(revision.short()).join("run-1");
    let recordings = super::live::paths_of(std::slice::from_ref(&run))?;
    if recordings
        .iter()
        .any(|path| super::live::open(path).is_ok_and(|store| has_instructions(&store)))
    {
        return Ok(());
    }
    print_message(&format!("{} instructions: {}", revision.short(), revision.subject));
    let (counts, log) =
        (run.with_extension("counts"), dir.join(format!("{}.log", revision.short())));
    let output = new_log(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let output = || output.try_clone().map_or_else(|_| Stdio::null(), Stdio::from);
    let status = instructions::count(&options.command, &worktree(revision, dir)?, &counts, output)?;
    let added = if status.success() {
        instructions::add(&recordings, &counts).map(drop)
    } else {
        Err(say(format!(
            "the command fails under valgrind ({status}); the output is in {}",
            log.display()
        )))
    };
    let _ = fs::remove_dir_all(&counts);
    added
}

/// The worktree of a revision, which is kept: the next run builds nothing again.
fn worktree(revision: &Revision, dir: &Path) -> Result<PathBuf> {
    let tree = dir.join("worktrees").join(revision.short());
    if !tree.is_dir() {
        git(&["worktree", "prune"])?;
        git(&[
            "worktree",
            "add",
            "--quiet",
            "--detach",
            &tree.to_string_lossy(),
            &revision.commit,
        ])?;
    }
    // Where this command runs in the repository, the other one runs in the worktree.
    Ok(tree.join(git(&["rev-parse", "--show-prefix"])?.trim_end()))
}

/// The revisions of a range: its beginning, and all from there to its end.
fn revisions(range: &str) -> Result<Vec<Revision>> {
    let Some((first, last)) =
        range.split_once("..").filter(|(first, last)| !first.is_empty() && !last.is_empty())
    else {
        return Err(say(format!(
            "`{range}` is no range of revisions: write two, as in HEAD~5..HEAD"
        )));
    };
    let first = git(&["rev-list", "--max-count=1", first, "--"])?;
    let rest = git(&[
        "rev-list",
        "--reverse",
        "--first-parent",
        &format!("{}..{last}", first.trim()),
        "--",
    ])?;
    first.lines().chain(rest.lines()).map(Revision::of).collect()
}

impl Revision {
    fn of(commit: &str) -> Result<Revision> {
        let subject = git(&["log", "--max-count=1", "--format=%s", commit])?;
        Ok(Revision { commit: commit.to_owned(), subject: subject.trim().to_owned() })
    }

    /// The first letters of the commit.
    fn short(&self) -> &str {
        &self.commit[..self.commit.len().min(10)]
    }
}

/// The output of git, or a sentence with its message.
fn git(arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).stdin(Stdio::null()).output();
    let output =
        output.map_err(|error| say(format!("cannot start git: {error}; a history needs it")))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(say(format!("git: {}", String::from_utf8_lossy(&output.stderr).trim())))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_log_takes_the_place_of_a_link_and_not_of_its_file() {
        let directory =
            std::env::temp_dir().join(format!("metaspy-history-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("it is new");
        let log = directory.join("a.log");
        let other = directory.join("other");
        fs::write(&other, "precious").expect("there is room");
        std::os::unix::fs::symlink(&other, &log).expect("links are made");
        for text in ["first", "second"] {
            new_log(&log)
                .and_then(|mut log| log.write_all(text.as_bytes()))
                .expect("it is written");
            assert_eq!(fs::read_to_string(&log).expect("it is there"), text);
        }
        assert_eq!(fs::read_to_string(&other).expect("it is there"), "precious");
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
