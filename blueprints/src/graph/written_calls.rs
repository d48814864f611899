//! Calls that never happened: the source of a method names a method that never ran.
//!
//! SPY follows outgoing messages by their selectors. Here, a name followed by `(` counts as a call
//! of a method that never ran, if no other method of the program has this name. A line comment ends
//! a line; string literals are not recognised.

use std::collections::{BTreeSet, HashMap};

use metaspy_report::source_line::SourceFiles;

use super::{Call, Graph};

/// Finds the calls in the source of all methods that lead to a method that never ran. They have no
/// counts.
pub(crate) fn written_calls(graph: &Graph) -> Vec<Call> {
    let mut by_name: HashMap<&str, Option<usize>> = HashMap::new();
    for (at, method) in graph.methods.iter().enumerate() {
        // A name that two methods share identifies neither of them.
        by_name.entry(last(&method.name)).and_modify(|place| *place = None).or_insert(Some(at));
    }
    let mut files = SourceFiles::default();
    let mut calls = BTreeSet::new();
    for (from, method) in graph.methods.iter().enumerate() {
        let lines = files.lines(&method.file);
        let first = method.line.saturating_sub(1) as usize;
        for line in lines.iter().skip(first).take(method.lines as usize) {
            let to = called(line).filter_map(|name| by_name.get(name).copied().flatten());
            calls.extend(
                to.filter(|&to| to != from && graph.methods[to].executions == 0)
                    .map(|to| (from, to)),
            );
        }
    }
    calls.into_iter().map(|(from, to)| Call { from, to, count: 0, total_ns: 0 }).collect()
}

/// Finds the names in front of a parenthesis.
fn called(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or(line);
    code.match_indices('(').filter_map(move |(end, _)| {
        let start = code[..end]
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |at| at + code[at..].chars().next().map_or(1, char::len_utf8));
        let is_definition = code[..start].trim_end().ends_with("fn");
        (start < end && !is_definition).then(|| &code[start..end])
    })
}

fn last(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_a_parenthesis_are_calls() {
        let called = |line| called(line).collect::<Vec<_>>();
        assert_eq!(
            called("let x = self.size(of(a), T::new()); // not(this)"),
            ["size", "of", "new"]
        );
        assert_eq!(called("fn size(&self) -> u32 { größe((1, 2)) }"), ["größe"]);
    }
}
