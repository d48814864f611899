//! The order of words: the words of `cargo metaspy` and of cargo may be mixed.

use std::ffi::OsString;

/// Words of `cargo metaspy` that take a value.
const WITH_VALUE: [&str; 16] = [
    "--weave",
    "--weave-attributes",
    "--without",
    "--subject",
    "--trust",
    "--top",
    "--profile",
    "--profiler",
    "--callers",
    "--lcov",
    "--cobertura",
    "--fail-under",
    "--baseline",
    "--blueprint",
    "--depth",
    "--threshold",
];
/// A word that takes a value behind `=` only.
const JSON: &str = "--json";
/// Words without a value.
const ALONE: [&str; 12] = [
    "--allocations",
    "--by-test",
    "--contexts",
    "--folded",
    "--timed",
    "--types",
    "--returns",
    "--args",
    "--closures",
    "--tree",
    "--help",
    "-h",
];
/// The word for cargo's `--profile`, as `cargo nextest` calls it.
const CARGO_PROFILE: &str = "--cargo-profile";

/// Puts the words of `cargo metaspy` first, and the words of cargo behind `--`.
pub fn sorted(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
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
        let has_value = |word: &str| text.strip_prefix(word).is_some_and(|rest| rest.starts_with('='));
        if text == "--" {
            cargo.push(argument);
            cargo.extend(arguments.by_ref());
        } else if let Some(value) =
            text.strip_prefix(CARGO_PROFILE).filter(|rest| rest.is_empty() || has_value(CARGO_PROFILE))
        {
            cargo.push(format!("--profile{value}").into());
        } else if WITH_VALUE.contains(&&*text) {
            own.push(argument);
            own.extend(arguments.next());
        } else if ALONE.contains(&&*text)
            || text == JSON
            || has_value(JSON)
            || WITH_VALUE.iter().any(|word| has_value(word))
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
