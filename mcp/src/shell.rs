//! Commands: how they are written for a shell, and which of them may run.
//!
//! Nothing here is passed to a shell. A pattern is compared with the words of a command, and the
//! words are passed to the program as they are.

use std::fmt;
use std::str::FromStr;

use metaspy_report::text::command_line;

/// The command that shows a person the same.
pub struct CommandLine(Vec<String>);

impl CommandLine {
    /// Begins a command, such as `report`, about recordings.
    pub fn new(command: &str, recordings: &[String]) -> CommandLine {
        let mut words = vec!["metaspy".to_owned(), command.to_owned()];
        words.extend_from_slice(recordings);
        CommandLine(words)
    }

    /// Adds further words.
    pub fn and(mut self, words: &[String]) -> CommandLine {
        self.0.extend_from_slice(words);
        self
    }

    /// Adds an option with a value.
    pub fn with(mut self, option: &str, value: impl Into<String>) -> CommandLine {
        self.0.extend([option.to_owned(), value.into()]);
        self
    }

    /// Adds an option with a value, if there is one.
    pub(crate) fn with_some(self, option: &str, value: Option<impl Into<String>>) -> CommandLine {
        match value {
            Some(value) => self.with(option, value),
            None => self,
        }
    }

    /// Adds an option.
    pub fn flag(mut self, option: &str, is_set: bool) -> CommandLine {
        if is_set {
            self.0.push(option.to_owned());
        }
        self
    }

    /// Writes the command for a shell.
    pub fn line(&self) -> String {
        command_line(self.0.iter().map(String::as_str))
    }
}

/// Commands that the tool `run` may start: `cargo metaspy *`.
///
/// The words of the pattern are compared with the words of the command. In a word, `*` stands for
/// any characters of one word. A last word `*` stands for any number of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    words: Vec<String>,
}

impl Pattern {
    /// Returns true if a command with these words may run.
    pub fn allows(&self, command: &[String]) -> bool {
        let (words, is_open) = match self.words.split_last() {
            Some((last, words)) if last == "*" && !words.is_empty() => (words, true),
            _ => (&self.words[..], false),
        };
        let has_length =
            if is_open { command.len() >= words.len() } else { command.len() == words.len() };
        has_length && words.iter().zip(command).all(|(pattern, word)| matches(pattern, word))
    }

    /// Returns the pattern as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Splits at spaces. Quotes keep spaces, as in a shell.
impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Pattern, String> {
        let mut words = Vec::new();
        let mut word: Option<String> = None;
        let mut quote = None;
        for letter in text.chars() {
            match (quote, letter) {
                (Some(open), _) if open == letter => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (None, _) if letter.is_whitespace() => words.extend(word.take()),
                _ => word.get_or_insert_default().push(letter),
            }
        }
        words.extend(word);
        match words.first() {
            _ if quote.is_some() => Err(format!("`{text}` has a quote without an end")),
            None => Err("a pattern names a program: 'cargo metaspy *'".to_owned()),
            Some(program) if program.contains('*') => {
                Err(format!("`{text}` allows every program: name one, as in 'cargo metaspy *'"))
            }
            Some(_) => Ok(Pattern { text: text.to_owned(), words }),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Compares one word with one pattern, in which `*` stands for any characters.
fn matches(pattern: &str, word: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == word };
    let Some(mut word) = word.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        let Some(at) = word.find(part) else { return false };
        word = &word[at + part.len()..];
    }
    word.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(pattern: &str, command: &str) -> bool {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        pattern.parse::<Pattern>().unwrap().allows(&words)
    }

    #[test]
    fn a_pattern_is_compared_word_by_word() {
        for command in ["cargo metaspy", "cargo metaspy test", "cargo metaspy run -- --fast"] {
            assert!(allows("cargo metaspy *", command), "{command}");
        }
        for command in
            ["cargo", "cargo build", "cargo metaspyx", "sh -c cargo metaspy", "cargo metaspy;rm"]
        {
            assert!(!allows("cargo metaspy *", command), "{command}");
        }
        assert!(allows("cargo test --test=*", "cargo test --test=ui"));
        assert!(!allows("cargo test --test=*", "cargo test --test=ui --release"));
        assert!(allows("x a*b*c", "x abbc") && !allows("x a*b*c", "x acb"));
        let spaced: Pattern = "'my app' \"a b\"".parse().unwrap();
        assert!(spaced.allows(&["my app".to_owned(), "a b".to_owned()]));
    }

    #[test]
    fn a_pattern_names_its_program() {
        for text in ["", "  ", "*", "ca* metaspy", "cargo 'metaspy"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
