//! The command line: the words of `cargo metaspy` among the words of cargo.

mod order;
mod woven;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use order::sorted;
pub use woven::Woven;

/// Weaves hooks into crates without editing them, and reports what they do.
#[derive(Debug, Parser)]
#[command(name = "cargo metaspy", bin_name = "cargo metaspy", version, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
#[command(
    after_help = "Exit codes: those of cargo and of the program, if one of them fails; 1 --fail-under or --baseline does not hold; \
    2 usage, or a name or selector that matches nothing.\n\n\
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
    /// Builds with hooks; the environment of the program switches recording on
    #[command(
        before_help = "Examples:\n  cargo metaspy build\n  cargo metaspy build --release --weave 'taffy::**'\n  \
        METASPY_RECORD=run.spy target/metaspy/debug/program",
        after_help = "What is woven, and what is not: docs/weaving.md."
    )]
    Build(Woven),
    /// Runs a program with hooks, and prints how often each function ran
    #[command(
        before_help = "Examples:\n  cargo metaspy run\n  cargo metaspy run --release --weave 'taffy::compute::**' \
        --json=calls.json -- page.html\n  cargo metaspy run --weave 'serde_json::**' --without '**::fmt' --timed\n  \
        cargo metaspy run --weave 'pub taffy::** lines>=3' --returns --args --closures\n  \
        cargo metaspy run --weave 'taffy::**' --subject 'taffy::*::compute_child_layout=node_id'\n  \
        cargo metaspy run --weave 'taffy::**' --callers 'compute_child_layout'\n  \
        cargo metaspy run --weave 'heck::**' --profiler ../hot --tree",
        after_help = "The JSON is described in docs/weaving.md."
    )]
    Run(Woven),
    /// Runs tests with hooks, and prints what they cover: how often each function ran, on how many
    /// objects, in which tests
    #[command(
        before_help = "Examples:\n  cargo metaspy test\n  cargo metaspy test --lib --weave 'Scene::*' -- layout\n  \
        cargo metaspy test --returns --tree --top all\n  \
        cargo metaspy test --lcov lcov.info --cobertura cobertura.xml --json=coverage.json\n  \
        cargo metaspy test --by-test --fail-under 80 --baseline coverage.json\n  \
        cargo metaspy test --blueprint coverage.html\n  \
        cargo metaspy test --profile none",
        after_help = "The patterns are described in docs/weaving.md."
    )]
    Test(Woven),
    /// Runs tests with hooks under nextest, each in a process of its own, and prints the same as
    /// `test`
    #[command(
        before_help = "Examples:\n  cargo metaspy nextest run\n  \
        cargo metaspy nextest run --weave 'Scene::*' --by-test -E 'test(layout)'",
        after_help = "Arguments of nextest are behind `run`. Its own `--profile` is NEXTEST_PROFILE here."
    )]
    Nextest(Woven),
    /// Runs benchmarks with hooks, and prints how often each function ran
    #[command(before_help = "Example:\n  cargo metaspy bench --weave 'Scene::*'")]
    Bench(Woven),
    /// Creates a crate with a profiler of your own, for `--profiler`
    #[command(
        before_help = "Example:\n  cargo metaspy new hot\n  cargo metaspy run --profiler hot"
    )]
    New(New),
    /// Prints the completions of this command for a shell
    #[command(
        before_help = "Examples:\n  cargo metaspy completions bash >> ~/.local/share/bash-completion/completions/cargo\n  \
        cargo metaspy completions zsh > ~/.zfunc/_cargo-metaspy\n  \
        cargo metaspy completions fish > ~/.config/fish/conf.d/cargo-metaspy.fish"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// A profiler of the user's own.
#[derive(Debug, Args)]
pub struct New {
    /// The new directory; its name is the name of the crate
    #[arg(value_name = "NAME")]
    pub path: PathBuf,
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::CommandFactory;
    use metaspy_report::table::Top;

    use super::*;
    use crate::options::JsonFile;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_begins_with_an_example() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_before_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                help.contains(&format!("cargo metaspy {}", command.get_name())),
                "{}",
                command.get_name()
            );
        }
    }

    #[test]
    fn words_of_cargo_may_be_mixed_with_our_own() {
        let line = "metaspy run --release --weave a::* -p x --timed --json=f --subject=b=c --returns --closures -- --weave b";
        let cli = Cli::try_parse_from(sorted(line.split(' ').map(OsString::from)))
            .expect("it is understood");
        let Command::Run(woven) = cli.command else { panic!("it is `run`") };
        let selection = woven.selection();
        let json = woven.json.json.clone();
        assert_eq!((woven.weave, woven.timed), (vec!["a::*".to_owned()], true));
        assert_eq!(json, Some(JsonFile::File("f".into())));
        assert_eq!((selection.subjects, selection.returns), (vec!["b=c".to_owned()], true));
        assert_eq!((selection.closures, selection.args), (true, false));
        assert_eq!(woven.cargo, ["--release", "-p", "x", "--", "--weave", "b"]);
    }

    fn woven(line: &str) -> Result<Woven, clap::Error> {
        let cli = Cli::try_parse_from(sorted(line.split(' ').map(OsString::from)))?;
        let Command::Run(woven) = cli.command else { panic!("it is `run`") };
        Ok(woven)
    }

    #[test]
    fn the_profiles_of_cargo_have_a_word_of_their_own() {
        let woven_by = woven("run --profile calls --cargo-profile dev --json --top all")
            .expect("it is understood");
        assert_eq!(
            (woven_by.profile, woven_by.cargo),
            (vec!["calls".to_owned()], vec!["--profile".into(), "dev".into()])
        );
        assert_eq!(
            (woven_by.json.json, woven_by.top.rows()),
            (Some(JsonFile::StandardOutput), Top::All)
        );
        assert_eq!(
            woven("run --cargo-profile=x").expect("it is understood").cargo,
            ["--profile=x"]
        );
        let error =
            woven("run --profile release").expect_err("it is a profile of cargo").to_string();
        assert!(error.contains("--cargo-profile release"), "{error}");
    }

    #[test]
    fn a_new_profiler_has_no_words_of_cargo() {
        let cli = Cli::try_parse_from(sorted(["metaspy", "new", "dir/hot"].map(OsString::from)))
            .expect("it is understood");
        let Command::New(New { path }) = cli.command else { panic!("it is `new`") };
        assert_eq!(path, PathBuf::from("dir/hot"));
    }
}
