//! The command: it plans, starts cargo, and tells what ran.

pub mod arguments;
mod build_lock;
mod cargo;
mod clean;
mod config;
mod export;
mod graph;
mod match_functions;
mod new;
mod process;
mod profilers;
mod recordings;
mod results;
mod source_cache;
mod spies;
mod target_crates;
mod text;

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use anyhow::{Context, Result, bail};
use clap::Parser;
use metaspy_core::Selector;
use metaspy_weave::plan::{CHAIN, PLAN, Plan};
use metaspy_weave::runtime::{self, Settings, version};
use metaspy_weave::wrapper;

use arguments::Woven;
use cargo::Cargo;
use config::Config;
use graph::Graph;
use recordings::Recordings;
use results::Results;
use spies::Spies;

/// The exit code of usage, and of selectors that match nothing.
const UNUSABLE: u8 = 2;

/// Runs the command. `arguments` are those behind its name.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let done = match arguments::Cli::parse_from(arguments::sorted(arguments)).command {
        arguments::Command::Build(woven) => start("build", woven),
        arguments::Command::Run(woven) => start("run", woven),
        arguments::Command::Test(woven) => start("test", woven),
        arguments::Command::Bench(woven) => start("bench", woven),
        arguments::Command::New(new) => new::make(&new.path),
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
        None => own_target_dir(&graph),
    };
    let records = command != "build" && env::var_os("METASPY_RECORD").is_none();
    usable(&asked, records)?;
    let settings = Settings {
        cargo: &cargo.program,
        target: target.as_deref(),
        is_offline: cargo.is_offline(),
        flags: config.flags(),
        wrapper: config.wrapper(),
    };
    let plan = plan(&settings, &graph, &asked, cargo.builds_tests(command), &target_dir.join("weave"))?;
    export::check(&asked)?;
    let profile = cargo.profile_dir(command);
    let stale = || clean::find(&profile, &graph, &plan);
    let _turn = build_lock::take(&plan, &profile, &graph.workspace_root, stale, |stale| {
        stale.take_back(&cargo, command, &target_dir)
    })?;
    let mut built = cargo.command(command, &target_dir)?;
    built.env("RUSTC_WRAPPER", env::current_exe().context("this command cannot be found")?);
    built.env(PLAN, plan.write()?).env_remove(CHAIN).envs(settings.wrapper.map(|wrapper| (CHAIN, wrapper)));
    let recordings = if records { Some(Recordings::new(&plan.dir)?) } else { None };
    let spies = Spies::of(command, &asked);
    if let Some(recordings) = &recordings {
        recordings.ask(&mut built, &spies);
    }
    let outdated = wrapper::outdated(&plan.dir);
    let status = process::to_end(&mut built)?;
    let results = Results::read(&plan, &outdated, recordings.as_ref().map(|recordings| (recordings, &spies)));
    export::write(&results, &asked)?;
    match recordings {
        _ if asked.json.replaces_text() => export::print_json(&results)?,
        Some(_) => text::print(&results, &asked, io::stdout().is_terminal()),
        None => eprintln!("     Metaspy {}", text::woven(&results.woven)),
    }
    Ok(wrapper::exit_code(status))
}

/// What nothing could be told of is a mistake before anything is built.
fn usable(asked: &Woven, records: bool) -> Result<()> {
    if let Some(selector) = &asked.callers {
        selector.parse::<Selector>()?;
    }
    let told = [("--lcov", asked.lcov.is_some()), ("--cobertura", asked.cobertura.is_some())];
    let told =
        told.into_iter().chain([("--callers", asked.callers.is_some()), ("--profile", !asked.profile.is_empty())]);
    match told.into_iter().find(|(_, is_asked)| *is_asked && !records) {
        Some((word, _)) => {
            bail!(
                "{word} tells what ran: that needs `run`, `test` or `bench`, and no METASPY_RECORD in the environment"
            )
        }
        None => Ok(()),
    }
}

fn plan(settings: &Settings<'_>, graph: &Graph, asked: &Woven, with_tests: bool, dir: &Path) -> Result<Plan> {
    let selection = asked.selection();
    let (mut targets, is_core_needed) = target_crates::targets(graph, &selection, with_tests, dir)?;
    profilers::judge(graph, &asked.profiler, is_core_needed)?;
    let core = match is_core_needed {
        true => Some(runtime::core(settings, dir, &asked.profiler)?),
        false => None,
    };
    profilers::stamp_targets(&mut targets, core.as_ref())?;
    Ok(Plan { dir: dir.to_owned(), selection, targets, core })
}

/// Where nobody says where, beside what cargo builds. A program of a run that runs this command itself takes nothing back
/// that this run still needs.
fn own_target_dir(graph: &Graph) -> PathBuf {
    let own = graph.target_directory.join("metaspy");
    let around = env::var_os(PLAN).map(PathBuf::from);
    // The plan stands in `weave/plans`.
    match around.as_deref().and_then(|plan| plan.ancestors().nth(3)).filter(|around| around.starts_with(&own)) {
        Some(around) => around.join("metaspy"),
        None => own,
    }
}

/// The platform that programs are built for where nobody says another one.
fn host() -> Result<String> {
    let host = version()?.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned);
    host.context("rustc does not say what it builds for")
}
