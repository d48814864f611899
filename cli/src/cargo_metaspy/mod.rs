//! The command `cargo metaspy`: plans the weaving, starts cargo, and reports the run.

pub mod arguments;
mod build_lock;
mod cargo;
mod clean;
mod compiled;
mod completions;
mod conditions;
mod config;
mod export;
mod graph;
mod link_time;
mod match_functions;
mod new;
mod process;
mod profilers;
mod recordings;
mod results;
mod short_functions;
mod source_cache;
mod sources;
mod target_crates;
mod text;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, io};

use anyhow::{Context, Result, bail};
use metaspy_blueprints::Kind;
use metaspy_core::Selector;
use metaspy_report::runs::Note;
use metaspy_report::text::print_message;
use metaspy_weave::plan::{CHAIN, PLAN, Plan, Selection};
use metaspy_weave::runtime::{self, Settings, host};
use metaspy_weave::wrapper::doc_tests::RUSTDOC;
use metaspy_weave::wrapper::{self, EarlierLists, adds_core_to_libraries};

use crate::exit::complain;
use crate::outputs;
use arguments::Woven;
use cargo::{Cargo, NEXTEST};
use conditions::{Conditions, Failure};
use config::Config;
use graph::Graph;
use profilers::Requested;
use recordings::Recordings;
use results::Results;
use sources::Sources;

/// The exit code of usage, and of selectors that match nothing.
const UNUSABLE: u8 = 2;

/// Runs the command with the arguments behind its name.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let (parsed, outputs) = match outputs::parse::<arguments::Cli>(arguments::sorted(arguments)) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let done = outputs.check().and_then(|()| match parsed.command {
        arguments::Command::Build(woven) => start("build", woven),
        arguments::Command::Run(woven) => start("run", woven),
        arguments::Command::Test(woven) => start("test", woven),
        arguments::Command::Bench(woven) => start("bench", woven),
        arguments::Command::Nextest(woven) => start(NEXTEST, woven),
        arguments::Command::New(new) => new::make(&new.path),
        arguments::Command::Completions { shell } => completions::print(shell),
    });
    match done {
        Ok(code) => code,
        Err(error) => {
            complain("error: metaspy", &format!("{error:#}"));
            ExitCode::from(UNUSABLE)
        }
    }
}

fn start(command: &str, mut options: Woven) -> Result<ExitCode> {
    let arguments = std::mem::take(&mut options.cargo);
    let mut cargo =
        if command == NEXTEST { Cargo::nextest(arguments)? } else { Cargo::new(arguments) };
    let typed = typed(command);
    let config = Config::read(&cargo);
    let target = cargo
        .target()
        .map(|target| target.to_string_lossy().into_owned())
        .or_else(|| config.target());
    let platform = match &target {
        Some(target) => target,
        None => host()?,
    };
    let graph = Graph::read(&cargo, platform)?;
    let target_dir = match cargo.target_dir() {
        Some(dir) => std::path::absolute(dir)?,
        None => own_target_dir(&graph),
    };
    let is_recorded_elsewhere = env::var_os("METASPY_RECORD").is_some_and(|file| !file.is_empty());
    let records = command != "build" && !is_recorded_elsewhere;
    let conditions = Conditions::of(&options, records)?;
    profilers::check_names(&graph, &options)?;
    let settings = Settings {
        cargo: &cargo.program,
        target: target.as_deref(),
        is_offline: cargo.is_offline(),
        flags: config.flags(),
        wrapper: config.wrapper(),
    };
    let dir = target_dir.join("weave");
    let profilers = Requested::new(command, &options);
    let selection = Selection {
        // A program with a core of its own may ask for more by itself.
        entries: if records && !graph.has_own_core() { profilers.entries(&options) } else { None },
        ..options.selection()
    };
    let plan = plan(
        &settings,
        &graph,
        &options,
        selection,
        conditions.callers(),
        cargo.builds_tests(command),
        &dir,
    )?;
    let sources = Sources { graph: &graph, target_dir: &target_dir };
    export::check(&options, &sources)?;
    let profile = cargo.profile_dir(command);
    let stale = || clean::find(&profile, &graph, &plan);
    let _lock = build_lock::acquire(&plan, &profile, &graph.workspace_root, stale, |stale| {
        stale.clean(&cargo, command, &target_dir)
    })?;
    // Results that cargo has compiled for link-time optimisation are of no use without it.
    let only_counts = plan.selection.entries.is_some() && command != "bench";
    cargo.setting =
        if only_counts { link_time::off(&cargo, command, &graph.workspace_root) } else { None };
    if cargo.setting.is_none() {
        compiled::copy(&graph, &plan, target.as_deref(), &profile, &target_dir);
    }
    let mut built = cargo.command(command, &target_dir)?;
    let this = env::current_exe().context("cannot find the file of this command")?;
    built.env("RUSTC_WRAPPER", &this).env("RUSTDOC", this).env(RUSTDOC, config.rustdoc());
    built
        .env(PLAN, plan.write()?)
        .env_remove(CHAIN)
        .envs(settings.wrapper.map(|wrapper| (CHAIN, wrapper)));
    let recordings = if records {
        Some(Recordings::new(&target_dir, Note::now(typed, graph.workspace_root.clone()))?)
    } else {
        None
    };
    if let Some(recordings) = &recordings {
        recordings.set_environment(&mut built, &profilers);
    }
    let earlier = EarlierLists::read(&plan.dir);
    let status = process::to_end(&mut built)?;
    let results = Results::read(&plan, &earlier, recordings.as_ref());
    let results = Results { comparison: conditions.comparison(&results.run), ..results };
    let first = if cargo::runs_tests(command) { Kind::Coverage } else { Kind::Structural };
    export::write(&results, recordings.as_ref(), &options, &sources, first)?;
    match &recordings {
        _ if options.json.replaces_text() => export::print_json(&results, &options)?,
        Some(recordings) => {
            if status.success() || results.run.processes != Some(0) {
                text::print(&results, &options, io::stdout().is_terminal())
            } else {
                print_message(&format_args!("     Metaspy {}", text::NOTHING))
            }
            if let Some(run) = recordings.kept() {
                print_message(&text::browse(run));
                text::mention(run).iter().for_each(print_message);
            }
        }
        None => {
            print_message(&format_args!("     Metaspy {}", text::woven(&results.woven)));
            if !results.woven.packages.is_empty() {
                print_message(&format_args!("     Metaspy {}", text::WHOLE_HOOKS));
            }
            text::below_attributes(&results.woven)
                .iter()
                .for_each(|line| print_message(&format_args!("     Metaspy {line}")));
        }
    }
    for refused in results.woven.refused().iter().filter(|refused| refused.asked_by.is_none()) {
        complain("warning: metaspy", &text::refused(refused));
    }
    let mut failures = Conditions::refusals(&results.woven);
    failures.extend(conditions.failures(&results.run, &profilers, results.comparison.as_ref()));
    failures.iter().for_each(|failure| complain("error: metaspy", &failure.message));
    Ok(exit_code(wrapper::exit_code(status), &failures))
}

/// The command as it was typed.
fn typed(command: &str) -> String {
    let words = env::args()
        .skip_while(|word| word != command)
        .map(|word| if word.contains([' ', '*']) { format!("'{word}'") } else { word });
    ["cargo".to_owned(), "metaspy".to_owned()]
        .into_iter()
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the exit code of cargo or the program, or that of the failures: a failed gate fails the
/// command, whatever is missing elsewhere.
fn exit_code(ended: ExitCode, failures: &[Failure]) -> ExitCode {
    let least =
        failures.iter().map(|failure| failure.code).min().filter(|_| ended == ExitCode::SUCCESS);
    least.map_or(ended, ExitCode::from)
}

fn plan(
    settings: &Settings<'_>,
    graph: &Graph,
    options: &Woven,
    selection: Selection,
    callers: Option<&Selector>,
    with_tests: bool,
    dir: &Path,
) -> Result<Plan> {
    let cache = runtime::cache_directory(dir)?;
    let with_libraries = adds_core_to_libraries(settings.target.map(OsStr::new));
    let (mut targets, is_core_needed) =
        target_crates::targets(graph, &selection, callers, with_tests, with_libraries, dir)?;
    profilers::check(graph, &options.profiler, is_core_needed)?;
    if options.allocations && !is_core_needed {
        bail!(
            "--allocations: no program is built that gets metaspy's core from this command. In a program that depends on metaspy, \
             put its allocator into a `metaspy_core::hook::Counting` and use `--profile allocations`"
        );
    }
    let core = if is_core_needed {
        Some(runtime::core(settings, &cache, &options.profiler)?)
    } else {
        None
    };
    profilers::stamp_targets(&mut targets, core.as_ref())?;
    Ok(Plan { dir: dir.to_owned(), cache, selection, targets, core })
}

/// The target directory by default: below the target directory of cargo. A program of a run may run
/// this command; then the directory is another one, so that it cleans nothing that this run needs.
fn own_target_dir(graph: &Graph) -> PathBuf {
    let own = graph.target_directory.join("metaspy");
    let around = env::var_os(PLAN).map(PathBuf::from);
    // The plan is in `weave/plans`.
    match around
        .as_deref()
        .and_then(|plan| plan.ancestors().nth(3))
        .filter(|around| around.starts_with(&own))
    {
        Some(around) => around.join("metaspy"),
        None => own,
    }
}
