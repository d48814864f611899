//! The order of words: ours and cargo's may stand in any.

use std::ffi::OsString;

/// Our own words that take a value, and those that do not.
const WITH_VALUE: [&str; 10] = [
    "--weave",
    "--without",
    "--subject",
    "--json",
    "--top",
    "--spy",
    "--profiler",
    "--callers",
    "--lcov",
    "--cobertura",
];
const ALONE: [&str; 7] = ["--timed", "--returns", "--args", "--closures", "--tree", "--help", "-h"];

/// Puts our own words first and cargo's behind `--`, wherever they stood.
pub fn sorted(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.into_iter().peekable();
    arguments.next_if(|first| first == "metaspy");
    let mut own = vec![OsString::from("cargo metaspy")];
    let mut cargo = Vec::new();
    own.extend(arguments.next());
    if own.last().is_some_and(|command| command == "new") {
        own.extend(arguments);
        return own;
    }
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
