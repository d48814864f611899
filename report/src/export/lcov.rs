//! lcov's tracefile: a function is a function, and its first line is a line.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::{Exporter, Written, printable};
use crate::coverage::Run;

/// The format of `--lcov`.
#[derive(Debug)]
pub struct Lcov;

/// The record of a source file.
#[derive(Debug, Default)]
pub struct Record {
    /// The file.
    pub file: String,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its branches; `None` if branches were not looked at.
    pub branches: Option<Vec<Branch>>,
}

/// A function with the number of its executions.
#[derive(Debug)]
pub struct Function {
    /// Its first line.
    pub line: u32,
    /// Its path.
    pub name: String,
    /// Its executions.
    pub executions: u64,
}

/// A branch.
#[derive(Debug)]
pub struct Branch {
    /// The line.
    pub line: u32,
    /// The number of the choice that it belongs to.
    pub choice: usize,
    /// Its number in the choice.
    pub number: usize,
    /// How often it was taken; `None` if the choice was never reached.
    pub taken: Option<u64>,
}

impl Exporter<Run> for Lcov {
    fn export(&self, run: &Run, out: &mut dyn Write) -> io::Result<Written> {
        let mut files: BTreeMap<&str, Vec<Function>> = BTreeMap::new();
        for element in run.program.methods() {
            let Some(method) = element.method.as_ref().filter(|method| method.is_counted()) else {
                continue;
            };
            let line = method.site.lines.0;
            let name = method.site.path.clone();
            let function = Function { line, name, executions: element.measure.count };
            files.entry(&method.site.file).or_default().push(function);
        }
        for (file, mut functions) in files {
            functions.sort_by(|a, b| (a.line, &a.name).cmp(&(b.line, &b.name)));
            Record { file: file.to_owned(), functions, branches: None }.write(out)?;
        }
        Ok(Written::default())
    }
}

impl Record {
    /// Writes the record.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "TN:\nSF:{}", printable(&self.file))?;
        let names = self.names();
        for (Function { line, .. }, name) in self.functions.iter().zip(&names) {
            writeln!(out, "FN:{line},{name}")?;
        }
        for (Function { executions, .. }, name) in self.functions.iter().zip(&names) {
            writeln!(out, "FNDA:{executions},{name}")?;
        }
        let hit = self.functions.iter().filter(|function| function.executions > 0).count();
        writeln!(out, "FNF:{}\nFNH:{hit}", self.functions.len())?;
        if let Some(branches) = &self.branches {
            for Branch { line, choice, number, taken } in branches {
                let taken = taken.map_or("-".to_owned(), |taken| taken.to_string());
                writeln!(out, "BRDA:{line},{choice},{number},{taken}")?;
            }
            let hit = branches
                .iter()
                .filter(|branch| branch.taken.is_some_and(|taken| taken > 0))
                .count();
            writeln!(out, "BRF:{}\nBRH:{hit}", branches.len())?;
        }
        let lines =
            lines(self.functions.iter().map(|function| (function.line, function.executions)));
        for (line, count) in &lines {
            writeln!(out, "DA:{line},{count}")?;
        }
        let hit = lines.values().filter(|count| **count > 0).count();
        writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len())
    }

    /// The names of the functions. Readers identify functions by name, so a repeated name gets its
    /// line.
    fn names(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        let unique = |Function { name, line, .. }: &Function| {
            if known.insert(name.clone()) {
                printable(name)
            } else {
                format!("{}:{line}", printable(name))
            }
        };
        self.functions.iter().map(unique).collect()
    }
}

/// The executions of each first line. A line where several functions begin is as covered as the
/// least covered of them, so that none of them is hidden.
pub fn lines(functions: impl IntoIterator<Item = (u32, u64)>) -> BTreeMap<u32, u64> {
    let mut lines = BTreeMap::new();
    for (line, executions) in functions {
        let count = lines.entry(line).or_insert(executions);
        *count = executions.min(*count);
    }
    lines
}

#[cfg(test)]
mod tests {
    use metaspy_reader::RecordedSite;

    use super::*;
    use crate::program::testing::{program, woven};

    #[test]
    fn each_file_has_its_functions_and_their_lines() {
        let at = |line: u32, site: RecordedSite| RecordedSite { lines: (line, line), ..site };
        let get = || woven("a", "Pair::get", "type=Pair");
        let other = RecordedSite { file: "b/src/lib.rs".into(), ..woven("b", "one", "c=1") };
        let program = program(&[
            (woven("a", "main", "c=1"), 1),
            (at(4, get()), 0),
            (at(9, get()), 7),
            (other, 3),
        ]);
        let mut text = Vec::new();
        Lcov.export(&Run { program, ..Run::default() }, &mut text).expect("memory takes it");
        assert_eq!(
            String::from_utf8(text).expect("it is UTF-8"),
            "TN:\nSF:b/src/lib.rs\nFN:1,b::one\nFNDA:3,b::one\nFNF:1\nFNH:1\nDA:1,3\nLF:1\nLH:1\nend_of_record\n\
             TN:\nSF:src/lib.rs\nFN:1,a::main\nFN:4,a::Pair::get\nFN:9,a::Pair::get:9\n\
             FNDA:1,a::main\nFNDA:0,a::Pair::get\nFNDA:7,a::Pair::get:9\nFNF:3\nFNH:2\n\
             DA:1,1\nDA:4,0\nDA:9,7\nLF:3\nLH:2\nend_of_record\n"
        );
    }

    #[test]
    fn a_line_is_as_covered_as_the_least_covered_function_that_begins_there() {
        assert_eq!(lines([(1, 5), (1, 0)]), BTreeMap::from([(1, 0)]));
    }
}
