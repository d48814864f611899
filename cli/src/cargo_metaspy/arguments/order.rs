//! The order of words: the words of `cargo metaspy` and of cargo may be mixed.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{ArgAction, CommandFactory};

use super::Cli;

/// How an option of `cargo metaspy` takes its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Behind `=` only.
    BehindEquals,
    /// Behind `=`, or as the next argument.
    Value,
}

/// The word for cargo's `--profile`, as `cargo nextest` calls it.
const CARGO_PROFILE: &str = "--cargo-profile";

/// Puts the words of `cargo metaspy` first, and the words of cargo behind `--`.
pub fn sorted(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let options = options();
    let mut arguments = arguments.into_iter().peekable();
    arguments.next_if(|first| first == "metaspy");
    let mut own = vec![OsString::from("cargo metaspy")];
    let mut cargo = Vec::new();
    own.extend(arguments.next());
    if own.last().is_some_and(|command| command == "new" || command == "completions") {
        own.extend(arguments);
        return own;
    }
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let (name, value) =
            text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value)));
        if text == "--" {
            cargo.push(argument);
            cargo.extend(arguments.by_ref());
        } else if name == CARGO_PROFILE {
            cargo.push(
                value.map_or("--profile".to_owned(), |value| format!("--profile={value}")).into(),
            );
        } else {
            match options.get(name) {
                Some(Takes::Value) if value.is_none() => {
                    own.push(argument);
                    own.extend(arguments.next());
                }
                Some(Takes::Nothing) if value.is_some() => cargo.push(argument),
                Some(_) => own.push(argument),
                None => cargo.push(argument),
            }
        }
    }
    if !cargo.is_empty() {
        own.push("--".into());
        own.extend(cargo);
    }
    own
}

/// The options of all commands, as they are typed.
fn options() -> BTreeMap<String, Takes> {
    let mut cli = Cli::command();
    cli.build();
    let mut options = BTreeMap::new();
    for argument in cli.get_subcommands().flat_map(clap::Command::get_arguments) {
        let takes = match argument.get_action() {
            ArgAction::Set | ArgAction::Append if argument.is_require_equals_set() => {
                Takes::BehindEquals
            }
            ArgAction::Set | ArgAction::Append => Takes::Value,
            _ => Takes::Nothing,
        };
        let long = argument
            .get_long_and_visible_aliases()
            .into_iter()
            .flatten()
            .map(|name| format!("--{name}"));
        let short = argument.get_short().map(|letter| format!("-{letter}"));
        options.extend(long.chain(short).map(|name| (name, takes)));
    }
    options
}
