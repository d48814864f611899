//! Woven programs, their recordings, and the numbers of methods in them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Why nothing can be drawn, and what to do.
pub type Failure = Box<dyn std::error::Error>;

/// The numbers of a run's methods.
pub struct Run {
    /// Its recording.
    pub recording: PathBuf,
    json: Value,
}

/// The numbers of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Its calls.
    pub executions: u64,
    /// Its time with the methods that it called.
    pub total: Duration,
}

/// Builds a program with hooks in these crates and in itself, runs it, and reads its recording.
pub fn record(program: &str, crates: &[&str]) -> Result<Run, Failure> {
    let mut build = command("cargo-metaspy");
    build.args(["metaspy", "build", "--quiet", "--release", "--returns", "--bin", program, "--manifest-path"]);
    build.arg(home().join("Cargo.toml"));
    for path in crates.iter().chain([&program]) {
        build.arg("--weave").arg(format!("{path}::**"));
    }
    succeed(&mut build)?;
    let pictures = home().join("target/pictures");
    std::fs::create_dir_all(&pictures).map_err(|error| format!("cannot create {}: {error}", pictures.display()))?;
    let recording = pictures.join(format!("{program}.spy"));
    let profilers = [("METASPY_PROFILE", "coverage,calls"), ("METASPY_MODE", "tally")];
    let mut run = Command::new(home().join("target/metaspy/release").join(program));
    succeed(run.env("METASPY_RECORD", &recording).envs(profilers).stdout(Stdio::null()))?;
    let mut draw = metaspy(&["blueprint", "structural"], &[&recording]);
    let json = draw.arg("--json").output().map_err(|error| format!("cannot start metaspy: {error}"))?;
    let json = serde_json::from_slice(&json.stdout).map_err(|error| {
        format!("`metaspy blueprint --json` printed no JSON: {error}: {}", String::from_utf8_lossy(&json.stderr))
    })?;
    Ok(Run { recording, json })
}

/// Writes the page of one or more recordings.
pub fn draw(kind: &str, recordings: &[&Path], name: &str) -> Result<PathBuf, Failure> {
    let page = home().join("target/pictures").join(format!("{name}.html"));
    let mut draw = metaspy(&["blueprint", kind], recordings);
    succeed(draw.arg("--html").arg(&page).stderr(Stdio::null()))?;
    Ok(page)
}

impl Run {
    /// The numbers of the methods with this path; of a path in several types, their sum.
    pub fn numbers(&self, path: &str) -> Result<Numbers, Failure> {
        let owners = self.json["owners"].as_array().map_or(&[][..], Vec::as_slice);
        let mut found = Numbers { executions: 0, total: Duration::ZERO };
        for method in self.json["methods"].as_array().into_iter().flatten() {
            let owner = &owners[method[1].as_u64().unwrap_or(0) as usize];
            let (module, name) = (owner[0].as_str().unwrap_or(""), method[0].as_str().unwrap_or(""));
            let whole = match owner[1].as_str() {
                Some("fn") | None => format!("{module}::{name}"),
                Some(ty) => format!("{module}::{ty}::{name}"),
            };
            if whole == path || whole.ends_with(&format!("::{path}")) {
                found.executions += method[2].as_u64().unwrap_or(0);
                found.total += Duration::from_nanos(method[3].as_u64().unwrap_or(0));
            }
        }
        match found.executions {
            0 => Err(format!("{path} did not run: see {}", self.recording.display()).into()),
            _ => Ok(found),
        }
    }
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn metaspy(words: &[&str], recordings: &[&Path]) -> Command {
    let mut command = command("metaspy");
    command.args(words).args(recordings);
    command
}

/// A command of metaspy: in the directory that the argument names, or on the path.
fn command(name: &str) -> Command {
    match env::args_os().nth(1) {
        Some(directory) => Command::new(Path::new(&directory).join(name)),
        None => Command::new(name),
    }
}

fn succeed(command: &mut Command) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{program}` ended with {status}").into()),
        Err(error) => {
            Err(format!("cannot start `{program}`: {error}; install it with `cargo install --path cli`").into())
        }
    }
}
