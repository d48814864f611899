//! The steps of the command.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use metaspy_blueprints::Options;
use metaspy_blueprints::grammar::Grammar;
use metaspy_blueprints::picture::draw_grammar;
use metaspy_core::Store;
use metaspy_reader::Filter;
use metaspy_reader::files::{self, OutputFile};
use metaspy_report::grammar::baseline::{Baseline, Comparison};
use metaspy_report::grammar::verdict;
use metaspy_report::grammar::writer::Page;
use metaspy_report::grammar::{lcov, text};
use metaspy_report::text::{clean, file_name};

use super::output::write;
use super::run as run_inputs;
use crate::exit::{Ended, cannot_write, say};
use crate::metaspy::arguments;
use crate::metaspy::private_directory::PrivateDirectory;
use crate::metaspy::{blueprint, findings};

/// Runs the inputs through the grammar and writes the report.
pub fn run(options: &arguments::Grammar, out: &mut impl Write) -> Result<Ended> {
    // A baseline that cannot be read is reported before the inputs are run, which may take long.
    let baseline = options.baseline.as_deref().map(read_baseline).transpose()?;
    // Only the picture needs such a recording.
    let is_unnamed = options.record.is_none() && options.blueprint.is_some();
    let private = if is_unnamed { Some(PrivateDirectory::new("grammar")?) } else { None };
    let unnamed = private.as_ref().map(|private| private.path().join("grammar.spy"));
    let recording = options.record.as_deref().or(unnamed.as_deref());
    let mut report = run_inputs::run(options, recording)?;
    if let Some(baseline) = baseline.as_ref().filter(|baseline| !baseline.is_of(&report)) {
        return Err(say(format!(
            "--baseline cannot be decided: no production is in use both in the baseline, of rule `{}`, and in this \
             grammar; name the baseline of this grammar",
            clean(baseline.rule())
        )));
    }
    report.comparison = baseline.map(|baseline| Comparison::new(&baseline, &report));
    if let Some(path) = &options.lcov {
        let mut tracefile = Vec::new();
        lcov::write(&report, &mut tracefile)?;
        OutputFile::write(path, &tracefile).map_err(cannot_write(path))?;
    }
    if let (Some(page), Some(recording)) = (&options.blueprint, recording) {
        draw(page, recording, options)?;
    }
    let failures = verdict::failures(options.least.fail_under, &report);
    write(out, &options.json, &report, &failures, |out| {
        text::write(
            &mut Page::new(out, io::stdout().is_terminal()),
            &report,
            options.top.rows(),
            &failures,
        )?;
        match &options.record {
            Some(file) => {
                writeln!(out, "\nThe parses, event by event:  metaspy open {}", file_name(file))
            }
            None => Ok(()),
        }
    })?;
    Ok(if failures.is_empty() { Ended::Fine } else { Ended::Failed })
}

/// Draws the productions of a recording into a page.
fn draw(page: &Path, recording: &Path, options: &arguments::Grammar) -> Result<()> {
    let store = Store::open(recording)?;
    let grammar = Grammar::read(&store, &Filter::default());
    let title =
        options.grammar.as_deref().map_or_else(String::new, |file| file.display().to_string());
    let scene = draw_grammar(
        &grammar,
        &Options { title, findings: Some(findings::search(&store)?), ..Options::default() },
    );
    let scene = scene.map_err(|error| say(error.to_string()))?;
    blueprint::write(page, &blueprint::page_of(&grammar.graph, &scene))
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let wrong = |what: String| say(format!("--baseline: {}: {what}", path.display()));
    let json =
        files::read_argument(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    Baseline::parse(&json).map_err(wrong)
}
