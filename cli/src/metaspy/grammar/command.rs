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
use serde::Serialize;

use super::merged;
use super::run as run_inputs;
use crate::exit::{Ended, complain, say};
use crate::metaspy::arguments;
use crate::options::JsonOption;

/// Runs the inputs through the grammar and writes the report.
pub fn run(options: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    if let Some(arguments::Merged::Report(options)) = &options.merged {
        return merged::run(options, out);
    }
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

/// Writes a report as JSON, or as text.
pub fn write<W: Write>(
    out: &mut W,
    json: &JsonOption,
    report: &impl Serialize,
    failures: &[String],
    text: impl FnOnce(&mut W) -> io::Result<()>,
) -> Result<()> {
    let object = |out: &mut dyn Write| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        writeln!(out)
    };
    json.write(out, object, text)?;
    if json.replaces_text() {
        // The text ends with the failures. JSON does not contain them, so they go to standard error.
        failures.iter().for_each(|failure| complain("metaspy", failure));
    }
    Ok(())
}
