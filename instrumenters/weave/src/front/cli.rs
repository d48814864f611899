//! The command line: a few words of our own among those of cargo.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::plan::Selection;

/// Weaves hooks into crates that nobody edits, and counts what they do.
#[derive(Debug, Parser)]
#[command(name = "cargo metaspy", bin_name = "cargo metaspy", version, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: those of cargo and of the program; 2 usage, or a selector that matches nothing.\n\n\
    Start with:  cargo metaspy run"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Builds with hooks; what is built records as its environment says
    #[command(after_help = "Examples:\n  cargo metaspy build\n  cargo metaspy build --release --weave 'taffy::**'\n  \
        METASPY_RECORD=run.spy target/metaspy/debug/program\n\nWhat is woven and what is not, and why: docs/weaving.md.")]
    Build(Woven),
    /// Runs a program with hooks, and prints how often each function ran
    #[command(
        after_help = "Examples:\n  cargo metaspy run\n  cargo metaspy run --release --weave 'taffy::compute::**' \
        --json calls.json -- page.html\n  cargo metaspy run --weave 'serde_json::**' --without '**::fmt' --timed\n  \
        cargo metaspy run --weave 'pub taffy::** lines>=3' --returns --args --closures\n  \
        cargo metaspy run --weave 'taffy::**' --subject 'taffy::*::compute_child_layout=node_id'\n\n\
        What stands where in the JSON: docs/weaving.md."
    )]
    Run(Woven),
    /// Runs tests with hooks, and prints how often each function ran in all of them
    #[command(after_help = "Examples:\n  cargo metaspy test\n  cargo metaspy test --lib --weave 'Scene::*' -- layout")]
    Test(Woven),
    /// Runs benchmarks with hooks, and prints how often each function ran
    #[command(after_help = "Example:\n  cargo metaspy bench --weave 'Scene::*'")]
    Bench(Woven),
}

/// What is woven, and what is done with it.
#[derive(Debug, Args)]
#[command(override_usage = "cargo metaspy <COMMAND> [CARGO ARGUMENTS] [OPTIONS] [-- ARGUMENTS OF THE PROGRAM]")]
pub struct Woven {
    /// Functions that get a hook: `taffy::compute::**`, `Scene::measure`, `pub ** -> *Result<*>`, `#[inline] **`,
    /// `** lines>=10` [default: those of the workspace's crates]
    #[arg(long, value_name = "SELECTOR")]
    pub weave: Vec<String>,
    /// Functions that get none though they are selected
    #[arg(long, value_name = "SELECTOR")]
    pub without: Vec<String>,
    /// Sees what functions return, too: a hook stands around the body where the function can take it
    #[arg(long)]
    pub returns: bool,
    /// Sees arguments, too: those of parameters with a plain name
    #[arg(long)]
    pub args: bool,
    /// Closures of these functions get a hook, too: `Scene::measure::{closure#1}` is the first of `Scene::measure`
    #[arg(long)]
    pub closures: bool,
    /// What calls are about, where it is not the object itself: a parameter or a path from one, as in
    /// `taffy::*::compute_child_layout=node_id` or `Scene::*=self.id`
    #[arg(long, value_name = "SELECTOR=PARAMETER")]
    pub subject: Vec<String>,
    /// Takes the time of each call, which needs a clock and an event for each
    #[arg(long)]
    pub timed: bool,
    /// So many functions in the table, the most frequent first; 0 for all
    #[arg(long, value_name = "N", default_value = "20")]
    pub top: usize,
    /// Writes what was woven, what was not, and what ran into this file: docs/weaving.md says what stands where
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Arguments of cargo and of the program
    #[arg(last = true, hide = true)]
    pub cargo: Vec<OsString>,
}

impl Woven {
    /// Which functions are meant, and how much of their calls is seen.
    pub fn selection(&self) -> Selection {
        Selection {
            weave: self.weave.clone(),
            without: self.without.clone(),
            closures: self.closures,
            returns: self.returns,
            args: self.args,
            subjects: self.subject.clone(),
        }
    }
}

/// Our own words that take a value, and those that do not.
const WITH_VALUE: [&str; 5] = ["--weave", "--without", "--subject", "--json", "--top"];
const ALONE: [&str; 6] = ["--timed", "--returns", "--args", "--closures", "--help", "-h"];

/// Puts our own words first and cargo's behind `--`, wherever they stood.
pub fn sorted(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.into_iter().peekable();
    arguments.next_if(|first| first == "metaspy");
    let mut own = vec![OsString::from("cargo metaspy")];
    let mut cargo = Vec::new();
    own.extend(arguments.next());
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        if text == "--" {
            cargo.push(argument);
            cargo.extend(arguments.by_ref());
        } else if WITH_VALUE.iter().any(|word| text == *word) {
            own.push(argument);
            own.extend(arguments.next());
        } else if ALONE.iter().any(|word| text == *word)
            || WITH_VALUE.iter().any(|word| text.strip_prefix(word).is_some_and(|rest| rest.starts_with('=')))
        {
            own.push(argument);
        } else {
            cargo.push(argument);
        }
    }
    if !cargo.is_empty() {
        own.push("--".into());
        own.extend(cargo);
    }
    own
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
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains(&format!("cargo metaspy {}", command.get_name())), "{}", command.get_name());
        }
    }

    #[test]
    fn our_words_may_stand_among_those_of_cargo() {
        let line =
            "metaspy run --release --weave a::* -p x --timed --json=f --subject=b=c --returns --closures -- --weave b";
        let cli = Cli::try_parse_from(sorted(line.split(' ').map(OsString::from))).expect("it is understood");
        let Command::Run(woven) = cli.command else { panic!("it is `run`") };
        let selection = woven.selection();
        assert_eq!((woven.weave, woven.timed, woven.json), (vec!["a::*".to_owned()], true, Some("f".into())));
        assert_eq!((selection.subjects, selection.returns), (vec!["b=c".to_owned()], true));
        assert_eq!((selection.closures, selection.args), (true, false));
        assert_eq!(woven.cargo, ["--release", "-p", "x", "--", "--weave", "b"]);
    }
}
