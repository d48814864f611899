//! Messages on standard error.

use std::fmt::Display;

use metaspy_reader::text::print_message;

/// Prints a message.
pub fn warn(message: &(impl Display + ?Sized)) {
    print_message(&format_args!("metaspy: {message}"));
}
