//! The command: it plans, starts cargo, and tells what ran.

mod cargo;
pub mod cli;
mod config;
mod graph;
mod json;
mod known;
mod results;
mod search;
mod select;
mod stale;
mod table;
mod turn;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use anyhow::{Context, Result};
use clap::Parser;

use crate::plan::{CHAIN, PLAN, Plan};
use crate::runtime;
use cargo::{Cargo, NO_CARGO};
use cli::Woven;
use config::Config;
use graph::Graph;
use results::Results;

/// The exit code of usage, and of selectors that match nothing.
const UNUSABLE: u8 = 2;

/// Runs the command. `arguments` are those behind its name.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let (command, woven) = match cli::Cli::parse_from(cli::sorted(arguments)).command {
        cli::Command::Build(woven) => ("build", woven),
        cli::Command::Run(woven) => ("run", woven),
        cli::Command::Test(woven) => ("test", woven),
        cli::Command::Bench(woven) => ("bench", woven),
    };
    match start(command, woven) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: metaspy: {error:#}");
            ExitCode::from(UNUSABLE)
        }
    }
}

fn start(command: &str, mut asked: Woven) -> Result<ExitCode> {
    let cargo = Cargo::new(std::mem::take(&mut asked.cargo));
    let config = Config::read(&cargo);
    let target = cargo.target().map(|target| target.to_string_lossy().into_owned()).or_else(|| config.target());
    let graph = Graph::ask(&cargo, &target.clone().map_or_else(host, Ok)?)?;
    let target_dir = match cargo.target_dir() {
        Some(dir) => std::path::absolute(dir)?,
        None => graph.target_directory.join("metaspy"),
    };
    let plan = plan(&cargo, command, &graph, &asked, &target_dir, target.as_deref())?;
    if let Some(file) = &asked.json {
        // Said now, not when everything has run.
        let written = fs::write(file, "");
        written
            .with_context(|| format!("{} cannot be written: name a file whose directory is there", file.display()))?;
    }
    let profile = cargo.profile_dir(command);
    let stale = || stale::find(&profile, &graph, &plan);
    let _turn = turn::take(&plan, &profile, &graph.workspace_root, stale, |stale| {
        stale.take_back(&cargo, command, &target_dir)
    })?;
    let mut built = cargo.command(command);
    prepare(&mut built, &plan, &target_dir, target.as_deref())?;
    built.env_remove(CHAIN).envs(config.wrapper().map(|wrapper| (CHAIN, wrapper)));
    let records = command != "build" && env::var_os("METASPY_RECORD").is_none();
    let recordings = if records { Some(Recordings::new(&plan.dir)?) } else { None };
    if let Some(recordings) = &recordings {
        recordings.ask(&mut built, asked.timed);
    }
    let status = built.status().context(NO_CARGO)?;
    let results = Results::read(&plan, recordings.as_ref().map(|recordings| recordings.dir.as_path()));
    match recordings {
        Some(_) => table::print(&results, &asked, io::stdout().is_terminal()),
        None => eprintln!("     Metaspy {}", table::woven(&results)),
    }
    if let Some(file) = &asked.json {
        let text = serde_json::to_string_pretty(&json::of(&results))?;
        fs::write(file, text + "\n").with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn plan(
    cargo: &Cargo,
    command: &str,
    graph: &Graph,
    asked: &Woven,
    target_dir: &Path,
    target: Option<&str>,
) -> Result<Plan> {
    let selection = asked.selection();
    let dir = target_dir.join("weave");
    let (targets, is_core_needed) = select::targets(graph, &selection, cargo.builds_tests(command), &dir)?;
    let core = match is_core_needed {
        true => Some(runtime::core(&cargo.program, target, &dir, cargo.is_offline())?),
        false => None,
    };
    Ok(Plan { dir, selection, targets, core })
}

/// Makes cargo start this command in place of the compiler.
fn prepare(cargo: &mut Command, plan: &Plan, target_dir: &Path, target: Option<&str>) -> Result<()> {
    cargo.env("RUSTC_WRAPPER", env::current_exe().context("this command cannot be found")?);
    cargo.env(PLAN, plan.write()?).env("CARGO_TARGET_DIR", target_dir);
    // Cargo starts rustdoc itself: tests in documentation are linked with woven crates as well.
    let rustc = [env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())];
    let hooks = runtime::hooks(&rustc, target.map(OsStr::new), &plan.dir)?;
    let given = match env::var("CARGO_ENCODED_RUSTDOCFLAGS") {
        Ok(encoded) => encoded,
        Err(_) => env::var("RUSTDOCFLAGS").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join("\u{1f}"),
    };
    let mut flags = OsString::from(&given);
    flags.push(if given.is_empty() { "" } else { "\u{1f}" });
    flags.push("-Ldependency=");
    flags.push(&hooks.dir);
    cargo.env("CARGO_ENCODED_RUSTDOCFLAGS", flags);
    Ok(())
}

/// Where the programs of this run record.
struct Recordings {
    dir: PathBuf,
}

impl Recordings {
    fn new(dir: &Path) -> Result<Self> {
        let dir = dir.join("runs").join(std::process::id().to_string());
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir)?;
        Ok(Recordings { dir })
    }

    /// Asks programs to count, or to record each call.
    fn ask(&self, cargo: &mut Command, is_timed: bool) {
        cargo.env("METASPY_RECORD", "live").env("METASPY_DIR", &self.dir).env("METASPY_RUN", "woven");
        cargo.env("METASPY_MODE", if is_timed { "full" } else { "tally" });
        if env::var_os("METASPY_BUDGET").is_none() && !is_timed {
            cargo.env("METASPY_BUDGET", (64 << 20).to_string());
        }
    }
}

impl Drop for Recordings {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// The platform that programs are built for where nobody says another one.
fn host() -> Result<String> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .arg("-vV")
        .output()
        .context("rustc cannot be started: put it in PATH, or name it in RUSTC")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    host.context("rustc does not say what it builds for")
}

/// Whether a file is one of a recording.
fn is_recording(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("spy"))
}
