//! The prompt at the bottom, for a filter or for a search.

use std::ops::Range;

use metaspy_reader::{Filter, Store};

use super::completion::Completion;
use super::filter_edit;
use super::line::Line;
use super::view::View;
use crate::crawler::command::{Command, Step};

/// The purpose of the prompt.
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
}

/// The prompt.
#[derive(Clone)]
pub struct Prompt {
    /// Its purpose.
    pub purpose: Purpose,
    /// Its text.
    pub line: Line,
    /// Why the text is refused.
    pub problem: Option<Problem>,
    /// What the word before the caret may become.
    pub completion: Completion,
    /// The view before a search, to return to.
    pub origin: Option<Box<View>>,
}

/// Why the text is refused, and what to type instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The reason.
    pub text: String,
    /// The bytes of the wrong word.
    pub at: Range<usize>,
}

impl Prompt {
    /// A prompt with a filter to edit.
    pub fn filter(store: &Store, text: impl Into<String>) -> Self {
        let mut text = text.into();
        if !text.is_empty() {
            // What is typed is a further term.
            text.push(' ');
        }
        let line = Line::new(text);
        let completion = Completion::read(store, &line);
        Prompt { purpose: Purpose::Filter, line, problem: None, completion, origin: None }
    }

    /// A prompt for the name of a mark.
    pub fn mark(name: &str) -> Self {
        let completion = Completion::default();
        Prompt { purpose: Purpose::Mark, line: Line::new(name), problem: None, completion, origin: None }
    }

    /// A prompt for a format and a file.
    pub fn export(text: &str) -> Self {
        let line = Line::new(text);
        let completion = Completion::formats(&line);
        Prompt { purpose: Purpose::Export, line, problem: None, completion, origin: None }
    }

    /// A prompt for a search from a view.
    pub fn search(origin: &View) -> Self {
        let (line, completion) = (Line::default(), Completion::default());
        Prompt { purpose: Purpose::Search, line, problem: None, completion, origin: Some(Box::new(origin.clone())) }
    }

    /// Applies a command that edits the text. True if the text may have changed.
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
        } else if self.purpose == Purpose::Filter && command == Command::Type(' ') && self.has_space() {
            return true;
        } else if !self.line.apply(command) {
            return false;
        } else {
            match self.purpose {
                Purpose::Filter => self.completion = Completion::read(store, &self.line),
                Purpose::Export => self.completion = Completion::formats(&self.line),
                Purpose::Search | Purpose::Mark => {}
            }
        }
        self.problem = None;
        true
    }

    /// True if a space between terms stands before the caret.
    fn has_space(&self) -> bool {
        let before = self.line.before();
        before.ends_with(' ') && before.matches('"').count().is_multiple_of(2)
    }

    /// The filter that is typed. If it is wrong, or names a site that the recording does not have, its first wrong word
    /// is marked.
    pub fn parse(&mut self, store: &Store) -> Option<Filter> {
        match filter_edit::checked(self.line.text(), store) {
            Ok(filter) => Some(filter),
            Err(error) => {
                let at =
                    filter_edit::first_wrong_term(self.line.text(), |term| filter_edit::checked(term, store).is_ok());
                self.problem = Some(Problem { text: error.to_string(), at });
                None
            }
        }
    }
}
