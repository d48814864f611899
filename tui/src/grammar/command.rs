//! The command from its first step to its exit code.

use std::fs;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use super::baseline::{Baseline, Comparison};
use super::exercise;
use super::merged;
use super::page::Page;
use super::verdict;
use super::{lcov, people};
use crate::cli;
use crate::exit::{Ended, say};

/// Runs the inputs through the grammar and writes the report that was asked for.
pub fn run(asked: &cli::Grammar, out: &mut impl Write) -> Result<Ended> {
    if let Some(cli::Merged::Report(asked)) = &asked.merged {
        return merged::run(asked, out);
    }
    // A baseline that cannot be read is said before the inputs are run, which may take long.
    let baseline = asked.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut report = exercise::run(asked)?;
    report.comparison = baseline.map(|baseline| Comparison::new(&baseline, &report));
    if let Some(path) = &asked.lcov {
        fs::write(path, lcov::text(&report))
            .map_err(|error| say(format!("cannot write {}: {error}", path.display())))?;
    }
    let failures = verdict::failures(asked.fail_under, &report);
    if asked.json {
        serde_json::to_writer_pretty(&mut *out, &report).map_err(io::Error::from)?;
        writeln!(out)?;
        // The object says what is so; why the command ended with 1 is for whoever reads the log.
        for failure in &failures {
            eprintln!("metaspy: {failure}");
        }
    } else {
        let mut page = Page::new(out, io::stdout().is_terminal());
        people::write(&mut page, &report, asked.all, &failures)?;
        if let Some(file) = &asked.record {
            writeln!(out, "\nThe parses, event by event:  metaspy open {}", file.display())?;
        }
    }
    out.flush()?;
    Ok(if failures.is_empty() { Ended::Fine } else { Ended::Failed })
}
