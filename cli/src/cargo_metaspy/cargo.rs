//! Cargo's own arguments, as far as they matter here.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use metaspy_weave::runtime::build_dir;

/// What is said where there is no cargo.
pub const NO_CARGO: &str = "cargo cannot be started: put it in PATH, or name it in CARGO";

/// Which cargo, and what it is told.
pub struct Cargo {
    /// The command.
    pub program: OsString,
    /// Its arguments, but for those of the program that it runs.
    arguments: Vec<OsString>,
    /// With `--`, those of the program.
    program_arguments: Vec<OsString>,
}

/// Flags of a build that cargo wants to hear of, too, when it is asked for the graph.
const GRAPH: [&str; 6] = ["--manifest-path", "--features", "-F", "--config", "--lockfile-path", "-Z"];
const GRAPH_ALONE: [&str; 5] = ["--all-features", "--no-default-features", "--offline", "--locked", "--frozen"];

impl Cargo {
    /// As the user wrote it.
    pub fn new(mut arguments: Vec<OsString>) -> Self {
        let at = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
        let program_arguments = arguments.split_off(at);
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        Cargo { program, arguments, program_arguments }
    }

    /// What is asked, with all arguments; what is built goes into this directory.
    pub fn command(&self, command: &str, target_dir: &Path) -> Result<Command> {
        let mut cargo = Command::new(&self.program);
        cargo.arg(command);
        if self.target_dir().is_none() {
            cargo.arg("--target-dir").arg(target_dir);
        }
        // The last word on the configuration counts, and behind the first plain word all are the program's.
        let (before, behind) = self.arguments.split_at(self.behind_config());
        cargo.args(before).arg(build_dir(target_dir)?).args(behind).args(&self.program_arguments);
        Ok(cargo)
    }

    /// A question about the graph.
    pub fn metadata(&self, target: &str) -> Command {
        let mut cargo = Command::new(&self.program);
        cargo.args(["metadata", "--format-version=1", "--filter-platform", target]);
        cargo.args(self.passed(&GRAPH, &GRAPH_ALONE));
        cargo
    }

    /// Takes back what was built of packages.
    pub fn clean(&self, target_dir: &Path) -> Result<Command> {
        let mut cargo = Command::new(&self.program);
        cargo.args(["clean", "--quiet"]).arg("--target-dir").arg(target_dir);
        let with_value = ["--manifest-path", "--config", "--lockfile-path", "-Z", "--profile", "--target"];
        cargo.args(self.passed(&with_value, &["--offline", "--locked", "--frozen", "--release", "-r"]));
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
        let mut given = self.passed(&["--config"], &[]).into_iter().map(|word| word.to_string_lossy().into_owned());
        let mut all = Vec::new();
        while let Some(word) = given.next() {
            match word.strip_prefix("--config=") {
                Some(text) => all.push(text.to_owned()),
                None => all.extend(given.next()),
            }
        }
        all
    }

    /// Whether the network is not to be used.
    pub fn is_offline(&self) -> bool {
        self.arguments.iter().any(|argument| argument == "--offline" || argument == "--frozen")
    }

    /// The directory of the profile, in a target directory.
    pub fn profile_dir(&self, command: &str) -> String {
        let has = |flags: [&str; 2]| self.arguments.iter().any(|argument| flags.iter().any(|flag| argument == flag));
        match self.value("--profile").map(|profile| profile.to_string_lossy().into_owned()) {
            Some(profile) if profile == "dev" || profile == "test" => "debug".into(),
            Some(profile) if profile == "bench" => "release".into(),
            Some(profile) => profile,
            None if has(["--release", "-r"]) || command == "bench" => "release".into(),
            None => "debug".into(),
        }
    }

    /// Whether `--profile` says which.
    pub fn names_profile(&self) -> bool {
        self.value("--profile").is_some()
    }

    /// Whether tests, benchmarks or examples may be built.
    pub fn builds_tests(&self, command: &str) -> bool {
        const ASKING: [&str; 5] = ["--all-targets", "--test", "--bench", "--example", "--profile=test"];
        let asks = |argument: &OsString| ASKING.iter().any(|flag| argument.to_string_lossy().starts_with(flag));
        matches!(command, "test" | "bench") || self.arguments.iter().any(asks)
    }

    /// The place behind the last `--config` and what it says.
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
            } else if alone.iter().any(|flag| text == *flag) || with_value.iter().any(|flag| has_value(&text, flag)) {
                passed.push(argument);
            }
        }
        passed
    }
}

/// Whether a word is a flag with its value: `--config=x`, `-Fx`.
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
    fn the_graph_is_asked_for_with_what_says_something_of_it() {
        let asked = words(&cargo("-Ffast -Zx --release -F a --features=b -p c --locked -- -Fd").metadata("t"));
        assert!(asked.ends_with("t -Ffast -Zx -F a --features=b --locked"), "{asked}");
    }

    #[test]
    fn where_results_go_is_said_behind_the_configuration_and_before_the_program_has_its_say() {
        let ours = "--config=build.build-dir=\"/t\"";
        let asked = |line: &str| words(&cargo(line).command("run", Path::new("/t")).expect("it is UTF-8"));
        assert_eq!(asked("--release page -- x"), format!("run --target-dir /t {ours} --release page -- x"));
        assert_eq!(asked("--config a=1 --target-dir t p"), format!("run --config a=1 {ours} --target-dir t p"));
    }
}
