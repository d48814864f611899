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
pub struct Line {
    /// What it is for.
    pub purpose: Purpose,
    /// What stands in it.
    pub text: String,
    /// Why it could not be taken, and what to write instead.
    pub wrong: Option<String>,
}

/// Characters of a line at most.
const MAX: usize = 400;

impl Line {
    /// A line to go on writing.
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        Line { purpose, text: text.into(), wrong: None }
    }

    /// Writes a character.
    pub fn push(&mut self, c: char) {
        if !c.is_control() && self.text.chars().count() < MAX {
            self.text.push(c);
        }
        self.wrong = None;
    }

    /// Takes the last character back.
    pub fn erase(&mut self) {
        self.text.pop();
        self.wrong = None;
    }

    /// Takes everything back.
    pub fn clear(&mut self) {
        self.text.clear();
        self.wrong = None;
    }
}
