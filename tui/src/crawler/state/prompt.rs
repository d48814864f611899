//! The prompt at the bottom, for a filter or for a search.

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
    pub text: String,
    /// Why the text was refused, and what to type instead.
    pub error: Option<String>,
}

/// Most characters of the text.
const MAX: usize = 400;

impl Prompt {
    /// A prompt with a text to edit.
    pub fn new(purpose: Purpose, text: impl Into<String>) -> Self {
        Prompt { purpose, text: text.into(), error: None }
    }

    /// Adds a character.
    pub fn push(&mut self, c: char) {
        if !c.is_control() && self.text.chars().count() < MAX {
            self.text.push(c);
        }
        self.error = None;
    }

    /// Erases the last character.
    pub fn erase(&mut self) {
        self.text.pop();
        self.error = None;
    }

    /// Clears the text.
    pub fn clear(&mut self) {
        self.text.clear();
        self.error = None;
    }
}
