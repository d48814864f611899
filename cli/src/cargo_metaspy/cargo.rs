//! The arguments of cargo: the ones that `cargo metaspy` reads or adds to.
//!
//! The target directory is passed in arguments (`--target-dir`, `--config`), and not in variables.
//! Build scripts and programs that start cargo inherit variables: they would wait for a held lock,
//! or build into the woven directory.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};
use metaspy_weave::runtime::build_dir;

/// The error message if cargo does not start.
pub(crate) const NO_CARGO: &str = "cannot start cargo: put it in PATH, or set CARGO to its path";

/// The subcommand that runs each test in a process of its own.
pub(crate) const NEXTEST: &str = "nextest";

/// A cargo, and its arguments.
pub struct Cargo {
    /// The command.
    pub program: OsString,
    /// Its arguments, without the arguments of the program that it runs.
    arguments: Vec<OsString>,
    /// `--`, and the arguments of the program.
    program_arguments: Vec<OsString>,
    /// A setting of this command, `KEY=VALUE`. One that the user wrote wins.
    pub setting: Option<String>,
}

/// Flags of a build that `cargo metadata` needs as well.
const GRAPH: [&str; 6] =
    ["--manifest-path", "--features", "-F", "--config", "--lockfile-path", "-Z"];
const GRAPH_ALONE: [&str; 5] =
    ["--all-features", "--no-default-features", "--offline", "--locked", "--frozen"];

impl Cargo {
    /// Cargo with the arguments that the user wrote.
    pub fn new(mut arguments: Vec<OsString>) -> Self {
        let at = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let program_arguments = arguments.split_off(at);
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Cargo { program, arguments, program_arguments, setting: None }
    }

    /// `cargo nextest`, among whose arguments is its own subcommand: only `run` runs tests.
    pub fn nextest(mut arguments: Vec<OsString>) -> Result<Self> {
        let first =
            arguments.iter().position(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
        let Some(run) = first.filter(|&at| arguments[at] == "run" || arguments[at] == "r") else {
            bail!(
                "only tests that run are recorded: write `cargo metaspy nextest run`, and other arguments behind `run`"
            );
        };
        arguments.remove(run);
        Ok(Cargo::new(arguments))
    }

    /// A subcommand with all arguments. It builds into this directory.
    pub fn command(&self, command: &str, target_dir: &Path) -> Result<Command> {
        let mut cargo = Command::new(&self.program);
        cargo.arg(command);
        if command == NEXTEST {
            cargo.arg("run");
        }
        if self.target_dir().is_none() {
            cargo.arg("--target-dir").arg(target_dir);
        }
        // The last `--config` wins, and everything behind the first plain word belongs to the
        // program.
        let arguments: Vec<OsString> =
            self.arguments.iter().map(|argument| argument_of(command, argument)).collect();
        let (before, behind) = arguments.split_at(self.behind_config());
        cargo.args(self.setting.iter().map(|setting| format!("--config={setting}")));
        cargo.args(before).arg(build_dir(target_dir)?).args(behind).args(&self.program_arguments);
        Ok(cargo)
    }

    /// `cargo metadata`.
    pub fn metadata(&self, target: &str) -> Command {
        let mut cargo = Command::new(&self.program);
        cargo.args(["metadata", "--format-version=1", "--filter-platform", target]);
        cargo.args(self.passed(&GRAPH, &GRAPH_ALONE));
        cargo
    }

    /// `cargo clean`, without the packages.
    pub fn clean(&self, target_dir: &Path) -> Result<Command> {
        let mut cargo = Command::new(&self.program);
        cargo.args(["clean", "--quiet"]).arg("--target-dir").arg(target_dir);
        let with_value =
            ["--manifest-path", "--config", "--lockfile-path", "-Z", "--profile", "--target"];
        cargo.args(
            self.passed(&with_value, &["--offline", "--locked", "--frozen", "--release", "-r"]),
        );
        cargo.arg(build_dir(target_dir)?);
        Ok(cargo)
    }

    /// `--target-dir`.
    pub fn target_dir(&self) -> Option<PathBuf> {
        self.value("--target-dir").map(PathBuf::from)
    }

    /// `--target`.
    pub fn target(&self) -> Option<&OsStr> {
        self.value("--target")
    }

    /// Each `--config`.
    pub fn config(&self) -> Vec<String> {
        let mut given = self
            .passed(&["--config"], &[])
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned());
        let mut all = Vec::new();
        while let Some(word) = given.next() {
            match word.strip_prefix("--config=") {
                Some(text) => all.push(text.to_owned()),
                None => all.extend(given.next()),
            }
        }
        all
    }

    /// True if the network must not be used.
    pub fn is_offline(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "--offline" || argument == "--frozen")
    }

    /// The directory of the profile, in a target directory.
    pub(crate) fn profile_dir(&self, command: &str) -> String {
        let has = |flags: [&str; 2]| {
            self.arguments.iter().any(|argument| flags.iter().any(|flag| argument == flag))
        };
        match self.value("--profile").map(|profile| profile.to_string_lossy().into_owned()) {
            Some(profile) if profile == "dev" || profile == "test" => "debug".into(),
            Some(profile) if profile == "bench" => "release".into(),
            Some(profile) => profile,
            None if has(["--release", "-r"]) || command == "bench" => "release".into(),
            None => "debug".into(),
        }
    }

    /// True if `--profile` selects one.
    pub(crate) fn names_profile(&self) -> bool {
        self.value("--profile").is_some()
    }

    /// True if tests, benchmarks or examples may be built.
    pub(crate) fn builds_tests(&self, command: &str) -> bool {
        const FLAGS: [&str; 5] =
            ["--all-targets", "--test", "--bench", "--example", "--profile=test"];
        runs_tests(command)
            || command == "bench"
            || self.arguments.iter().any(|argument| {
                FLAGS.iter().any(|flag| argument.to_string_lossy().starts_with(flag))
            })
    }

    /// The place behind the last `--config` and its value.
    fn behind_config(&self) -> usize {
        let text = |at: usize| self.arguments[at].to_str().unwrap_or_default();
        let last = (0..self.arguments.len()).rev().find_map(|at| match text(at) {
            "--config" => Some(at + 2),
            word => word.starts_with("--config=").then_some(at + 1),
        });
        last.unwrap_or(0).min(self.arguments.len())
    }

    fn value(&self, flag: &str) -> Option<&OsStr> {
        let with = format!("{flag}=");
        self.arguments.iter().enumerate().find_map(|(at, argument)| {
            if argument == flag {
                return self.arguments.get(at + 1).map(OsString::as_os_str);
            }
            argument.to_str()?.strip_prefix(&with).map(OsStr::new)
        })
    }

    fn passed(&self, with_value: &[&str], alone: &[&str]) -> Vec<&OsStr> {
        let mut passed: Vec<&OsStr> = Vec::new();
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            if with_value.iter().any(|flag| text == *flag) {
                passed.push(argument);
                passed.extend(arguments.next().map(OsString::as_os_str));
            } else if alone.iter().any(|flag| text == *flag)
                || with_value.iter().any(|flag| has_value(&text, flag))
            {
                passed.push(argument);
            }
        }
        passed
    }
}

/// True for a subcommand that runs tests.
pub(crate) fn runs_tests(command: &str) -> bool {
    command == "test" || command == NEXTEST
}

/// An argument of cargo as this subcommand calls it: nextest has profiles of its own.
fn argument_of(command: &str, argument: &OsStr) -> OsString {
    let text = argument.to_string_lossy();
    match text.strip_prefix("--profile") {
        Some(value) if command == NEXTEST && (value.is_empty() || value.starts_with('=')) => {
            format!("--cargo-profile{value}").into()
        }
        _ => argument.to_owned(),
    }
}

/// True if a word is a flag with its value: `--config=x`, `-Fx`.
fn has_value(word: &str, flag: &str) -> bool {
    let is_short = !flag.starts_with("--");
    word.strip_prefix(flag).is_some_and(|value| is_short || value.starts_with('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> String {
        command.get_args().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    fn cargo(line: &str) -> Cargo {
        Cargo::new(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn the_graph_is_read_with_the_flags_that_change_it() {
        let line = words(
            &cargo("-Ffast -Zx --release -F a --features=b -p c --locked -- -Fd").metadata("t"),
        );
        assert!(line.ends_with("t -Ffast -Zx -F a --features=b --locked"), "{line}");
    }

    #[test]
    fn the_target_directory_is_behind_the_configuration_and_before_the_arguments_of_the_program() {
        let ours = "--config=build.build-dir=\"/t\"";
        let command =
            |line: &str| words(&cargo(line).command("run", Path::new("/t")).expect("it is UTF-8"));
        assert_eq!(
            command("--release page -- x"),
            format!("run --target-dir /t {ours} --release page -- x")
        );
        assert_eq!(
            command("--config a=1 --target-dir t p"),
            format!("run --config a=1 {ours} --target-dir t p")
        );
    }

    #[test]
    fn nextest_is_given_the_profile_of_cargo_by_its_own_word() {
        let arguments = |line: &str| line.split(' ').map(OsString::from).collect();
        let nextest = Cargo::nextest(arguments(
            "--release run --profile fast -p x --profile=slow -- --profile",
        ));
        let line = words(
            &nextest
                .and_then(|cargo| cargo.command(NEXTEST, Path::new("/t")))
                .expect("it runs tests"),
        );
        let expected = "--release --cargo-profile fast -p x --cargo-profile=slow -- --profile";
        assert!(
            line.starts_with("nextest run --target-dir /t ") && line.ends_with(expected),
            "{line}"
        );
        for other in ["list", "--release", "--manifest-path x run"] {
            let error = Cargo::nextest(arguments(other))
                .err()
                .expect("it is another subcommand")
                .to_string();
            assert!(error.contains("cargo metaspy nextest run"), "{error}");
        }
    }
}
