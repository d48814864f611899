//! The command from its first step to its exit code.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use metaspy_report::grammar::baseline::{Baseline, Comparison};
use metaspy_report::grammar::verdict;
use metaspy_report::grammar::writer::Page;
use metaspy_report::grammar::{lcov, text};
use serde::Serialize;

use super::merged;
use super::run as run_inputs;
use crate::exit::{Ended, say};
use crate::metaspy::arguments;

/// Runs the inputs through the grammar and writes the report that was asked for.
pub fn run(asked: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    if let Some(arguments::Merged::Report(asked)) = &asked.merged {
        return merged::run(asked, out);
    }
    // A baseline that cannot be read is said before the inputs are run, which may take long.
    let baseline = asked.baseline.as_deref().map(read_baseline).transpose()?;
    let mut report = run_inputs::run(asked)?;
    report.comparison = baseline.map(|baseline| Comparison::new(&baseline, &report));
    if let Some(path) = &asked.lcov {
        let mut tracefile = Vec::new();
        lcov::write(&report, &mut tracefile)?;
        fs::write(path, tracefile).map_err(|error| say(format!("cannot write {}: {error}", path.display())))?;
    }
    let failures = verdict::failures(asked.fail_under, &report);
    write(out, asked.json, &report, &failures, |out| {
        text::write(&mut Page::new(out, io::stdout().is_terminal()), &report, asked.all, &failures)?;
        match &asked.record {
            Some(file) => writeln!(out, "\nThe parses, event by event:  metaspy open {}", file.display()),
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

/// Writes an object for programs, or what people are told.
pub fn write<W: Write>(
    out: &mut W,
    json: bool,
    object: &impl Serialize,
    failures: &[String],
    people: impl FnOnce(&mut W) -> io::Result<()>,
) -> Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, object).map_err(io::Error::from)?;
        writeln!(out)?;
        // The object says what is so; why the command ended with 1 is for whoever reads the log.
        for failure in failures {
            eprintln!("metaspy: {failure}");
        }
    } else {
        people(out)?;
    }
    Ok(out.flush()?)
}
