//! `metaspy blueprint flame`: stacks with their costs.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use metaspy_report::flame::FlamePage;

use super::blueprint::{ROWS, columns, open_page, open_recording, title, write};
use crate::exit::{Ended, say};
use crate::metaspy::arguments;
use crate::metaspy::progress::with_time;

/// Draws the stacks of recordings: into the named file, and otherwise as text.
pub fn run(options: &arguments::Blueprint, out: &mut impl Write) -> Result<Ended> {
    let unfit = [
        (options.by.is_some(), "--by is for an evolution"),
        (
            options.of.is_some(),
            "--of is for pictures of boxes: a flame page has all stacks, and `p` turns to the next",
        ),
        (
            options.from.is_some(),
            "--from is for pictures of calls: a flame page opens at `#Type::method` behind its address",
        ),
        (
            options.view.is_some(),
            "--view is for pictures of boxes: domain, structural and behavioural",
        ),
        (
            options.hooks.is_some(),
            "--hooks is for pictures of methods: a flame graph has the times of `metaspy report`",
        ),
        (
            options.svg.is_some(),
            "--svg is for pictures of boxes: `metaspy export --to contexts` is for tools that draw an SVG",
        ),
        (
            options.json.json.is_some(),
            "--json is for pictures of boxes: `metaspy report --contexts --json`, or `--functions --json`",
        ),
    ];
    if let Some((_, why)) = unfit.into_iter().find(|(is_given, _)| *is_given) {
        return Err(say(why));
    }
    let (mut page, mut ended) = read(&options.sources, options.filter.as_deref())?;
    if !options.baseline.is_empty() {
        let (before, ended_before) = read(&options.baseline, options.filter.as_deref())?;
        page = page.compared_with(&before);
        ended = ended.and(ended_before);
    }
    if page.stacks.is_empty() {
        let why: Vec<String> =
            page.absent.iter().map(|absent| format!("\n  {}", absent.sentence())).collect();
        return Err(say(format!("the recording has no stacks:{}", why.concat())));
    }
    match &options.html {
        Some(file) => write(file, &page.html())?,
        None => {
            let rows = options.top.rows().limit(ROWS);
            page.text(options.threshold / 100.0, rows, columns())
                .iter()
                .try_for_each(|line| writeln!(out, "{line}"))?;
        }
    }
    open_page(options)?;
    Ok(ended)
}

/// The stacks of recordings that are read as one, and how the command ends if nothing else fails.
fn read(sources: &[PathBuf], passes: Option<&str>) -> Result<(FlamePage, Ended)> {
    let names: Vec<String> = sources.iter().map(|source| title(source)).collect();
    let (store, filter, ended) = open_recording(sources, passes)?;
    let page = with_time("counting", || FlamePage::read(&store, &filter, names.join(" ")));
    Ok((page, ended))
}
