//! `metaspy stream`, and recordings that come through a pipe.

use std::io::{self, BufReader, BufWriter, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use metaspy_core::Store;
use metaspy_core::stream::{Receiver, Sender};

use crate::exit::{Ended, is_broken_pipe, say};
use crate::metaspy::live;

/// The name of standard input as a recording.
pub const STANDARD: &str = "-";

/// The time between two updates, the same as the crawler's.
const EVERY: Duration = Duration::from_millis(100);

/// Writes a live recording to standard output, until it ends or the reader closes the pipe.
pub fn send(source: &Path) -> Result<Ended> {
    if source == Path::new(STANDARD) {
        return Err(say("standard input is a stream already: `metaspy stream` needs a process, a name or a file"));
    }
    let path = live::attach(Some(source))?;
    let store = live::open(&path)?;
    if io::stdout().is_terminal() {
        return Err(say(format!(
            "standard output is a terminal: pipe the recording, as in `metaspy stream {} | metaspy open -`",
            source.display()
        )));
    }
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let sent = Sender::new(store, out).and_then(|sender| sender.run(EVERY));
    match sent.map_err(anyhow::Error::from) {
        Ok(_) => Ok(Ended::Fine),
        // The reader has read enough.
        Err(error) if is_broken_pipe(&error) => Ok(Ended::Fine),
        Err(error) => Err(say(format!("{}: {error}", path.display()))),
    }
}

/// A recording from standard input, as far as it has arrived.
pub struct Incoming {
    store: Store,
    receiver: Receiver<Box<dyn Read + Send>>,
}

/// Reads the beginning of a recording from standard input.
pub fn open() -> Result<Incoming> {
    if io::stdin().is_terminal() {
        return Err(say("standard input is a terminal: pipe a recording into it, as `metaspy stream PID` writes one"));
    }
    let input: Box<dyn Read + Send> = Box::new(BufReader::with_capacity(1 << 16, input()?));
    let (receiver, store) = Receiver::start(input).map_err(|error| say(format!("standard input: {error}")))?;
    Ok(Incoming { store, receiver })
}

/// Standard input without its lock, because another thread reads it to its end.
fn input() -> Result<impl Read + Send> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        Ok(std::fs::File::from(io::stdin().as_fd().try_clone_to_owned()?))
    }
    #[cfg(not(unix))]
    {
        Ok(io::stdin())
    }
}

impl Incoming {
    /// The recording, when all of it has arrived.
    pub fn read_all(mut self) -> Result<Store> {
        self.receiver.run();
        // The recording is mapped already, so this cannot fail.
        let _ = self.store.refresh();
        Ok(self.store)
    }

    /// The recording, while it arrives.
    pub fn in_background(self) -> Result<Store> {
        let receiver = self.receiver;
        std::thread::Builder::new().name("stream".into()).spawn(move || receiver.run())?;
        Ok(self.store)
    }
}
