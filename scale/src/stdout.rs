//! Standard output. A reader that closes the pipe has read enough.

use std::io::{self, Write};

use anyhow::Result;

/// Prints a text on standard output.
pub fn print(text: &str) -> Result<()> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
