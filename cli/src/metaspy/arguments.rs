//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use metaspy_blueprints::Kind;
use metaspy_core::recording::BUDGETS;
use metaspy_lsp::install::Editor;
use metaspy_report::diff::By as DiffBy;
use metaspy_report::export::Format;
use metaspy_report::rows::{By, Sort};
use metaspy_report::text::{parse_number, parse_size};
use metaspy_sampler::Stacks;
use metaspy_sampler::options::RATE_MAX_HZ;

use crate::options::{FailUnderOption, JsonOption, TopOption, parse_percent};

/// The hidden subcommand that runs the story of `demo`.
pub const STORY: &str = "__story";

/// Profiles a domain, not a call stack: which object, which event, and what caused it.
#[derive(Debug, Parser)]
#[command(name = "metaspy", version, max_term_width = 100, subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: 0 fine; 1 a condition failed, or the recording is damaged but readable; 2 usage, or \
    the recording or the grammar cannot be read.\n\nStart with:  metaspy demo"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows a layout engine at work: a page that changes, laid out by taffy, live in the crawler
    #[command(
        after_help = "Examples:\n  metaspy demo\n  metaspy demo page.html\n  metaspy demo --record run.spy --events 10M\n  \
        metaspy demo --record big.spy --events 100M --policy grow"
    )]
    Demo(Demo),
    /// Opens the crawler on a running process
    #[command(
        after_help = "Examples:\n  metaspy attach          the only live recording, or the choice\n  metaspy attach 4711\n  metaspy attach dash     by the name of the program\n\n\
        A process is recorded live when it was started with METASPY_RECORD=live;\nMETASPY_OBSERVE='Scene::*' says what of it, else it is everything."
    )]
    Attach {
        /// The number or the name of the process, or a file; of several with this name the newest. `metaspy list`
        /// shows them
        #[arg(value_name = "PID|NAME|FILE")]
        process: Option<PathBuf>,
    },
    /// Lists live recordings, of running and of ended processes
    #[command(after_help = "Examples:\n  metaspy list\n  metaspy list --json")]
    List {
        /// JSON
        #[command(flatten)]
        json: JsonOption,
    },
    /// Opens the crawler on a recording, or on the recordings of several processes as one
    #[command(
        after_help = "Examples:\n  metaspy open run.spy\n  metaspy open layout\n  metaspy open client.spy server.spy\n  ssh host metaspy stream 4711 | metaspy open -\n\n\
        Several are read as one, as they are now: causes cross from process to process (docs/processes.md)."
    )]
    Open {
        /// Files, directories of them, or the names or the processes of live recordings, or `-` for what comes on
        /// standard input
        #[arg(required = true, value_name = "FILE|NAME|-")]
        files: Vec<PathBuf>,
    },
    /// Writes a live recording, and what becomes of it, to standard output
    #[command(
        after_help = "Examples:\n  ssh host metaspy stream 4711 | metaspy open -\n  metaspy stream layout | gzip > run.gz\n  \
        gunzip < run.gz | metaspy report -\n\nIt ends when the process ends or closes its recording, and when the reader closes the pipe.\nThe process itself takes no part in it (docs/processes.md)."
    )]
    Stream {
        /// The process, or the name of its recording or a file; `metaspy list` shows those that record
        #[arg(value_name = "PID|NAME|FILE")]
        source: PathBuf,
    },
    /// Removes the live recordings of processes that ended
    #[command(after_help = "Example:\n  metaspy clean")]
    Clean,
    /// Prints what was counted, for people or for programs
    #[command(after_help = "Examples:\n  metaspy report run.spy\n  metaspy report run.spy --by subject --top 20\n  \
        metaspy report run.spy --by site,subject\n  metaspy report run.spy --by subject --cpu\n  \
        metaspy report run.spy --sort self --percent\n  \
        metaspy report run.spy --filter 'site:measure took:>1ms' --json\n  \
        metaspy report run.spy --fail-if 'count(site:measure) > 1000'\n  \
        metaspy report client.spy server.spy --by cause\n  \
        ssh host cat run.spy | metaspy report -\n\nThe JSON is described in docs/report.md.")]
    Report(Report),
    /// Compares the recordings of two versions: counts exactly, times with their noise
    #[command(
        after_help = "Examples:\n  metaspy diff before.spy after.spy\n  metaspy diff before.spy after.spy --by subject --top 50\n  \
        metaspy diff a1.spy,a2.spy,a3.spy b1.spy,b2.spy,b3.spy --by method\n  \
        metaspy diff before/ after/ --fail-on 'count +10%' --fail-on 'time +10%' --json=diff.json\n\n\
        It ends with 1 if a change fails. The text and the JSON are described in docs/diff.md."
    )]
    Diff(Diff),
    /// Writes the events of a recording, or what they add up to, in a format of another tool
    #[command(
        after_help = "Examples:\n  metaspy export run.spy --to chrome -o run.trace.json     then open it in ui.perfetto.dev\n  \
        metaspy export run.spy --to jsonl --filter 'site:measure took:>1ms' | jq .subject.label\n  \
        metaspy export run.spy --to collapsed | inferno-flamegraph > run.svg\n  \
        metaspy export layout --to csv -o layout.csv\n\n\
        What each format can hold is described in docs/export.md."
    )]
    Export(Export),
    /// Samples where the processor time of a program goes: by function, line and inlined function
    #[command(
        after_help = "Examples:\n  metaspy sample -- target/release/app --fast\n  metaspy sample --rate 100 --callers -- app\n  \
        metaspy sample --pid 4711 --seconds 10\n  metaspy sample --html flames.html --speedscope run.json -- app\n\n\
        The program needs nothing of metaspy in it. Names and lines need debug information: build it with\n\
        CARGO_PROFILE_RELEASE_DEBUG=limited. The columns and the JSON are described in docs/sampling.md."
    )]
    Sample(Box<Sample>),
    /// Draws who calls whom, where time goes, what ran, or what changed: as text, as one HTML file, as SVG
    #[command(after_help = "Examples:\n  metaspy blueprint structural run.spy\n  \
        metaspy blueprint behavioural run.spy --html run.html --open\n  \
        metaspy blueprint behavioural run.spy --from Scene::layout --threshold 0.1\n  \
        metaspy blueprint coverage run.spy --svg coverage.svg\n  \
        metaspy blueprint evolution before.spy after.spy --html change.html\n\n\
        Times and callers need a run with METASPY_PROFILE=calls, returned values `cargo metaspy … --returns`.\n\
        The pictures are described in docs/blueprints.md.")]
    Blueprint(Blueprint),
    /// Shows in an editor what ran, how often and from where: the language server, and plugins that start it
    #[command(after_help = "Examples:\n  metaspy lsp --install nvim\n  metaspy lsp --install vscode\n  \
        cargo metaspy test --timed    what the editor then shows\n\n\
        Without --install it speaks the language server protocol on standard input and output: editors start it\n\
        (docs/editor.md).")]
    Lsp(Lsp),
    /// Records the revisions of a repository, to compare them
    #[command(subcommand)]
    History(History),
    /// Says which productions of a grammar a set of inputs exercises, and why the others never matched
    #[command(after_help = "Examples:\n  metaspy grammar toml.pest --rule toml tests/\n  \
        metaspy grammar toml.pest --rule toml tests/ --glob '*.toml' --fail-under 95\n  \
        metaspy grammar toml.pest --rule toml tests/ --json=before.json\n  \
        metaspy grammar toml.pest --rule toml tests/ --baseline before.json\n  \
        metaspy grammar toml.pest --rule toml tests/ --record parses.spy && metaspy open parses.spy\n  \
        metaspy grammar calc.pest --rule line < lines.txt\n\nThe JSON is described in docs/grammar.md.")]
    Grammar(Box<Grammar>),
    /// Reads a whole recording and lists its content, damage and gaps
    #[command(after_help = "Example:\n  metaspy verify run.spy --json")]
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

/// `metaspy demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// The page to lay out; by default one that is shipped
    pub page: Option<PathBuf>,
    /// Records into this file without a screen, and prints a summary
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// When to stop, and how much to keep
    #[command(flatten)]
    pub limits: Limits,
}

/// When a recording ends, and how much it keeps.
#[derive(Clone, Debug, Args)]
pub struct Limits {
    /// Stops after this many seconds [default: 5]
    #[arg(long, value_name = "N", requires = "record", conflicts_with = "events", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Stops after this many events: 10M, 500k, 1000
    #[arg(long, value_name = "N", requires = "record", value_parser = parse_number)]
    pub events: Option<u64>,
    /// What happens when the budget is spent
    #[arg(long, value_enum, requires = "record", default_value = "newest")]
    pub policy: Policy,
    /// How much the recording may take: 1MiB to 1TiB [default: 256MiB; 64GiB with --policy grow]. A file takes an
    /// eighth of it at once, at most 40 MB and with --policy grow 60 MB, for tables that must never lack room
    #[arg(long, value_name = "SIZE", requires = "record", value_parser = parse_budget)]
    pub budget: Option<u64>,
}

/// What happens when the budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// The oldest events are folded into the tallies
    Newest,
    /// No more events are stored; calls are still counted, and the recording is marked
    Oldest,
    /// The file grows as far as the budget goes; then as with `oldest`
    Grow,
}

/// `metaspy report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for what comes on standard
    /// input, to its end; several are read as one
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// One row for each of these; `cause`: for each site that something began with
    #[arg(long, value_parser = parse_by(), default_value = "site")]
    pub by: By,
    /// Sorts by processor time: the recording is one that `metaspy sample` sampled
    #[arg(long, conflicts_with = "sort")]
    pub cpu: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// The column that the rows are sorted by, the largest first: count, total, self, max, failed, lost, name, or a
    /// column of a method profiler
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// Shows shares in percent in the place of counts and times; JSON has both
    #[arg(long)]
    pub percent: bool,
    /// Only events that pass: 'site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Only the columns of this method profiler, or of several: --profile calls
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Ends with 1 if this holds, or if nothing was recorded: 'count(site:measure) > 1000', 'max(site:frame) > 16ms'; also
    /// total and self
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// Ends with 1 if an event passes the first filter and not the second, or if none passes the first:
    /// 'site:layout => cause:change'
    #[arg(long, value_name = "EXPECTATION", allow_hyphen_values = true)]
    pub expect: Vec<String>,
    /// --fail-if and --expect also pass if there was nothing to check
    #[arg(long)]
    pub allow_empty: bool,
    /// Writes the functions that ran as lcov's tracefile, for editors and coverage services
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// Writes the same as Cobertura's XML
    #[arg(long, value_name = "FILE")]
    pub cobertura: Option<PathBuf>,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

/// `metaspy diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The recordings before: a file, a name, several with commas between them, or a directory
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The recordings after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// One row for each of these
    #[arg(long, value_parser = parse_diff_by(), default_value = "site")]
    pub by: DiffBy,
    /// Only events that pass: 'site:taffy::**'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Ends with 1 if a row changes by more: 'count +10%', 'time +10%', 'self +5ms', 'bytes +1M', 'count -50%',
    /// 'PROFILER.COLUMN +10%'; any number of times
    #[arg(long, value_name = "CHANGE")]
    pub fail_on: Vec<String>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

/// `metaspy export`.
#[derive(Debug, Args)]
pub struct Export {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for what comes on standard
    /// input, to its end; several are read as one
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// The format
    #[arg(long, value_parser = parse_format())]
    pub to: Format,
    /// Only events that pass: 'site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Writes into this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `metaspy sample`.
#[derive(Debug, Args)]
#[command(override_usage = "metaspy sample [OPTIONS] -- CMD...\n       metaspy sample [OPTIONS] --pid PROCESS")]
pub struct Sample {
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required_unless_present = "pid", conflicts_with = "pid")]
    pub command: Vec<OsString>,
    /// A process that runs already, until it ends, or until Ctrl-C
    #[arg(long, value_name = "PROCESS")]
    pub pid: Option<u32>,
    /// Stops after this many seconds
    #[arg(long, value_name = "N", conflicts_with = "command", value_parser = parse_seconds)]
    pub seconds: Option<f64>,
    /// Samples a second of processor time of each thread: 1 to 10k
    #[arg(long, value_name = "HZ", default_value = "1000", value_parser = parse_rate)]
    pub rate: u32,
    /// How callers are found
    #[arg(long, default_value = "dwarf", value_parser = parse_stacks())]
    pub stacks: Stacks,
    /// Bytes of each stack that are copied: up to 64k [default: 16k, or 8k where the system gives little room]
    #[arg(long, value_name = "SIZE", value_parser = parse_stack_size)]
    pub stack_size: Option<u32>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// Shows the callers and the callees of each method
    #[arg(long)]
    pub callers: bool,
    /// Writes a flame graph: one page for a browser, also by subject if the program records
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Writes the stacks for other tools: a line for each stack
    #[arg(long, value_name = "FILE")]
    pub collapsed: Option<PathBuf>,
    /// Writes the samples for speedscope
    #[arg(long, value_name = "FILE")]
    pub speedscope: Option<PathBuf>,
    /// JSON; the program then writes to standard error
    #[command(flatten)]
    pub json: JsonOption,
}

/// `metaspy blueprint`.
#[derive(Debug, Args)]
pub struct Blueprint {
    /// The picture
    #[arg(value_parser = parse_kind())]
    pub kind: Kind,
    /// Files, or the names or the processes of live recordings; several are read as one. For an evolution each is a version,
    /// the oldest first: a recording, several as A1,A2,A3, or a directory with one for each run
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// What an evolution compares [default: time with at least 3 runs of each version, otherwise calls]
    #[arg(long, value_name = "NUMBER")]
    pub by: Option<ChangeOf>,
    /// Only calls that pass: 'site:taffy::**'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// The method at the top of a behavioural blueprint, by the end of its path [default: the whole program]
    #[arg(long, value_name = "METHOD")]
    pub from: Option<String>,
    /// Leaves out methods with less of the time in a behavioural blueprint
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = parse_percent)]
    pub threshold: f64,
    /// Writes a page for a browser: one file, which opens from disk
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Writes an SVG
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Opens the page in the browser
    #[arg(long, requires = "html")]
    pub open: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

/// `metaspy lsp`.
#[derive(Debug, Args)]
pub struct Lsp {
    /// Installs the plugin of this editor, for the user
    #[arg(long, value_name = "EDITOR", value_parser = parse_editor())]
    pub install: Option<Editor>,
    /// Writes the plugin into this directory instead
    #[arg(long, value_name = "DIR", requires = "install")]
    pub into: Option<PathBuf>,
    /// What editors pass on; there is no other way
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// What an evolution compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangeOf {
    /// Total time, beyond the noise of several runs
    Time,
    /// Executions, which are exact
    Calls,
}

/// `metaspy history`.
#[derive(Debug, Subcommand)]
pub enum History {
    /// Builds and records each revision in a worktree of its own
    #[command(
        after_help = "Examples:\n  metaspy history run HEAD~5..HEAD -- cargo metaspy run --release --weave 'taffy::**'\n  \
        metaspy history run v1.0..v2.0 --runs 5 --html history.html -- cargo bench --bench layout\n\n\
        The command runs in the worktree of each revision, with METASPY_RECORD and METASPY_PROFILE=calls."
    )]
    Run(HistoryRun),
}

/// `metaspy history run`.
#[derive(Debug, Args)]
pub struct HistoryRun {
    /// The revisions: the first one, and all from there to the last
    #[arg(value_name = "REV..REV")]
    pub revisions: String,
    /// Runs of each revision, in turns
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Where recordings and worktrees are kept; what is there is not recorded again
    #[arg(long, value_name = "DIRECTORY", default_value = "target/metaspy/history")]
    pub dir: PathBuf,
    /// Draws what changed from revision to revision
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// What to run
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `metaspy grammar`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Grammar {
    /// What test runs recorded
    #[command(subcommand)]
    pub merged: Option<Merged>,
    /// The grammar, in the language of pest
    #[arg(value_name = "FILE.pest", required = true)]
    pub grammar: Option<PathBuf>,
    /// The rule that an input is parsed by
    #[arg(long, value_name = "RULE", required = true)]
    pub rule: Option<String>,
    /// Inputs: files, directories with all that is in them, or `-` for the lines of standard input [default: `-`]
    #[arg(value_name = "CORPUS")]
    pub corpus: Vec<PathBuf>,
    /// A further file of the grammar
    #[arg(long, value_name = "FILE.pest")]
    pub with: Vec<PathBuf>,
    /// Only such files of directories: '*.toml', 'valid/**'
    #[arg(long, value_name = "GLOB")]
    pub glob: Vec<String>,
    /// Takes the time of each production
    #[arg(long)]
    pub timed: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// Writes the coverage into this file, for editors and coverage services
    #[arg(long, value_name = "FILE")]
    pub lcov: Option<PathBuf>,
    /// The least coverage
    #[command(flatten)]
    pub least: FailUnderOption,
    /// Compares with what --json wrote earlier; ends with 1 if a production that matched there matches no more, or an
    /// input that was accepted is rejected
    #[arg(long, value_name = "OLD.json")]
    pub baseline: Option<PathBuf>,
    /// Records each activation of a production as an event into this file; `metaspy open` walks the parses
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Stops the parse of an input after so many steps of the parser: 100M
    #[arg(long, value_name = "N", value_parser = parse_steps)]
    pub steps: Option<u64>,
    /// Stops the parse of an input that nests deeper than this stack allows: 64MiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub stack: Option<u64>,
}

/// What is done with recordings of productions.
#[derive(Debug, Subcommand)]
pub enum Merged {
    /// Merges what the processes of a test run recorded of their productions
    #[command(after_help = "Example:\n  METASPY_RECORD=live METASPY_DIR=parts METASPY_BUDGET=4000000 cargo test\n  \
        metaspy grammar report parts")]
    Report(GrammarReport),
}

/// `metaspy grammar report`.
#[derive(Debug, Args)]
pub struct GrammarReport {
    /// The directory of the recordings
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The run, where there are several [default: the newest]
    #[arg(long, value_name = "NAME")]
    pub run: Option<String>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
    /// The least coverage
    #[command(flatten)]
    pub least: FailUnderOption,
}

fn parse_by() -> impl TypedValueParser<Value = By> {
    let values = By::ALL.map(|by| PossibleValue::new(by.name()).help(by.description()));
    PossibleValuesParser::new(values).map(|name| By::from_name(&name).expect("the parser accepts only these names"))
}

fn parse_diff_by() -> impl TypedValueParser<Value = DiffBy> {
    let values = DiffBy::ALL.map(|by| PossibleValue::new(by.name()).help(by.description()));
    PossibleValuesParser::new(values).map(|name| DiffBy::from_name(&name).expect("the parser accepts only these names"))
}

fn parse_format() -> impl TypedValueParser<Value = Format> {
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.description()));
    PossibleValuesParser::new(values).map(|name| Format::from_name(&name).expect("the parser accepts only these names"))
}

fn parse_editor() -> impl TypedValueParser<Value = Editor> {
    let values = PossibleValuesParser::new(Editor::ALL.map(Editor::word));
    values.map(|word| Editor::from_word(&word).expect("the parser accepts only these words"))
}

fn parse_kind() -> impl TypedValueParser<Value = Kind> {
    let values = Kind::ALL.map(|kind| PossibleValue::new(kind.word()).help(kind.description()));
    let find = |word: String| Kind::ALL.into_iter().find(|kind| kind.word() == word);
    PossibleValuesParser::new(values).map(move |word| find(word).expect("the parser accepts only these words"))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('s').parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e9 => Ok(seconds),
        _ => Err("write a number of seconds, such as 5 or 0.5".into()),
    }
}

fn parse_stacks() -> impl TypedValueParser<Value = Stacks> {
    let values = Stacks::ALL.map(|stacks| PossibleValue::new(stacks.name()).help(stacks.description()));
    let find = |name: String| Stacks::ALL.into_iter().find(|stacks| stacks.name() == name);
    PossibleValuesParser::new(values).map(move |name| find(name).expect("the parser accepts only these names"))
}

fn parse_rate(text: &str) -> Result<u32, String> {
    match parse_number(text.trim_end_matches("Hz").trim_end())?.try_into() {
        Ok(rate @ 1..=RATE_MAX_HZ) => Ok(rate),
        _ => Err(format!("write a number from 1 to {RATE_MAX_HZ}, such as 1000 or 1kHz")),
    }
}

/// A multiple of 8 that fits into a record of the kernel beside the rest of a sample.
fn parse_stack_size(text: &str) -> Result<u32, String> {
    match parse_size(text)? {
        bytes @ 1024..=0x1_0000 => Ok((bytes as u32).min(0xF000).next_multiple_of(8)),
        _ => Err("write a size from 1k to 64k; --stacks none copies nothing".into()),
    }
}

fn parse_steps(text: &str) -> Result<u64, String> {
    match parse_number(text)? {
        0 => Err("a parse takes at least one step".into()),
        steps => Ok(steps),
    }
}

fn parse_budget(text: &str) -> Result<u64, String> {
    let bytes = parse_size(text)?;
    match BUDGETS.contains(&bytes) {
        true => Ok(bytes),
        false => Err(format!("a recording takes 1MiB to 1TiB, and this is {bytes} bytes")),
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
    fn every_command_shows_an_example() {
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("metaspy {}", command.get_name())), "{}", command.get_name());
        }
    }
}
