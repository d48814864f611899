//! Files of a command: the files that it reads ([`input`]) and writes ([`OutputFile`]).
//!
//! An output never takes the place of an input. The process remembers each file that it read, so no
//! command has a list of its own, which a new command could forget. An output is also refused in
//! the place of any recording, and is as private as the most private input.

pub mod input;
mod order;
mod output;

pub use input::{open, read, read_argument, read_beginning, read_text, text_of};
pub use order::sort_by_number;
pub use output::{OutputFile, replace};
