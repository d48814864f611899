//! Messages on standard error. A closed or full standard error never ends the program.

use std::fmt::Display;
use std::io::Write;

use metaspy_reader::text::clean_lines;

/// Prints a message, without the characters that a terminal obeys.
pub(crate) fn warn(message: &(impl Display + ?Sized)) {
    let _ = writeln!(std::io::stderr(), "metaspy: {}", clean_lines(&message.to_string()));
}
