//! `--lcov`: the coverage in the format that editors and coverage services read.
//!
//! A production is a function and its first line a line; an alternative is a branch.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Report, State};
use crate::text::clean;

/// The tracefile, with one record for each file of the grammar.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    for (file, name) in report.grammar.iter().enumerate() {
        // The format has no way to write a line break in a name.
        out += &format!("TN:\nSF:{}\n", clean(name));
        record(&mut out, report, file).expect("a string takes all that is written");
        out += "end_of_record\n";
    }
    out
}

fn record(out: &mut String, report: &Report, file: usize) -> std::fmt::Result {
    let productions = || report.in_use().filter(|production| production.file_number == file);
    for production in productions() {
        writeln!(out, "FN:{},{}", production.line, production.name)?;
    }
    for production in productions() {
        writeln!(out, "FNDA:{},{}", production.matched, production.name)?;
    }
    let matched = productions().filter(|production| production.state == State::Matched);
    writeln!(out, "FNF:{}\nFNH:{}", productions().count(), matched.count())?;

    let (mut branches, mut taken) = (0, 0);
    let mut within = (usize::MAX, 0);
    for (_, alternative) in report.alternatives_in_use() {
        // Alternatives of a choice stand together, in the order they are tried.
        within = if within.0 == alternative.choice { (within.0, within.1 + 1) } else { (alternative.choice, 0) };
        let production = &report.productions[alternative.production_number];
        if production.file_number != file {
            continue;
        }
        let count = if alternative.entered == 0 { "-".into() } else { alternative.matched.to_string() };
        writeln!(out, "BRDA:{},{},{},{count}", production.line, alternative.choice, within.1)?;
        branches += 1;
        taken += u32::from(alternative.matched > 0);
    }
    writeln!(out, "BRF:{branches}\nBRH:{taken}")?;

    // A line that several productions begin in is as covered as the least covered of them: none of them is hidden.
    let mut lines = BTreeMap::new();
    for production in productions() {
        let count = lines.entry(production.line).or_insert(production.matched);
        *count = production.matched.min(*count);
    }
    for (line, count) in &lines {
        writeln!(out, "DA:{line},{count}")?;
    }
    writeln!(out, "LF:{}\nLH:{}", lines.len(), lines.values().filter(|&&count| count > 0).count())
}
