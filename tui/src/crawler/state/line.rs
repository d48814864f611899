//! Line of text that the user edits, in the prompt and in the palette.

use crate::crawler::command::Command;

/// Maximum number of characters of the text.
const MAX: usize = 400;

/// Text and the position of the caret in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    /// Position in bytes, at the beginning of a character.
    caret: usize,
}

/// Movement of the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caret {
    /// One character to the left.
    Left,
    /// One character to the right.
    Right,
    /// To the start of the line.
    Start,
    /// To the end of the line.
    End,
}

impl Line {
    /// Creates a line with the caret at the end of the text.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Line { caret: text.len(), text }
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the caret.
    pub fn before(&self) -> &str {
        &self.text[..self.caret]
    }

    /// Returns the text after the caret.
    pub fn behind(&self) -> &str {
        &self.text[self.caret..]
    }

    /// Inserts a character. Control characters are ignored.
    pub fn push(&mut self, c: char) {
        if !c.is_control() && self.text.chars().count() < MAX {
            self.text.insert(self.caret, c);
            self.caret += c.len_utf8();
        }
    }

    /// Erases the character before the caret.
    pub fn erase(&mut self) {
        let end = self.caret;
        self.step(Caret::Left);
        self.text.replace_range(self.caret..end, "");
    }

    /// Erases the word before the caret.
    pub(crate) fn erase_word(&mut self) {
        let kept = self.before().trim_end();
        let from = kept
            .char_indices()
            .rev()
            .find(|(_, c)| c.is_whitespace())
            .map_or(0, |(at, c)| at + c.len_utf8());
        self.text.replace_range(from..self.caret, "");
        self.caret = from;
    }

    /// Erases the whole text.
    pub fn clear(&mut self) {
        *self = Line::default();
    }

    /// Replaces the text from this byte up to the caret.
    pub(crate) fn replace_from(&mut self, from: usize, with: &str) {
        self.text.replace_range(from..self.caret, with);
        self.caret = from + with.len();
    }

    /// Applies a command that edits the line. Returns false if the command has another purpose.
    pub fn apply(&mut self, command: Command) -> bool {
        match command {
            Command::Type(c) => self.push(c),
            Command::Erase => self.erase(),
            Command::EraseWord => self.erase_word(),
            Command::ClearPrompt => self.clear(),
            Command::MoveCaret(step) => self.step(step),
            _ => return false,
        }
        true
    }

    /// Moves the caret.
    pub fn step(&mut self, step: Caret) {
        let left = self.before().chars().next_back().map_or(0, char::len_utf8);
        let right = self.behind().chars().next().map_or(0, char::len_utf8);
        self.caret = match step {
            Caret::Left => self.caret - left,
            Caret::Right => self.caret + right,
            Caret::Start => 0,
            Caret::End => self.text.len(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_inserted_and_erased_at_the_caret() {
        let mut line = Line::new("sité:x");
        line.step(Caret::Left);
        line.step(Caret::Left);
        line.erase();
        line.push('e');
        assert_eq!((line.text(), line.before()), ("site:x", "site"));
        line.step(Caret::Start);
        line.erase();
        line.push('-');
        line.step(Caret::End);
        line.step(Caret::Right);
        assert_eq!((line.text(), line.behind()), ("-site:x", ""));
        line.push('\n');
        line.replace_from(6, "yz");
        assert_eq!(line.text(), "-site:yz");
    }

    #[test]
    fn a_word_is_erased_with_the_spaces_behind_it() {
        let mut line = Line::new("site:a took:>1ms ");
        line.erase_word();
        assert_eq!(line.text(), "site:a ");
        line.erase_word();
        line.erase_word();
        assert_eq!(line.text(), "");
    }
}
