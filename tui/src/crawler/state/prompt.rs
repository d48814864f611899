//! The line being written at the bottom: a filter, or a text to search for.

/// What the line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It becomes the filter.
    Filter,
    /// It is searched for.
    Search,
}

/// A line being written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What it is for.
    pub purpose: Purpose,
    /// What stands in it.
    pub text: String,
    /// Why it could not be taken, and what to write instead.
    pub error: Option<String>,
}

/// Characters of a line at most.
const MAX: usize = 400;

impl Prompt {
    /// A line to go on writing.
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        Prompt { purpose, text: text.into(), error: None }
    }

    /// Writes a character.
    pub fn push(&mut self, c: char) {
        if !c.is_control() && self.text.chars().count() < MAX {
            self.text.push(c);
        }
        self.error = None;
    }

    /// Takes the last character back.
    pub fn erase(&mut self) {
        self.text.pop();
        self.error = None;
    }

    /// Takes everything back.
    pub fn clear(&mut self) {
        self.text.clear();
        self.error = None;
    }
}
