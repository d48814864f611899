//! The form of a report.

use std::io::{self, Write};

use anyhow::Result;
use serde::Serialize;

use crate::exit::complain;
use crate::options::JsonOption;

/// Writes a report as JSON, or as text.
pub fn write<W: Write>(
    out: &mut W,
    json: &JsonOption,
    report: &impl Serialize,
    failures: &[String],
    text: impl FnOnce(&mut W) -> io::Result<()>,
) -> Result<()> {
    let object = |out: &mut dyn Write| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        writeln!(out)
    };
    json.write(out, object, text)?;
    if json.replaces_text() {
        // The text ends with the failures. JSON does not contain them, so they go to standard
        // error.
        failures.iter().for_each(|failure| complain("metaspy", failure));
    }
    Ok(())
}
