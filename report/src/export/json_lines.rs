//! JSON lines: one object for each event, in order of time. `docs/export.md` describes the keys.

use std::io::{self, Write};

use super::record::Names;
use super::{Exporter, Selection, Written};

/// JSON lines: <https://jsonlines.org>.
#[derive(Clone, Copy, Debug)]
pub struct JsonLines;

impl Exporter<Selection<'_>> for JsonLines {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let names = Names::read(selection.store);
        let events = selection.each(|event| {
            serde_json::to_writer(&mut *out, &names.record(event))?;
            out.write_all(b"\n")
        })?;
        Ok(Written { events, notes: Vec::new() })
    }
}
