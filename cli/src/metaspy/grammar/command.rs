//! The steps of the command.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use metaspy_report::grammar::baseline::{Baseline, Comparison};
use metaspy_report::grammar::verdict;
use metaspy_report::grammar::writer::Page;
use metaspy_report::grammar::{lcov, text};
use metaspy_report::text::file_name;

use super::output::write;
use super::run as run_inputs;
use crate::exit::{Ended, say};
use crate::metaspy::arguments;

/// Runs the inputs through the grammar and writes the report.
pub fn run(options: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    // A baseline that cannot be read is reported before the inputs are run, which may take long.
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    let mut report = run_inputs::run(options)?;
    report.comparison = baseline.map(|baseline| Comparison::new(&baseline, &report));
    if let Some(path) = &options.lcov {
        let mut tracefile = Vec::new();
        lcov::write(&report, &mut tracefile)?;
        fs::write(path, tracefile).map_err(|error| say(format!("cannot write {}: {error}", path.display())))?;
    }
    let failures = verdict::failures(options.least.fail_under, &report);
    write(out, &options.json, &report, &failures, |out| {
        text::write(&mut Page::new(out, io::stdout().is_terminal()), &report, options.top.rows(), &failures)?;
        match &options.record {
            Some(file) => writeln!(out, "\nThe parses, event by event:  metaspy open {}", file_name(file)),
            None => Ok(()),
        }
    })?;
    Ok(if failures.is_empty() { Ended::Fine } else { Ended::Failed })
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let wrong = |what: String| say(format!("--baseline: {}: {what}", path.display()));
    let json = fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    Baseline::parse(&json).map_err(wrong)
}
