//! `metaspy blueprint`: pictures of a recorded run.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use metaspy_blueprints::{Graph, Options, emit, page, picture};
use metaspy_report::program::Program;
use metaspy_report::text::print_message;

use crate::exit::{Ended, say};
use crate::metaspy::{arguments, filter, live};

/// Lines of the text by default.
const ROWS: usize = 30;
/// Columns of the text where there is no terminal.
const COLUMNS: u16 = 100;

/// Draws the picture: into the named files, and otherwise as text.
pub fn run(options: &arguments::Blueprint, out: &mut impl Write) -> Result<Ended> {
    let filter = filter::parse(options.filter.as_deref())?;
    let store = live::open_all(&options.sources)?;
    filter::check(&filter, &store)?;
    let program = Program::read(&store, &filter);
    let graph = Graph::new(&program, |ticks| store.span_ns(ticks));
    let names: Vec<String> = options.sources.iter().map(|source| source.display().to_string()).collect();
    let threshold = options.threshold / 100.0;
    let drawn = Options { title: names.join(" "), from: options.from.clone(), threshold };
    let scene = picture::draw(options.kind, &graph, &drawn).map_err(|error| say(error.to_string()))?;
    if let Some(file) = &options.html {
        write(file, &page(options.kind, &graph, &drawn).map_err(|error| say(error.to_string()))?)?;
    }
    if let Some(file) = &options.svg {
        write(file, &emit::svg(&scene, &graph))?;
    }
    if options.html.is_none() && options.svg.is_none() || options.json.json.is_some() {
        let columns = crossterm::terminal::size().map_or(COLUMNS, |(columns, _)| columns);
        let text = || emit::text(&scene, &graph, usize::from(columns), options.top.rows().limit(ROWS));
        options.json.write(
            out,
            |out| writeln!(out, "{}", emit::json(&scene, &graph)),
            |out| out.write_all(text().as_bytes()),
        )?;
    }
    if let Some(html) = options.html.as_deref().filter(|_| options.open) {
        open(html).with_context(|| format!("cannot start a browser: open {} in one", html.display()))?;
    }
    Ok(Ended::Fine)
}

fn write(file: &Path, text: &str) -> Result<()> {
    let cannot = || format!("cannot write {}: name a file in a directory that exists", file.display());
    fs::write(file, text).with_context(cannot)?;
    print_message(&format!("written to {}", file.display()));
    Ok(())
}

/// Opens a file with the program that the desktop has for it.
fn open(file: &Path) -> io::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let quiet = || Stdio::null();
    Command::new(opener).arg(file).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn().map(drop)
}
