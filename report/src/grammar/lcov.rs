//! The coverage of a grammar as lcov's tracefile: a production is a function, and an alternative is
//! a branch.

use std::io::{self, Write};

use super::Report;
use crate::export::lcov::{Branch, Function, Record};

/// Writes the tracefile, with one record for each file of the grammar.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    (0..report.grammar.len()).try_for_each(|file| record(report, file).write(out))
}

fn record(report: &Report, file: usize) -> Record {
    let productions = report.in_use().filter(|production| production.file_number == file);
    let functions = productions.map(|production| Function {
        line: production.line,
        name: production.name.clone(),
        executions: production.matched,
    });
    let mut branches = Vec::new();
    let mut last = (usize::MAX, 0);
    for (_, alternative) in report.alternatives_in_use() {
        // The alternatives of a choice are neighbours, in the order in which they are tried.
        last = if last.0 == alternative.choice {
            (last.0, last.1 + 1)
        } else {
            (alternative.choice, 0)
        };
        let production = &report.productions[alternative.production_number];
        if production.file_number == file {
            let taken = (alternative.entered > 0).then_some(alternative.matched);
            branches.push(Branch {
                line: production.line,
                choice: alternative.choice,
                number: last.1,
                taken,
            });
        }
    }
    Record {
        file: report.grammar[file].clone(),
        functions: functions.collect(),
        branches: Some(branches),
    }
}
