//! The command: it plans, starts cargo, and tells what ran.

mod cargo;
pub mod cli;
mod config;
mod export;
mod graph;
mod known;
mod profilers;
mod recordings;
mod results;
mod search;
mod select;
mod skeleton;
mod spies;
mod stale;
mod text;
mod turn;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, io};

use anyhow::{Context, Result, bail};
use clap::Parser;
use metaspy_core::Selector;

use crate::plan::{CHAIN, PLAN, Plan};
use crate::runtime;
use cargo::{Cargo, NO_CARGO};
use cli::Woven;
use config::Config;
use graph::Graph;
use recordings::Recordings;
use results::Results;
use spies::Spies;

/// The exit code of usage, and of selectors that match nothing.
const UNUSABLE: u8 = 2;

/// Runs the command. `arguments` are those behind its name.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let done = match cli::Cli::parse_from(cli::sorted(arguments)).command {
        cli::Command::Build(woven) => start("build", woven),
        cli::Command::Run(woven) => start("run", woven),
        cli::Command::Test(woven) => start("test", woven),
        cli::Command::Bench(woven) => start("bench", woven),
        cli::Command::New(new) => skeleton::make(&new.path),
    };
    match done {
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
    let records = command != "build" && env::var_os("METASPY_RECORD").is_none();
    usable(&asked, records)?;
    let plan = plan(&cargo, command, &graph, &asked, &target_dir, target.as_deref())?;
    export::judge(&asked)?;
    let profile = cargo.profile_dir(command);
    let stale = || stale::find(&profile, &graph, &plan);
    let _turn = turn::take(&plan, &profile, &graph.workspace_root, stale, |stale| {
        stale.take_back(&cargo, command, &target_dir)
    })?;
    let mut built = cargo.command(command);
    prepare(&mut built, &plan, &target_dir, target.as_deref())?;
    built.env_remove(CHAIN).envs(config.wrapper().map(|wrapper| (CHAIN, wrapper)));
    let recordings = if records { Some(Recordings::new(&plan.dir)?) } else { None };
    let spies = Spies::of(command, &asked);
    if let Some(recordings) = &recordings {
        recordings.ask(&mut built, &spies);
    }
    let status = built.status().context(NO_CARGO)?;
    let results = Results::read(&plan, recordings.as_ref().map(|recordings| (recordings, &spies)));
    match recordings {
        Some(_) => text::print(&results, &asked, io::stdout().is_terminal()),
        None => eprintln!("     Metaspy {}", text::woven(&results)),
    }
    export::write(&results, &asked)?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// What nothing could be told of is a mistake before anything is built.
fn usable(asked: &Woven, records: bool) -> Result<()> {
    if let Some(selector) = &asked.callers {
        selector.parse::<Selector>()?;
    }
    let told = [("--lcov", asked.lcov.is_some()), ("--cobertura", asked.cobertura.is_some())];
    let told = told.into_iter().chain([("--callers", asked.callers.is_some()), ("--spy", !asked.spy.is_empty())]);
    match told.into_iter().find(|(_, is_asked)| *is_asked && !records) {
        Some((word, _)) => {
            bail!(
                "{word} tells what ran: that needs `run`, `test` or `bench`, and no METASPY_RECORD in the environment"
            )
        }
        None => Ok(()),
    }
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
    let (mut targets, is_core_needed) = select::targets(graph, &selection, cargo.builds_tests(command), &dir)?;
    profilers::judge(graph, &asked.profiler, is_core_needed)?;
    let core = match is_core_needed {
        true => Some(runtime::core(&cargo.program, target, &dir, cargo.is_offline(), &asked.profiler)?),
        false => None,
    };
    profilers::stamp_targets(&mut targets, core.as_ref())?;
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
