//! Prompt at the bottom, for a filter, a search, a mark or an export.

use std::ops::Range;

use metaspy_reader::{Filter, Store};

use super::completion::Completion;
use super::filter_edit;
use super::line::Line;
use super::view::View;
use crate::crawler::command::{Command, Step};

/// Purpose of the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To edit the filter.
    Filter,
    /// To search for a text.
    Search,
    /// To name a mark.
    Mark,
    /// To export the listed events.
    Export,
    /// To write rules for the events that stay.
    Rule,
}

/// Prompt with its text and completion.
#[derive(Clone)]
pub struct Prompt {
    /// Purpose, which decides how the text is parsed.
    pub purpose: Purpose,
    /// Text with its caret.
    pub line: Line,
    /// Reason why the text is refused.
    pub problem: Option<Problem>,
    /// Candidates for the word before the caret.
    pub completion: Completion,
    /// View before a search, to return to.
    pub origin: Option<Box<View>>,
}

/// Reason why the text is refused, and a correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Message to the user.
    pub text: String,
    /// Bytes of the wrong word.
    pub at: Range<usize>,
}

impl Prompt {
    /// Opens a prompt with a filter to edit.
    pub fn filter(store: &Store, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if !text.is_empty() {
            // The user types a further term after the space.
            text.push(' ');
        }
        let line = Line::new(text);
        let completion = Completion::read(store, &line);
        Prompt { purpose: Purpose::Filter, line, problem: None, completion, origin: None }
    }

    /// Opens a prompt for the name of a mark.
    pub fn mark(name: &str) -> Self {
        Prompt::plain(Purpose::Mark, name)
    }

    /// Opens a prompt for rules, with a first one.
    pub fn rule(rule: &str) -> Self {
        Prompt::plain(Purpose::Rule, rule)
    }

    fn plain(purpose: Purpose, text: &str) -> Self {
        Prompt {
            purpose,
            line: Line::new(text),
            problem: None,
            completion: Completion::default(),
            origin: None,
        }
    }

    /// Opens a prompt for a format and a file.
    pub fn export(text: &str) -> Self {
        let line = Line::new(text);
        let completion = Completion::formats(&line);
        Prompt { purpose: Purpose::Export, line, problem: None, completion, origin: None }
    }

    /// Opens a prompt for a search from a view.
    pub fn search(origin: &View) -> Self {
        let line = Line::default();
        let completion = Completion::default();
        Prompt {
            purpose: Purpose::Search,
            line,
            problem: None,
            completion,
            origin: Some(Box::new(origin.clone())),
        }
    }

    /// Applies a command that edits the text. Returns true if the text may have changed.
    pub fn edit(&mut self, store: &Store, command: Command) -> bool {
        let inserts = match command {
            Command::Complete | Command::Move(Step::Down) => Some(true),
            Command::Move(Step::Up) => Some(false),
            _ => None,
        };
        if let (Some(forward), Purpose::Filter | Purpose::Export) = (inserts, self.purpose) {
            let only = self.completion.candidates.len() == 1;
            if !self.completion.insert(&mut self.line, forward) {
                return false;
            }
            // The name of a term is followed by its values.
            if self.purpose == Purpose::Filter && only
                || (command == Command::Complete && self.line.before().ends_with(':'))
            {
                self.completion = Completion::read(store, &self.line);
            }
        } else if self.purpose == Purpose::Filter
            && command == Command::Type(' ')
            && self.has_space()
        {
            return true;
        } else if !self.line.apply(command) {
            return false;
        } else {
            match self.purpose {
                Purpose::Filter => self.completion = Completion::read(store, &self.line),
                Purpose::Export => self.completion = Completion::formats(&self.line),
                Purpose::Search | Purpose::Mark | Purpose::Rule => {}
            }
        }
        self.problem = None;
        true
    }

    /// Returns true if a space between terms stands before the caret.
    fn has_space(&self) -> bool {
        let before = self.line.before();
        before.ends_with(' ') && before.matches('"').count().is_multiple_of(2)
    }

    /// Parses the typed filter. If it is wrong, or names a site that the recording does not have,
    /// its first wrong word is marked.
    pub fn parse(&mut self, store: &Store) -> Option<Filter> {
        match filter_edit::checked(self.line.text(), store) {
            Ok(filter) => Some(filter),
            Err(error) => {
                let at = filter_edit::first_wrong_term(self.line.text(), |term| {
                    filter_edit::checked(term, store).is_ok()
                });
                self.problem = Some(Problem { text: error.to_string(), at });
                None
            }
        }
    }
}
