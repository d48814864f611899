//! The files of a command: what it reads, [`input`], and what it writes, [`OutputFile`].
//!
//! An output never takes the place of an input. The process remembers each file that it read, so no command has to list
//! its own.

pub mod input;
mod order;
mod output;

pub use input::{open, read, read_argument, read_beginning, read_text, text_of};
pub use order::sort_by_number;
pub use output::{OutputFile, replace};
