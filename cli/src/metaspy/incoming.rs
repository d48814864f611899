//! Recordings that come through a pipe.

use std::io::{self, BufReader, IsTerminal, Read};

use anyhow::Result;
use metaspy_core::Store;
use metaspy_reader::stream::Receiver;

use crate::exit::say;

/// The name of standard input as a recording.
pub const STANDARD: &str = "-";

/// A recording from standard input, as far as it has arrived.
pub struct Incoming {
    store: Store,
    receiver: Receiver<Box<dyn Read + Send>>,
}

/// Reads the beginning of a recording from standard input.
pub fn open() -> Result<Incoming> {
    if io::stdin().is_terminal() {
        return Err(say(
            "standard input is a terminal: pipe a recording into it, as `metaspy stream PID` writes one",
        ));
    }
    let input: Box<dyn Read + Send> = Box::new(BufReader::with_capacity(64 * 1024, input()?));
    let (receiver, store) =
        Receiver::start(input).map_err(|error| say(format!("standard input: {error}")))?;
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
    pub(crate) fn in_background(self) -> Result<Store> {
        let receiver = self.receiver;
        std::thread::Builder::new().name("stream".into()).spawn(move || receiver.run())?;
        Ok(self.store)
    }
}
