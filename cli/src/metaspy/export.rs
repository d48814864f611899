//! `metaspy export`: the events of a recording in the format of another tool.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_report::export::{Exporter, Format, Selection, Written};
use metaspy_report::text::{counted, file_name, grouped, print_message};

use crate::exit::{Ended, complain, say};
use crate::metaspy::progress::Progress;
use crate::metaspy::{arguments, filter, live};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes the document.
pub fn run(options: &arguments::Export) -> Result<Ended> {
    let filter = filter::parse(options.filter.as_deref())?;
    let paths = live::paths_of(&options.sources)?;
    let store = live::open_all(&options.sources)?;
    filter::check(&filter, &store)?;
    let progress = RefCell::new(Progress::on_stderr());
    let watch = |now: metaspy_report::export::Progress| {
        let (percent, events) = ((now.part * 100.0) as u64, grouped(now.events));
        progress.borrow_mut().update(|| format!("{percent:3} %  {events} events"));
        true
    };
    let selection = Selection::new(&store, &filter).watched(&watch);
    let written = match &options.output {
        Some(file) if paths.iter().any(|path| is_same(path, file)) => {
            return Err(say(format!("{} is the recording itself: name another file with -o", file_name(file))));
        }
        Some(file) => into_file(options.to, &selection, file)?,
        None if options.to.is_binary() && io::stdout().is_terminal() => {
            return Err(say(format!("{} is no text: name a file with -o", options.to.name())));
        }
        None => {
            let mut out = BufWriter::with_capacity(BUFFER, io::stdout().lock());
            let written = options.to.export(&selection, &mut out)?;
            out.flush()?;
            written
        }
    };
    drop(progress);
    for note in &written.notes {
        complain("metaspy", note);
    }
    let of_events = !options.to.is_coverage();
    if written.events == 0 && of_events {
        let why = match filter.is_all() {
            true if options.to.is_contexts() => {
                "the recording has no calling contexts: run the program with METASPY_PROFILE=contexts"
            }
            true => "the recording has no events: `--to json`, `lcov` and `cobertura` write what was only counted",
            false => "no event passes --filter",
        };
        complain("metaspy", why);
    }
    if let Some(file) = &options.output {
        let events = if of_events { format!(": {}", counted(written.events, "event")) } else { String::new() };
        print_message(&format!("written to {}{events}", file_name(file)));
    }
    Ok(Ended::Fine)
}

/// Writes a file. A file that cannot be written to its end is removed.
pub fn into_file(format: Format, selection: &Selection<'_>, file: &Path) -> Result<Written> {
    let cannot = || format!("cannot write {}: name a file in a directory that exists and has room", file.display());
    let mut out = BufWriter::with_capacity(BUFFER, File::create(file).with_context(cannot)?);
    let written = format.export(selection, &mut out).and_then(|written| out.flush().map(|()| written));
    if written.is_err() {
        // A part of a document is no document. The error is reported in any case.
        let _ = fs::remove_file(file);
    }
    written.with_context(cannot)
}

fn is_same(a: &Path, b: &Path) -> bool {
    fs::canonicalize(a).ok().is_some_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}
