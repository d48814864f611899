//! The command `metaspy`: opens, reports and verifies recordings.
//!
//! [`arguments`] is the command line. [`run`] has one arm for each subcommand, and each subcommand
//! has a module.

pub mod arguments;
mod blueprint;
#[cfg(feature = "demo")]
mod demo;
mod diff;
mod evolution;
mod export;
mod filter;
mod findings;
mod flame;
#[cfg(feature = "grammar")]
mod grammar;
#[cfg(feature = "sample")]
mod history;
mod import;
mod incoming;
#[cfg(feature = "sample")]
mod instructions;
mod live;
#[cfg(feature = "editor")]
mod lsp;
#[cfg(feature = "mcp")]
mod mcp;
mod private_directory;
mod progress;
mod report;
#[cfg(feature = "sample")]
mod sample;
mod scale;
mod schema;
mod stream;
mod verify;

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use clap::CommandFactory;
use clap_mangen::Man;
use metaspy_blueprints::Kind;
use metaspy_core::Store;
use metaspy_reader::EventId;
use metaspy_reader::platform::allocator;
use metaspy_report::table::{Column, Table};
use metaspy_report::text::{clean, counted, file_name, short_bytes};
use metaspy_tui::crawler::{self, Crawler};
use serde::Serialize;

use crate::exit::{Ended, say};
#[cfg(feature = "sample")]
use crate::metaspy::arguments::History;
use crate::metaspy::arguments::{Cli, Command, Picture, Printed};
use crate::options::JsonOption;
use live::{Cleaned, Listed};

/// Runs the command of the command line.
pub fn run(cli: Cli) -> Result<Ended> {
    live::guard();
    // Buffered: a report may have a million rows. Not locked: `sample --live` also writes from
    // another thread.
    let mut out = io::BufWriter::new(io::stdout());
    let ended = match cli.command {
        #[cfg(feature = "demo")]
        Command::Demo(options) => match options.record {
            Some(file) => demo::record(options.page.as_deref(), &file, &options.limits, &mut out),
            None => {
                needs_terminal("metaspy demo --record run.spy && metaspy report run.spy")?;
                demo::show(options.page.as_deref())
            }
        },
        #[cfg(feature = "demo")]
        Command::Story { page } => demo::attended(page.as_deref()),
        Command::Attach { processes } => {
            let paths = match &processes[..] {
                [] => vec![live::attach(None)?],
                some => {
                    some.iter().map(|process| live::attach(Some(process))).collect::<Result<_>>()?
                }
            };
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            needs_terminal(&format!("metaspy report {}", names.join(" ")))?;
            crawl(crawler_on(live::open_all(&paths)?, &paths))
        }
        Command::Open { files, finding, event } => {
            let paths = live::paths_of(&files)?;
            let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            let instead = format!("metaspy report {}", names.join(" "));
            let is_stream = |path: &PathBuf| path == Path::new(incoming::STANDARD);
            if let [only] = &paths[..]
                && is_stream(only)
                && finding.is_none()
                && event.is_none()
            {
                let coming = incoming::open()?;
                needs_terminal_beside_input(&instead)?;
                return crawl(crawler_on(coming.in_background()?, &paths));
            }
            // A file that cannot be opened is reported first, with and without a terminal.
            let mut crawler = crawler_on(live::open_all(&paths)?, &paths);
            if let Some(number) = finding {
                open_finding(&mut crawler, number, &names)?;
            }
            if let Some(id) = event {
                open_event(&mut crawler, id)?;
            }
            if paths.iter().any(is_stream) {
                needs_terminal_beside_input(&instead)?
            } else {
                needs_terminal(&instead)?
            }
            crawl(crawler)
        }
        Command::List { json } => list(&json, &mut out),
        Command::Schema { schema } => schema::run(schema, &mut out),
        Command::Completions { printed } => completions(printed, &mut out),
        Command::Stream { source } => stream::send(&source),
        Command::Clean => clean_up(&mut out),
        Command::Report(options) => report::run(&options, &mut out),
        Command::Findings(options) => findings::run(&options, &mut out),
        Command::Diff(options) => diff::run(&options, &mut out),
        Command::Export(options) => export::run(&options),
        Command::Import(options) => import::run(&options),
        #[cfg(feature = "sample")]
        Command::Sample(options) => sample::run(&options, &mut out),
        #[cfg(feature = "sample")]
        Command::Instructions(options) => instructions::run(&options, &mut out),
        Command::Blueprint(options) => match options.kind {
            Picture::Flame => flame::run(&options, &mut out),
            Picture::Scene(Kind::Evolution) => evolution::run(&options, &mut out),
            Picture::Scene(kind) => blueprint::run(kind, &options, &mut out),
        },
        #[cfg(feature = "editor")]
        Command::Lsp(options) => lsp::run(&options),
        #[cfg(feature = "mcp")]
        Command::Mcp(options) => mcp::run(&options),
        #[cfg(feature = "sample")]
        Command::History(History::Run(options)) => history::run(&options, &mut out),
        #[cfg(feature = "grammar")]
        Command::Grammar(options) => grammar::run(&options, &mut out),
        Command::Query(options) => scale::run("query", &options.arguments),
        Command::Seal(options) => scale::run("seal", &options.arguments),
        Command::Cluster(options) => scale::run("cluster", &options.arguments),
        Command::Restore(options) => scale::run("restore", &options.arguments),
        Command::Ship(options) => scale::run("ship", &options.arguments),
        Command::Otlp(options) => scale::run("otlp", &options.arguments),
        Command::Serve(options) => scale::run("serve", &options.arguments),
        Command::Verify { file, json } => verify::run(&file, &json, &mut out),
        #[cfg(not(feature = "demo"))]
        Command::Demo(_) | Command::Story { .. } => Err(left_out("demo")),
        #[cfg(not(feature = "editor"))]
        Command::Lsp(_) => Err(left_out("editor")),
        #[cfg(not(feature = "grammar"))]
        Command::Grammar(_) => Err(left_out("grammar")),
        #[cfg(not(feature = "mcp"))]
        Command::Mcp(_) => Err(say(
            "this metaspy was built without the feature `mcp`: `cargo install --locked --path cli --features mcp`, in a clone of \
             metaspy, has it",
        )),
        #[cfg(not(feature = "sample"))]
        Command::History(_) | Command::Instructions(_) | Command::Sample(_) => {
            Err(left_out("sample"))
        }
    }?;
    // A writer that is dropped reports no full disk.
    out.flush()?;
    Ok(ended)
}

/// The error of a command whose feature this program was built without.
#[cfg(not(all(feature = "demo", feature = "editor", feature = "grammar", feature = "sample")))]
fn left_out(feature: &str) -> anyhow::Error {
    say(format!(
        "this metaspy was built without the feature `{feature}`: `cargo install --locked --path cli`, in a clone of metaspy, \
         has all of them"
    ))
}

/// Writes the completions for a shell, or the man page.
fn completions(printed: Printed, out: &mut impl Write) -> Result<Ended> {
    let mut text = Vec::new();
    match printed {
        Printed::For(shell) => {
            clap_complete::generate(shell, &mut Cli::command(), "metaspy", &mut text)
        }
        Printed::Man => man_page(&mut text)?,
    }
    // In bash, completions offer hidden commands, too.
    let text = String::from_utf8(text)?.replace(&format!(" {}", arguments::STORY), "");
    out.write_all(text.as_bytes())?;
    Ok(Ended::Fine)
}

/// Writes the man page, with a section for each command in the order of the help.
fn man_page(out: &mut Vec<u8>) -> Result<()> {
    let mut command = Cli::command();
    command.build();
    let page = Man::new(command.clone());
    page.render_title(out)?;
    page.render_name_section(out)?;
    page.render_synopsis_section(out)?;
    page.render_description_section(out)?;
    let with_parts = |command: &clap::Command| {
        let parts = command.get_subcommands().filter(|part| part.get_name() != "help").cloned();
        iter::once(command.clone()).chain(parts.collect::<Vec<_>>())
    };
    for command in arguments::in_order(&command).flat_map(with_parts) {
        let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
        let page = Man::new(command);
        let mut sections = Vec::new();
        page.render_description_section(&mut sections)?;
        page.render_synopsis_section(&mut sections)?;
        page.render_options_section(&mut sections)?;
        page.render_extra_section(&mut sections)?;
        // These are sections of the command, and not of the page.
        let sections = String::from_utf8(sections)?.replace(".SH ", ".SS ");
        write!(out, ".SH \"{}\"\n{sections}", name.to_uppercase())?;
    }
    page.render_version_section(out)?;
    Ok(())
}

/// Fails without a terminal: the crawler needs one.
fn needs_terminal(instead: &str) -> Result<()> {
    if io::stdout().is_terminal() && io::stdin().is_terminal() {
        Ok(())
    } else {
        Err(say(format!("the crawler needs a terminal, and this is none; for text use: {instead}")))
    }
}

/// As [`needs_terminal`], where standard input carries a recording: keys come from the terminal
/// itself.
fn needs_terminal_beside_input(instead: &str) -> Result<()> {
    let has_keys = io::stdin().is_terminal() || cfg!(windows) || File::open(crawler::KEYS).is_ok();
    if io::stdout().is_terminal() && has_keys {
        Ok(())
    } else {
        Err(say(format!("the crawler needs a terminal, and this is none; for text use: {instead}")))
    }
}

/// Opens the events of the finding with this number.
fn open_finding(crawler: &mut Crawler, number: usize, sources: &[String]) -> Result<()> {
    let findings = findings::search(&crawler.store)?;
    let listed = findings.listed().count();
    if crawler.open_finding(findings, number) {
        return Ok(());
    }
    let sources = sources.join(" ");
    let found = match listed {
        0 => "nothing was found".to_owned(),
        found => format!("the recording has {}", counted(found as u64, "finding")),
    };
    Err(say(format!(
        "--finding: there is no finding {number}, {found}: `metaspy findings {sources}` lists all"
    )))
}

/// Opens the event with this id.
fn open_event(crawler: &mut Crawler, id: EventId) -> Result<()> {
    let event = crawler.store.event(id);
    crawler.go_to(event.ok_or_else(|| {
        say(format!(
            "--event: the recording has no event {id}: it left the window, or it is of another one"
        ))
    })?);
    Ok(())
}

fn crawler_on(store: Store, files: &[PathBuf]) -> Crawler {
    let name = |file: &PathBuf| {
        file.file_name()
            .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = files.iter().map(name).collect();
    Crawler::new(store, names.join(" + "), (80, 24))
}

fn crawl(crawler: Crawler) -> Result<Ended> {
    allocator::return_large_blocks();
    crawler::run(crawler)?;
    Ok(Ended::Fine)
}

#[derive(Serialize)]
struct ListedOut<'a> {
    pid: u32,
    name: &'a str,
    run: Option<&'a str>,
    alive: bool,
    bytes: u64,
    path: String,
}

fn list(json: &JsonOption, out: &mut impl Write) -> Result<Ended> {
    let all = live::list();
    let rows = all.iter().map(|it| ListedOut {
        pid: it.pid,
        name: &it.name,
        run: it.run.as_deref(),
        alive: it.alive,
        bytes: it.bytes,
        path: it.path.display().to_string(),
    });
    json.write(
        out,
        |out| {
            serde_json::to_writer_pretty(&mut *out, &rows.collect::<Vec<_>>())?;
            writeln!(out)
        },
        |out| list_as_text(out, &all),
    )?;
    Ok(Ended::Fine)
}

fn list_as_text(out: &mut impl Write, all: &[Listed]) -> io::Result<()> {
    if let Some(why) = live::refusal() {
        writeln!(out, "No program records in {}: {why}.", file_name(&live::directory()))?;
    }
    if all.is_empty() {
        writeln!(out, "No recordings in {}.", file_name(&live::directory()))?;
        return writeln!(out, "Start a program with METASPY_RECORD=live, or try:  metaspy demo");
    }
    let text = |of: &dyn Fn(&Listed) -> String| -> Vec<String> { all.iter().map(of).collect() };
    let table = Table::new([
        Column::numbers("process", text(&|it| it.pid.to_string())).at_least(8),
        Column::words("name", text(&|it| clean(&it.name).into_owned())).at_most(40),
        Column::words("state", text(&|it| state(it).to_owned())),
        Column::numbers("size", text(&|it| short_bytes(it.bytes))).at_least(8),
        Column::words("last written", text(&ago)),
        Column::words("file", text(&|it| file_name(&it.path))),
    ]);
    table.lines().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(
        out,
        "\nmetaspy attach NAME opens one, by name or by process; so do the other commands."
    )?;
    writeln!(out, "metaspy clean removes those that ended.")
}

/// Unknown: see [`Listed::has_ended`].
fn state(listed: &Listed) -> &'static str {
    match (listed.alive, listed.has_ended) {
        (true, _) => "running",
        (false, true) => "ended",
        (false, false) => "unknown",
    }
}

fn ago(listed: &Listed) -> String {
    let seconds = SystemTime::now().duration_since(listed.changed).unwrap_or_default().as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn clean_up(out: &mut impl Write) -> Result<Ended> {
    let Cleaned { removed, kept } = live::clean()?;
    let bytes = removed.iter().map(|it| it.bytes).sum();
    for it in &removed {
        writeln!(out, "removed {}", file_name(&it.path))?;
    }
    writeln!(
        out,
        "{} removed, {}",
        counted(removed.len() as u64, "recording"),
        short_bytes(bytes)
    )?;
    if !kept.is_empty() {
        let (files, bytes) =
            (counted(kept.len() as u64, "earlier file"), kept.iter().map(|it| it.bytes).sum());
        let kept =
            format!("{files} of processes that still run and rotate, {}", short_bytes(bytes));
        writeln!(
            out,
            "kept {kept}: they are a part of the run; `metaspy ship` takes them away safely"
        )?;
    }
    out.flush()?;
    Ok(Ended::Fine)
}
