//! The results as text.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use metaspy_reader::{Selector, Store};
use metaspy_report::contexts::{self, allocations};
use metaspy_report::coverage::{Comparison, text};
use metaspy_report::rows::By;
use metaspy_report::text::{counted, grouped};
use metaspy_report::types;
use metaspy_report::{findings, runs};
use metaspy_weave::wrapper::{Left, Uncarried};

use crate::cargo_metaspy::arguments;
use crate::cargo_metaspy::results::{Refused, Results, Woven};
use crate::cargo_metaspy::short_functions;

/// Reasons that are listed, the most frequent first.
const REASONS: usize = 4;
/// Calling contexts by default.
const CONTEXTS: usize = 40;
/// Functions that allocate, by default.
const ALLOCATIONS: usize = 20;

/// The cost of hooks that record whatever the environment of a program requests, beside lighter
/// ones.
pub(crate) const WHOLE_HOOKS: &str = "these hooks record whatever METASPY_RECORD, _MODE and _PROFILE request. A counted call takes 54 \
    instructions on x86-64; `run` and `test` weave lighter hooks where they can, which take 11 and 18";

/// The result of a run without recordings.
pub const NOTHING: &str = "no program recorded anything";

/// Prints the report of a run.
pub fn print(results: &Results, options: &arguments::Woven, is_terminal: bool) {
    let gap = if is_terminal { "\n" } else { "" };
    // A reader that closed the pipe needs no more.
    let _ = write!(io::stdout(), "{gap}{}", report(results, options));
}

/// One line: how much was woven.
pub fn woven(woven: &Woven) -> String {
    let packages = woven.packages.iter();
    let packages: Vec<String> = packages
        .map(|(package, functions)| {
            format!("{} of {}", grouped(*functions as u64), package.replace('@', " "))
        })
        .collect();
    if !packages.is_empty() {
        let functions = counted(woven.packages.values().sum::<usize>() as u64, "function");
        let state = if woven.is_new { "" } else { " (up to date)" };
        return format!("wove {functions}: {}{state}", packages.join(", "));
    }
    let why = match (woven.has_selected, woven.skipped.len() as u64) {
        (false, _) => "no function is selected".to_owned(),
        (true, 0) => "no crate with a selected function is in this build with hooks".to_owned(),
        (true, skipped) => format!("{} cannot have a hook", counted(skipped, "selected function")),
    };
    format!("wove nothing: {why}")
}

/// One line for each message of the compiler about hooks that it refuses.
pub fn refused(Refused { paths, message, asked_by }: &Refused<'_>) -> String {
    let hooks = if paths.len() == 1 { "hook" } else { "hooks" };
    let message = message.unwrap_or("it gives no reason");
    let line = format!("the compiler refuses the {hooks} of {}: {message}", paths.join(", "));
    match asked_by {
        Some(option) => format!("{option}: {line}"),
        None => line,
    }
}

/// One line: how the recordings of a run are browsed from this directory.
pub fn browse(run: &Path) -> String {
    format!("browse the run:  metaspy open {}", from_here(run).display())
}

/// One line: how many findings a run has, if it has any and recorded events.
pub fn mention(run: &Path) -> Option<String> {
    let stores = opened(runs::recordings_in(run));
    let command = format!("metaspy findings {}", from_here(run).display());
    findings::mention(stores, &env::current_dir().ok()?, &command)
}

/// Opens the recordings of a run, each with its name. Those that cannot be opened are left out.
pub fn opened(recordings: Vec<PathBuf>) -> Vec<(String, Store)> {
    recordings
        .iter()
        .filter_map(|path| Some((path.display().to_string(), Store::open(path).ok()?)))
        .collect()
}

/// A path as it is written in the current directory.
fn from_here(path: &Path) -> PathBuf {
    let here = env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_owned()
}

fn report(results: &Results, options: &arguments::Woven) -> String {
    let run = &results.run;
    let mut lines = vec![format!("metaspy {}", woven(&results.woven))];
    if run.processes == Some(0) {
        lines.push(NOTHING.into());
    }
    lines.extend(if options.tree {
        text::tree(run)
    } else {
        text::functions(run, options.top.rows())
    });
    if options.types {
        lines.extend(types::text(&results.types, options.top.rows()));
    }
    lines.extend(summary(results, options));
    lines.join("\n") + "\n"
}

fn summary(results: &Results, options: &arguments::Woven) -> Vec<String> {
    let Results { woven, run, contexts, comparison, .. } = results;
    let mut lines = vec![text::ran(&run.program)];
    if run.program.profiles.has_coverage() {
        lines.extend(text::coverage(&run.program, options.top.rows()));
    }
    if run.program.profiles.has_coverage() && options.returns {
        lines.extend(text::constant_values(&run.program, options.top.rows()));
    }
    lines.extend(text::repeated_calls(&run.program, options.top.rows()));
    if options.by_test {
        lines.extend(text::tests(&run.program, options.top.rows()));
    }
    // The selector was checked before the build.
    let callers = options.callers.as_ref().and_then(|selector| selector.parse::<Selector>().ok());
    lines.extend(callers.into_iter().flat_map(|selector| text::callers(&run.program, &selector)));
    if let Some(contexts) =
        contexts.as_ref().filter(|contexts| options.allocations && contexts.has_objects)
    {
        lines.extend(allocations::text(contexts, By::Site, options.top.rows().limit(ALLOCATIONS)));
    }
    if let Some(contexts) = contexts.as_ref().filter(|_| options.contexts) {
        let contexts = options.shown.of(contexts);
        lines.extend(contexts::text(
            &contexts,
            options.shown.shown(1.0),
            options.top.rows().limit(CONTEXTS),
        ));
    }
    if let Some(Comparison { gained, lost, new, gone, .. }) = comparison {
        let [gained, lost, new, gone] =
            [gained, lost, new, gone].map(|paths| grouped(paths.len() as u64));
        lines.push(format!(
            "since the baseline: {gained} methods gained, {lost} lost, {new} new, {gone} gone"
        ));
    }
    lines.extend(reasons(&woven.skipped));
    lines.extend(woven.uncarried.iter().map(uncarried));
    if woven.macros + woven.derives > 0 {
        let (macros, derives) =
            (counted(woven.macros as u64, "macro call"), counted(woven.derives as u64, "derive"));
        lines.push(format!("not woven: the functions that {macros} and {derives} generate"));
    }
    if run.program.profiles.has_calls() || options.contexts {
        lines.extend(short_functions::advice(&run.program));
    }
    // The tree has some of them below it.
    let doubts =
        run.doubts.iter().filter(|doubt| !lines.iter().any(|line| line.ends_with(doubt.as_str())));
    lines.extend(doubts.cloned().collect::<Vec<_>>());
    lines
}

/// The reasons of functions below attributes of unknown effect, which an option weaves.
pub(crate) fn below_attributes(woven: &Woven) -> Vec<String> {
    reasons(woven.skipped.iter().filter(|left| left.is_below_attribute()))
}

/// A call that spawns work without its cause.
fn uncarried(Uncarried { door, file, line, message }: &Uncarried) -> String {
    let message = message.as_deref().unwrap_or("it gives no reason");
    format!("causes end at {door} ({file}:{line}): the compiler refuses to carry them: {message}")
}

/// The reasons why functions have no hook.
fn reasons<'w>(skipped: impl IntoIterator<Item = &'w Left>) -> Vec<String> {
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for Left { reason, method, .. } in skipped {
        match by_reason.iter_mut().find(|(other, _)| other == reason) {
            Some((_, paths)) => paths.push(&method.path),
            None => by_reason.push((reason, vec![&method.path])),
        }
    }
    by_reason.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    let more = by_reason.len().saturating_sub(REASONS);
    let line = |(reason, paths): &(&str, Vec<&str>)| match paths[..] {
        [path] => format!("{path} is not woven: {reason}"),
        _ => format!("{} not woven: {reason}", paths.len()),
    };
    let mut lines: Vec<String> = by_reason.iter().take(REASONS).map(line).collect();
    if more > 0 {
        lines.push(format!("{more} more reasons: --json=FILE lists all of them"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_of_hooks_are_those_of_the_bench() {
        let table = include_str!("../../../benches/instructions.txt");
        let of = |name: &str| {
            let row =
                table.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next());
            row.expect("it has a row").parse::<f64>().expect("it is a number")
        };
        let [whole, entry, covered] = ["woven ", "entry ", "covered "].map(of);
        let stated = format!("A counted call takes {whole:.0} instructions on x86-64; ");
        assert!(WHOLE_HOOKS.contains(&stated), "{stated}");
        assert!(
            WHOLE_HOOKS.ends_with(&format!("which take {entry:.0} and {covered:.0}")),
            "{entry} {covered}"
        );
    }
}
