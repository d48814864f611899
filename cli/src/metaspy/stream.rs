//! `metaspy stream`, and what it sends: a recording through a pipe.

use std::io::{self, BufReader, BufWriter, IsTerminal, Read};
use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use metaspy_core::Store;
use metaspy_core::stream::{Receiver, Sender};

use crate::exit::{Ended, is_broken_pipe, say};
use crate::metaspy::live;

/// The name of standard input where a recording is asked for.
pub const STANDARD: &str = "-";

/// What changed is sent so often: as often as the crawler looks at a live recording.
const EVERY: Duration = Duration::from_millis(100);

/// Writes a live recording to standard output, until it ends or nobody reads any more.
pub fn send(source: &Path) -> Result<Ended> {
    if source == Path::new(STANDARD) {
        return Err(say("what comes on standard input is a stream already: `metaspy stream` wants a process"));
    }
    let path = match source.to_str().and_then(|text| text.parse().ok()) {
        Some(pid) if !source.exists() => live::attach(Some(pid))?.path,
        _ => live::path_of(source)?,
    };
    let store = live::open(&path)?;
    if io::stdout().is_terminal() {
        return Err(say(format!(
            "a recording is nothing to look at: pipe it, as in `metaspy stream {} | metaspy open -`",
            source.display()
        )));
    }
    let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let sent = Sender::new(store, out).and_then(|sender| sender.run(EVERY));
    match sent.map_err(anyhow::Error::from) {
        Ok(_) => Ok(Ended::Fine),
        // Whoever looked at it has seen enough.
        Err(error) if is_broken_pipe(&error) => Ok(Ended::Fine),
        Err(error) => Err(say(format!("{}: {error}", path.display()))),
    }
}

/// A recording that comes on standard input, as far as it has come.
pub struct Coming {
    store: Store,
    receiver: Receiver<Box<dyn Read + Send>>,
}

/// Reads the beginning of what comes on standard input.
pub fn open() -> Result<Coming> {
    if io::stdin().is_terminal() {
        return Err(say(
            "nothing comes on standard input: pipe a recording into it, as `metaspy stream PID` sends one",
        ));
    }
    let input: Box<dyn Read + Send> = Box::new(BufReader::with_capacity(1 << 16, input()?));
    let (receiver, store) = Receiver::start(input).map_err(|error| say(format!("standard input: {error}")))?;
    Ok(Coming { store, receiver })
}

/// Standard input by itself: another thread reads it, and a lock would have to be held for as long as it lives.
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

impl Coming {
    /// The recording, when all of it has come.
    pub fn to_its_end(mut self) -> Result<Store> {
        self.receiver.run();
        // It is mapped already: nothing of this can fail.
        let _ = self.store.refresh();
        Ok(self.store)
    }

    /// The recording, while it comes.
    pub fn in_background(self) -> Result<Store> {
        let receiver = self.receiver;
        std::thread::Builder::new().name("stream".into()).spawn(move || receiver.run())?;
        Ok(self.store)
    }
}
