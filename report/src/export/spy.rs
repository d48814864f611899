//! A recording of the selected events, which metaspy itself opens.

use std::io::{self, Write};

use metaspy_reader::MergeError;

use super::{Exporter, Selection, Written, selection};

/// A `.spy` file: the selected events with names, causes, links, labels and details. Where nothing
/// is filtered, also the tallies and the tables of method profilers.
#[derive(Clone, Copy, Debug)]
pub struct Spy;

impl Exporter<Selection<'_>> for Spy {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let Selection { store, filter, .. } = *selection;
        let note = if filter.is_all() {
            "a copy of a recording".to_owned()
        } else {
            format!("a selection, `{}`: causes that do not pass are not in it", filter.text())
        };
        let events = store
            .write_selection(filter, &note, &|part| selection.report(part, 0).is_ok(), out)
            .map_err(|error| match error {
                MergeError::Stopped => selection::stopped(),
                error => io::Error::other(error),
            })??;
        selection.report(1.0, events)?;
        Ok(Written { events, notes: Vec::new() })
    }
}
