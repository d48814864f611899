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

/// Builds a program with hooks in these crates or modules and in itself, runs it, and reads its
/// recording.
pub fn record(program: &str, within: &[impl AsRef<str>]) -> Result<Run, Failure> {
    let mut build = command("cargo-metaspy");
    build.args(["metaspy", "build", "--quiet", "--release", "--returns", "--bin", program, "--manifest-path"]);
    build.arg(home().join("Cargo.toml"));
    for path in within.iter().map(AsRef::as_ref).chain([program]) {
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

/// The marks of a method in an evolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// True if it has more calls.
    pub is_more: bool,
    /// True if its source has changed.
    pub is_changed: bool,
}

/// Returns the marks of the method with this path in the evolution of two runs.
pub fn change(old: &Run, new: &Run, path: &str) -> Result<Change, Failure> {
    let mut draw = metaspy(&["blueprint", "evolution"], &[&old.recording, &new.recording]);
    let json = draw.args(["--json", "--threshold", "0"]).output();
    let json: Value = serde_json::from_slice(&json.map_err(|error| format!("cannot start metaspy: {error}"))?.stdout)?;
    let methods = json["methods"].as_array().map_or(&[][..], Vec::as_slice);
    let at = methods.iter().position(|method| is_at(&json, method, path));
    let nodes = json["nodes"].as_array().into_iter().flatten();
    let is_its = |node: &&Value| {
        node[5].as_array().is_some_and(|all| all.first().and_then(Value::as_u64) == at.map(|at| at as u64))
    };
    match nodes.into_iter().find(is_its).filter(|_| at.is_some()) {
        Some(node) => Ok(Change { is_more: node[4] == "slower", is_changed: node[6]["changed"] == 1 }),
        None => Err(format!("{path} is not drawn").into()),
    }
}

/// True if a method of a picture has this path, or one that ends so.
fn is_at(json: &Value, method: &Value, path: &str) -> bool {
    let owner = &json["owners"][method[1].as_u64().unwrap_or(0) as usize];
    let module = owner[0].as_str().unwrap_or("");
    let name = method[0].as_str().unwrap_or("");
    let whole = match owner[1].as_str() {
        Some("fn") | None => format!("{module}::{name}"),
        Some(ty) => format!("{module}::{ty}::{name}"),
    };
    whole == path || whole.ends_with(&format!("::{path}"))
}

impl Run {
    /// The numbers of the methods with this path; of a path in several types, their sum.
    pub fn numbers(&self, path: &str) -> Result<Numbers, Failure> {
        let mut found = Numbers { executions: 0, total: Duration::ZERO };
        for method in self.json["methods"].as_array().into_iter().flatten() {
            if is_at(&self.json, method, path) {
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
