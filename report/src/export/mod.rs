//! Exports: the formats of other tools, one file each.

pub mod cobertura;
pub mod json;
pub mod lcov;

use std::io::{self, Write};

use crate::coverage::Run;

pub use cobertura::Cobertura;
pub use json::Json;
pub use lcov::Lcov;

/// A format in which a run can be written.
pub trait Exporter {
    /// Writes the whole document.
    fn export(&self, run: &Run, out: &mut dyn Write) -> io::Result<()>;
}

/// A name without control characters, which the formats cannot write.
fn printable(name: &str) -> String {
    name.replace(char::is_control, "?")
}
