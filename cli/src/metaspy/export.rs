//! `metaspy export`: the events of a recording in the format of another tool.

use std::cell::RefCell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use metaspy_reader::files::OutputFile;
use metaspy_report::contexts::{self, Contexts};
use metaspy_report::export::{Exporter, Format, Selection, Written, is_stopped};
use metaspy_report::text::{counted, file_name, grouped, print_message};
use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag;

use crate::exit::{Ended, cannot_write, complain, say};
use crate::metaspy::progress::Progress;
use crate::metaspy::{arguments, filter, live};

/// Bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes the document.
pub fn run(options: &arguments::Export) -> Result<Ended> {
    let filter = filter::parse(options.filter.as_deref())?;
    let store = live::open_all(&options.sources)?;
    filter::check(&filter, &store)?;
    if options.to.is_contexts() && Contexts::read(&store).is_none() {
        return Err(say(contexts::NOT_RECORDED));
    }
    let ended = live::by_damage([&store]);
    if options.to == Format::Spy && ended == Ended::Failed {
        let why = "a copy of what is left would look like a whole recording";
        return Err(say(format!("{why}: `--to jsonl` writes the events that are there")));
    }
    let stop = stopped_by_signals()?;
    let progress = RefCell::new(Progress::on_stderr());
    let watch = |now: metaspy_report::export::Progress| {
        let percent = (now.part * 100.0) as u64;
        progress.borrow_mut().update(|| match now.events {
            0 => format!("{percent:3} %"),
            events => format!("{percent:3} %  {} events", grouped(events)),
        });
        !stop.load(Ordering::Relaxed)
    };
    let selection = Selection::new(&store, &filter).watched(&watch);
    let written = match &options.output {
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
        let why = if ended == Ended::Failed {
            "no event can be read"
        } else if filter.is_all() {
            "the recording has no events: `--to json`, `lcov` and `cobertura` write what was only counted"
        } else {
            "no event passes --filter"
        };
        complain("metaspy", why);
    }
    if let Some(file) = &options.output {
        let events = if of_events {
            format!(": {}", counted(written.events, "event"))
        } else {
            String::new()
        };
        print_message(&format!("written to {}{events}", file_name(file)));
    }
    Ok(ended)
}

/// True once a signal, such as the interrupt of Ctrl-C, requests the end. The second one ends the
/// process at once.
fn stopped_by_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for &signal in TERM_SIGNALS {
        flag::register_conditional_default(signal, stop.clone())
            .and_then(|_| flag::register(signal, stop.clone()))
            .context("cannot handle Ctrl-C")?;
    }
    Ok(stop)
}

/// Writes a file. One that cannot be written to its end is as it was before.
pub(crate) fn into_file(format: Format, selection: &Selection<'_>, file: &Path) -> Result<Written> {
    let mut out = match format {
        Format::Spy => OutputFile::create_recording(file),
        _ => OutputFile::create(file),
    }
    .map_err(cannot_write(file))?;
    let written =
        format.export(selection, &mut out).and_then(|written| out.complete().map(|()| written));
    written.map_err(|error| {
        if is_stopped(&error) {
            say(format!("stopped: {} is not written", file_name(file)))
        } else {
            cannot_write(file)(error)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metaspy_core::{Recording, Store};
    use metaspy_reader::Filter;

    use super::*;

    #[test]
    fn a_stopped_export_leaves_no_part_of_a_file_and_removes_no_device() {
        let _alone = crate::ONE_RECORDING.lock();
        let directory =
            std::env::temp_dir().join(format!("metaspy-test-export-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("the test's directory can be made");
        let recording = directory.join("empty.spy");
        Recording::file(&recording).start().expect("the file can be made").close();
        let store = Store::open(&recording).expect("it is a recording");
        let filter = Filter::all();
        let stopped = Selection::new(&store, &filter).watched(&|_| false);
        let file = directory.join("part.json");
        let error = into_file(Format::Chrome, &stopped, &file).expect_err("it is stopped");
        assert!(error.to_string().ends_with("part.json is not written"), "{error}");
        assert!(!file.exists(), "a part is left");
        #[cfg(unix)]
        {
            let device = Path::new("/dev/null");
            into_file(Format::Chrome, &stopped, device).expect_err("it is stopped");
            assert!(device.exists(), "the device is gone");
        }
        let _ = fs::remove_dir_all(directory);
    }
}
