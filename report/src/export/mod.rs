//! Exports: the formats of other tools, one file each. `docs/export.md` describes the limits of
//! each format.
//!
//! A format implements [`Exporter`] for its source: the [`Selection`] of events of a recording, or
//! the coverage of a [`Run`](crate::coverage::Run). [`Format`] is the list of all of them, for a
//! command and for a screen:
//!
//! ```no_run
//! use std::fs::File;
//! use std::io::BufWriter;
//!
//! use metaspy_reader::Store;
//! use metaspy_report::export::{Exporter, Format, Selection};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = Store::open("run.spy".as_ref())?;
//! let slow = "took:>1ms".parse()?;
//! let mut out = BufWriter::new(File::create("slow.jsonl")?);
//! let written = Format::JsonLines.export(&Selection::new(&store, &slow), &mut out)?;
//! written.notes.iter().for_each(|sentence| eprintln!("{sentence}"));
//! # Ok(())
//! # }
//! ```

mod selection;

mod arrows;
mod record;
mod stacks;
mod tracks;

mod format;

pub mod cobertura;
pub mod json;
pub mod lcov;

mod chrome;
mod collapsed;
mod csv;
mod firefox;
mod graphviz;
mod json_lines;
mod perfetto;
pub mod pprof;
pub mod speedscope;
mod spy;

pub mod text;

use std::io::{self, Write};

pub use chrome::Chrome;
pub use cobertura::Cobertura;
pub use collapsed::{Collapsed, Weight};
pub use csv::Csv;
pub use firefox::Firefox;
pub use format::Format;
pub use graphviz::Graphviz;
pub use json::Json;
pub use json_lines::JsonLines;
pub use lcov::Lcov;
pub use perfetto::Perfetto;
pub use record::Record;
pub use selection::{Progress, Selection, is_stopped};
pub use speedscope::Speedscope;
pub use spy::Spy;
pub(crate) use stacks::notes as chain_notes;

/// A format in which `Source` can be written.
pub trait Exporter<Source: ?Sized> {
    /// Writes the whole document. An error is one of `out`, or a stop by the watcher of a
    /// [`Selection`].
    fn export(&self, source: &Source, out: &mut dyn Write) -> io::Result<Written>;
}

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Events that were written, or added up in the output. 0 for the coverage of a run.
    pub events: u64,
    /// Sentences about facts that the format could not hold.
    pub notes: Vec<String>,
}

/// The last two parts of a path: `Scene::layout`, `pictures::sent`.
fn short_name(path: &str) -> &str {
    let parent = path.rfind("::").and_then(|last| path[..last].rfind("::"));
    parent.map_or(path, |at| &path[at + 2..])
}

/// A name without control characters, which the formats cannot write.
fn printable(name: &str) -> String {
    name.replace(char::is_control, "?")
}
