//! The prompt at the bottom, for a filter or for a search.

use super::line::Line;
use crate::crawler::command::Command;

/// The purpose of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To edit the filter.
    Filter,
    /// To search for a text.
    Search,
}

/// The prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// Its purpose.
    pub purpose: Purpose,
    /// Its text.
    pub line: Line,
    /// Why the text was refused, and what to type instead.
    pub error: Option<String>,
}

impl Prompt {
    /// A prompt with a text to edit.
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        Prompt { purpose, line: Line::new(text), error: None }
    }

    /// Applies a command that edits the text. False if the command does something else.
    pub fn edit(&mut self, command: Command) -> bool {
        let edits = self.line.apply(command);
        if edits {
            self.error = None;
        }
        edits
    }
}
