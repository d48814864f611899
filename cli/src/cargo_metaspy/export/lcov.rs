//! `--lcov`: a function is a function, and its first line a line.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::cargo_metaspy::results::{Ran, Results};

/// The tracefile, with one record for each file of source.
pub fn text(results: &Results) -> String {
    let mut files: BTreeMap<&str, Vec<&Ran>> = BTreeMap::new();
    for ran in &results.methods {
        files.entry(&ran.method.file).or_default().push(ran);
    }
    let mut out = String::new();
    for (file, mut functions) in files {
        functions.sort_by_key(|ran| (ran.method.line, &ran.method.path));
        record(&mut out, file, &functions).expect("a string takes all that is written");
    }
    out
}

fn record(out: &mut String, file: &str, functions: &[&Ran]) -> std::fmt::Result {
    // The format has no way to write a line break in a name.
    writeln!(out, "TN:\nSF:{}", file.replace(char::is_control, "?"))?;
    let names = names(functions);
    for (ran, name) in functions.iter().zip(&names) {
        writeln!(out, "FN:{},{name}", ran.method.line)?;
    }
    for (ran, name) in functions.iter().zip(&names) {
        writeln!(out, "FNDA:{},{name}", ran.count)?;
    }
    writeln!(out, "FNF:{}\nFNH:{}", functions.len(), functions.iter().filter(|ran| ran.has_run()).count())?;
    let lines = lines(functions.iter().copied());
    for (line, count) in &lines {
        writeln!(out, "DA:{line},{count}")?;
    }
    let hit = lines.values().filter(|count| **count > 0).count();
    writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
}

/// Their paths; of functions with the same one, as those of two impls, the line as well, as readers go by names.
fn names(functions: &[&Ran]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut names = Vec::new();
    for Ran { method, .. } in functions {
        names.push(match known.insert(&method.path) {
            true => method.path.clone(),
            false => format!("{}:{}", method.path, method.line),
        });
    }
    names
}

/// How often each first line ran. One that several functions begin in is as covered as the least covered of them, so that
/// none is hidden.
pub(super) fn lines<'r>(functions: impl IntoIterator<Item = &'r Ran>) -> BTreeMap<u32, u64> {
    let mut lines = BTreeMap::new();
    for ran in functions {
        let count = lines.entry(ran.method.line).or_insert(ran.count);
        *count = ran.count.min(*count);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::tests::ran;

    #[test]
    fn each_file_has_its_functions_and_their_lines() {
        let mut methods = vec![ran("a", "", "main", 1), ran("a", "Pair", "get", 0), ran("a", "Pair", "get", 7)];
        methods[1].method.line = 4;
        methods[2].method.line = 9;
        methods.push(ran("b", "", "one", 3));
        methods[3].method.file = "b/src/lib.rs".into();
        let text = text(&Results { methods, ..Results::default() });
        assert_eq!(
            text,
            "TN:\nSF:b/src/lib.rs\nFN:1,b::one\nFNDA:3,b::one\nFNF:1\nFNH:1\nDA:1,3\nLF:1\nLH:1\nend_of_record\n\
             TN:\nSF:src/lib.rs\nFN:1,a::main\nFN:4,a::Pair::get\nFN:9,a::Pair::get:9\n\
             FNDA:1,a::main\nFNDA:0,a::Pair::get\nFNDA:7,a::Pair::get:9\nFNF:3\nFNH:2\n\
             DA:1,1\nDA:4,0\nDA:9,7\nLF:3\nLH:2\nend_of_record\n"
        );
    }

    #[test]
    fn a_line_is_as_covered_as_the_least_covered_function_that_begins_there() {
        let methods = [ran("a", "", "ran", 5), ran("a", "", "never", 0)];
        assert_eq!(lines(&methods), BTreeMap::from([(1, 0)]));
    }
}
