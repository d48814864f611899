//! `metaspy stream`: writes a live recording into a pipe.

use std::io::{self, BufWriter, IsTerminal};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use metaspy_reader::stream::Sender;

use crate::exit::{Ended, is_broken_pipe, say};
use crate::metaspy::incoming::STANDARD;
use crate::metaspy::live;

/// The time between two updates, the same as the crawler's.
const EVERY: Duration = Duration::from_millis(100);

/// Writes a live recording to standard output, until it ends or the reader closes the pipe.
pub fn send(source: &Path) -> Result<Ended> {
    if source == Path::new(STANDARD) {
        return Err(say(
            "standard input is a stream already: `metaspy stream` needs a process, a name or a file",
        ));
    }
    let path = live::attach(Some(source))?;
    let store = live::open(&path)?;
    if io::stdout().is_terminal() {
        return Err(say(format!(
            "standard output is a terminal: pipe the recording, as in `metaspy stream {} | metaspy open -`",
            source.display()
        )));
    }
    let out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    let sent = Sender::new(store, out).and_then(|sender| sender.run(EVERY));
    match sent.map_err(anyhow::Error::from) {
        Ok(_) => Ok(Ended::Fine),
        // The reader has read enough.
        Err(error) if is_broken_pipe(&error) => Ok(Ended::Fine),
        Err(error) => Err(say(format!("{}: {error}", path.display()))),
    }
}
