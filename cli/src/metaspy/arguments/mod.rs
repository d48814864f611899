//! The command line: the commands here, the arguments of each in a file of its own.

mod blueprint;
mod demo;
mod diff;
mod export;
mod findings;
mod grammar;
mod history;
mod import;
mod instructions;
#[cfg(feature = "editor")]
mod lsp;
#[cfg(feature = "mcp")]
mod mcp;
mod overview;
mod report;
#[cfg(feature = "sample")]
mod sample;
mod scale;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use metaspy_reader::EventId;

use super::schema::Schema;
use crate::options::JsonOption;

pub use blueprint::{Blueprint, ChangeOf, Picture};
pub use demo::{Demo, Limits, Policy};
pub use diff::Diff;
pub use export::Export;
pub use findings::Findings;
pub use grammar::{Grammar, GrammarReport, Merged};
pub use history::{History, HistoryRun};
pub use import::Import;
pub use instructions::Instructions;
#[cfg(feature = "editor")]
pub use lsp::Lsp;
#[cfg(feature = "mcp")]
pub use mcp::Mcp;
pub use overview::{Printed, in_order, overview};
pub use report::Report;
#[cfg(feature = "sample")]
pub use sample::Sample;
pub use scale::Scale;
#[cfg(not(feature = "editor"))]
pub use scale::Scale as Lsp;
#[cfg(not(feature = "mcp"))]
pub use scale::Scale as Mcp;
#[cfg(not(feature = "sample"))]
pub use scale::Scale as Sample;

/// The hidden subcommand that runs the story of `demo`.
pub(crate) const STORY: &str = "__story";

/// Profiles a domain, not a call stack: which object, which event, what caused it
#[derive(Debug, Parser)]
#[command(
    name = "metaspy",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true
)]
#[command(help_template = overview())]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands. [`overview`] lists them in groups. The examples come first in a help, and the
/// first ones work wherever they are pasted.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows a layout engine at work, live. Start here
    #[command(
        before_help = "Examples:\n  metaspy demo\n  metaspy demo --record run.spy\n  metaspy demo page.html\n  \
        metaspy demo --record run.spy --events 10M\n  metaspy demo --record big.spy --events 100M --policy grow"
    )]
    Demo(Demo),
    /// Opens the crawler on running processes
    #[command(
        before_help = "Examples:\n  metaspy demo                   # in another terminal\n  metaspy attach                 # the only live recording, or the choice\n  metaspy attach 4711\n  metaspy attach dash            # by the name of the program\n  metaspy attach client server   # both as one: causes cross from process to process",
        after_help = "A process is recorded live when it was started with METASPY_RECORD=live;\nMETASPY_OBSERVE='Scene::*' says what of it, else it is everything.\nWith METASPY_CONTROL=1 the crawler changes that while it runs (docs/crawler.md)."
    )]
    Attach {
        /// The numbers or the names of processes, or files; of several with a name the newest.
        /// `metaspy list` shows them
        #[arg(value_name = "PID|NAME|FILE")]
        processes: Vec<PathBuf>,
    },
    /// Lists live recordings, of running and ended processes
    #[command(before_help = "Examples:\n  metaspy list\n  metaspy list --json")]
    List {
        /// JSON
        #[command(flatten)]
        json: JsonOption,
    },
    /// Opens the crawler on recordings; several are one
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy open run.spy\n  metaspy open layout\n  metaspy open client.spy server.spy\n  metaspy open run.spy --finding 1\n  metaspy open run.spy --event 77.3\n  metaspy open sealed/run=20260131T235959.123456789Z\n  ssh host metaspy stream 4711 | metaspy open -",
        after_help = "Several are read as one, as they are now: causes cross from process to process (docs/processes.md)."
    )]
    Open {
        /// Files, directories of them, or the names or the processes of live recordings, sealed
        /// sets, or `-` for what comes on standard input
        #[arg(required = true, value_name = "FILE|NAME|-")]
        files: Vec<PathBuf>,
        /// Opens on the events of the finding with this number in `metaspy findings`
        #[arg(long, value_name = "N")]
        finding: Option<usize>,
        /// Opens on the event with this id, such as 77.3, with its causes and its effects
        #[arg(long, value_name = "ID", conflicts_with = "finding")]
        event: Option<EventId>,
    },
    /// Writes a live recording to standard output
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy stream run.spy | metaspy report -\n  ssh host metaspy stream 4711 | metaspy open -\n  metaspy stream layout | gzip > run.gz\n  \
        gunzip < run.gz | metaspy report -",
        after_help = "It ends when the process ends or closes its recording, and when the reader closes the pipe.\nThe process itself takes no part in it (docs/processes.md)."
    )]
    Stream {
        /// The process, or the name of its recording or a file; `metaspy list` shows those that
        /// record
        #[arg(value_name = "PID|NAME|FILE")]
        source: PathBuf,
    },
    /// Removes the live recordings of ended processes
    #[command(before_help = "Example:\n  metaspy clean")]
    Clean,
    /// Prints the JSON Schema of what a command writes
    #[command(
        before_help = "Examples:\n  metaspy schema\n  metaspy schema report\n  metaspy schema findings > findings.schema.json",
        after_help = "How a script uses them is described in docs/json.md."
    )]
    Schema {
        /// The schema; without it, all are listed
        #[arg(value_name = "NAME", value_parser = Schema::parser())]
        schema: Option<Schema>,
    },
    /// Prints completions for a shell, or the man page
    #[command(before_help = "Examples:\n  metaspy completions bash > metaspy.bash\n  \
        metaspy completions man > metaspy.1 && man ./metaspy.1\n  \
        metaspy completions bash > ~/.local/share/bash-completion/completions/metaspy\n  \
        metaspy completions zsh > ~/.zfunc/_metaspy\n  metaspy completions fish > ~/.config/fish/completions/metaspy.fish")]
    Completions {
        /// The shell, or `man`
        #[arg(value_name = "SHELL|man", value_parser = Printed::parser())]
        printed: Printed,
    },
    /// Prints what was counted, for people or for programs
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy report run.spy\n  metaspy report run.spy --by subject --top 20\n  \
        metaspy report run.spy --by site,subject\n  metaspy report run.spy --by subject --cpu\n  \
        metaspy report run.spy --sort self --percent\n  \
        metaspy report run.spy --filter 'site:measure took:>1ms' --json\n  \
        metaspy report run.spy --fail-if 'count(site:measure) > 1000'\n  \
        metaspy report client.spy server.spy --by cause\n  \
        ssh host cat run.spy | metaspy report -",
        after_help = "The JSON is described in docs/report.md."
    )]
    Report(Report),
    /// States what is wrong with a program
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy findings run.spy\n  metaspy findings run.spy --kind repeated --all\n  \
        metaspy findings client.spy server.spy --json=findings.json\n  metaspy findings run.spy --fail-on 'repeated > 5 %' --baseline before.json\n  \
        metaspy findings --explain repeated",
        after_help = "No site has to be named. Each finding names its events, its cost and how certain it is. docs/findings.md explains \
        kinds and metaspy.toml; the JSON is described in docs/report.md."
    )]
    Findings(Findings),
    /// Compares two versions: counts exactly, times with noise
    #[command(
        before_help = "Examples:\n  metaspy demo --record before.spy --seconds 1\n  metaspy demo --record after.spy --seconds 1\n  metaspy diff before.spy after.spy\n  metaspy diff before.spy after.spy --by subject --top 50\n  \
        metaspy diff before.spy after.spy --by method --sort count --percent\n  \
        metaspy diff a1.spy,a2.spy,a3.spy b1.spy,b2.spy,b3.spy --by method\n  \
        metaspy diff before/ after/ --fail-on 'count +10%' --fail-on 'time +10%' --json=diff.json",
        after_help = "It ends with 1 if a change fails. The text and the JSON are described in docs/diff.md."
    )]
    Diff(Diff),
    /// Writes a recording in a format of another tool
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy export run.spy --to chrome -o run.trace.json     # then open it in ui.perfetto.dev\n  \
        metaspy export run.spy --to jsonl --filter 'site:measure took:>1ms' | jq .subject.label\n  \
        metaspy export run.spy --to collapsed | inferno-flamegraph > run.svg\n  \
        metaspy export layout --to csv -o layout.csv",
        after_help = "What each format can hold is described in docs/export.md."
    )]
    Export(Export),
    /// Makes a recording of another tool's profile
    #[command(
        before_help = "Examples:\n  echo 'main;parse 17' > stacks.txt && metaspy import stacks.txt --period 1ms -o stacks.spy\n  \
        metaspy import cpu.pprof -o run.spy\n  \
        metaspy import profile.json.gz -o run.spy    # of samply, or saved from profiler.firefox.com\n  \
        metaspy import callgrind.out.4711 -o run.spy && metaspy blueprint flame run.spy --html flame.html",
        after_help = "What of each format is imported is described in docs/import.md."
    )]
    Import(Import),
    /// Samples where the processor time of any program goes
    #[command(
        before_help = "Examples:\n  metaspy sample -- metaspy demo --record run.spy --seconds 1\n  metaspy sample -- target/release/app --fast\n  metaspy sample --rate 100 --callers -- app\n  \
        metaspy sample --pid 4711 --seconds 10\n  metaspy sample --pid 4711 --live\n  metaspy sample --html flames.html --speedscope run.json -- app",
        after_help = "By function, line and inlined function. The program needs nothing of metaspy in it. Names and lines need debug\n\
        information: build it with CARGO_PROFILE_RELEASE_DEBUG=limited. The columns and the JSON are described in\ndocs/sampling.md."
    )]
    Sample(Box<Sample>),
    /// Counts the instructions of each method with callgrind
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  \
        metaspy instructions run.spy -- metaspy demo --record again.spy --seconds 1\n  \
        metaspy instructions run.spy -- target/release/app --fast\n  \
        metaspy instructions target/metaspy/runs/3 -- cargo metaspy run --release\n  \
        metaspy blueprint evolution before.spy after.spy --by instructions",
        after_help = "The recording gets a table with them, which `metaspy report --by type` and evolutions show. They\n\
        do not depend on the load of the machine. It needs valgrind, and debug information in the program.\n\
        Of a command that starts with `cargo`, the programs that it starts run under valgrind\n\
        (docs/blueprints.md)."
    )]
    Instructions(Instructions),
    /// Draws who calls whom, where time goes, what changed
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy blueprint structural run.spy\n  \
        metaspy blueprint behavioural run.spy --html run.html --open\n  \
        metaspy blueprint flame run.spy --html flame.html\n  \
        metaspy blueprint flame run.spy --baseline run.spy --html change.html\n  \
        metaspy blueprint behavioural run.spy --from Scene::layout --threshold 0.1\n  \
        metaspy blueprint structural run.spy --hooks measured\n  \
        metaspy blueprint coverage run.spy --svg coverage.svg\n  \
        metaspy blueprint evolution before.spy after.spy --html change.html",
        after_help = "As text, as one HTML file, as SVG. Times and callers need a run with METASPY_PROFILE=calls, returned values\n\
        `cargo metaspy … --returns`. The pictures are described in docs/blueprints.md."
    )]
    Blueprint(Blueprint),
    /// Shows in an editor what ran: language server, plugins
    #[command(
        before_help = "Examples:\n  metaspy lsp --install nvim\n  metaspy lsp --install vscode\n  \
        cargo metaspy test --timed    # what the editor then shows",
        after_help = "Without --install it speaks the language server protocol on standard input and output: editors start it\n\
        (docs/editor.md)."
    )]
    Lsp(Lsp),
    /// Answers coding agents, over MCP
    #[command(
        before_help = "Examples:\n  metaspy mcp --install claude --write\n  metaspy mcp --install codex\n  \
        metaspy mcp run.spy --install vscode --write\n  \
        metaspy mcp --allow-run 'cargo metaspy *' --install claude --write",
        after_help = "Without --install it speaks the Model Context Protocol on standard input and output: clients start it. It reads\n\
        recordings, and the sources that they name in this directory, and changes nothing (docs/agents.md)."
    )]
    Mcp(Mcp),
    /// Records the revisions of a repository, to compare them
    #[command(
        subcommand,
        before_help = "Example:\n  metaspy history run HEAD~1..HEAD -- cargo metaspy run --release"
    )]
    History(History),
    /// States which productions of a grammar never match
    #[command(
        before_help = "Examples:\n  echo 'number = { hex | ASCII_DIGIT+ }  hex = { \"0\" ~ \"x\" }' > number.pest\n  \
        echo 17 | metaspy grammar number.pest --rule number\n  \
        metaspy grammar toml.pest --rule toml tests/\n  \
        metaspy grammar toml.pest --rule toml tests/ --glob '*.toml' --fail-under 95\n  \
        metaspy grammar toml.pest --rule toml tests/ --json=before.json\n  \
        metaspy grammar toml.pest --rule toml tests/ --baseline before.json\n  \
        metaspy grammar toml.pest --rule toml tests/ --record parses.spy && metaspy open parses.spy",
        after_help = "The JSON is described in docs/grammar.md."
    )]
    Grammar(Box<Grammar>),
    /// Runs SQL on recordings; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy query 'SELECT site, count(*) FROM events GROUP BY site' run.spy"
    )]
    Query(Scale),
    /// Writes recordings as partitioned Parquet; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy seal run.spy --to s3://bucket/prefix"
    )]
    Seal(Scale),
    /// Starts executors for `metaspy query --cluster`; the package `metaspy-scale` has it
    #[command(disable_help_flag = true, before_help = "Example:\n  metaspy cluster --executors 2")]
    Cluster(Scale),
    /// Makes recordings of a sealed set again; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy restore s3://bucket/prefix --to recordings"
    )]
    Restore(Scale),
    /// Seals the recordings of a directory as they end; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy ship /var/spool/metaspy --to s3://bucket/prefix"
    )]
    Ship(Scale),
    /// Serves tallies to Prometheus, and tables as JSON; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy serve run.spy --listen 127.0.0.1:9464"
    )]
    Serve(Scale),
    /// Sends spans and metrics to OpenTelemetry; the package `metaspy-scale` has it
    #[command(
        disable_help_flag = true,
        before_help = "Example:\n  metaspy otlp run.spy --to http://localhost:4317"
    )]
    Otlp(Scale),
    /// Lists the content, damage and gaps of a recording
    #[command(
        before_help = "Examples:\n  metaspy demo --record run.spy --seconds 1\n  metaspy verify run.spy\n  metaspy verify run.spy --json"
    )]
    Verify {
        /// A file, or the name or the process of a live recording
        #[arg(value_name = "FILE|NAME")]
        file: PathBuf,
        /// JSON
        #[command(flatten)]
        json: JsonOption,
    },
    /// The story that `demo` shows, in a process of its own, until its standard input is closed
    #[command(hide = true, name = STORY)]
    Story {
        /// The page
        page: Option<PathBuf>,
    },
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('s').parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("write a number of seconds, such as 5 or 0.5".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_begins_with_an_example() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_before_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Example"), "{}", command.get_name());
            assert!(
                help.contains(&format!("metaspy {}", command.get_name())),
                "{}",
                command.get_name()
            );
        }
    }
}
