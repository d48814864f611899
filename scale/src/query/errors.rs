//! [`QueryError`]: error in a query, with its place and the nearest names.

use std::fmt;

use datafusion::common::{DataFusionError, SchemaError};

use crate::functions;

/// Maximum number of names that an error lists.
const NEAREST: usize = 3;

/// Reason why a query cannot run.
#[derive(Debug)]
pub struct QueryError {
    sql: String,
    message: String,
    /// Line and column of the fault, from 1, and its length.
    place: Option<(usize, usize, usize)>,
    nearest: Vec<String>,
}

impl QueryError {
    /// Creates the error for an error of the engine.
    pub fn new(sql: &str, error: DataFusionError) -> Self {
        let span = error.diagnostic().and_then(|diagnostic| diagnostic.span);
        let root = error.find_root();
        let (message, word, nearest) = match root {
            DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
                SchemaError::FieldNotFound { field, valid_fields } => {
                    let names = valid_fields.iter().map(|column| column.name.clone()).collect();
                    let message = format!("there is no column `{}`", field.name);
                    (message, Some(field.name.clone()), nearest(&field.name, names))
                }
                other => (other.to_string(), None, Vec::new()),
            },
            DataFusionError::SQL(parser, _) => {
                let text = parser.to_string();
                let text = text.strip_prefix("sql parser error: ").unwrap_or(&text);
                (text.to_owned(), None, Vec::new())
            }
            DataFusionError::External(error) => (error.to_string(), None, Vec::new()),
            other => (other.strip_backtrace(), None, Vec::new()),
        };
        let of_span = span.map(|span| {
            let line = span.start.line as usize;
            let column = span.start.column as usize;
            let width = if span.end.line == span.start.line {
                span.end.column as usize - column
            } else {
                1
            };
            (line, column, width)
        });
        let place = of_span.or_else(|| of_text(&message)).or_else(|| of_word(sql, &word?));
        QueryError { sql: sql.to_owned(), message, place, nearest }
    }

    /// Replaces the message if a query on nothing but sealed sets calls a function on events, which
    /// needs the recording.
    pub fn of_sealed_sets(mut self) -> Self {
        if let Some(name) = functions::names()
            .find(|name| self.message.contains(&format!("Invalid function '{name}'")))
        {
            self.message = format!(
                "`{name}` needs the recording: metaspy restore SET --to DIR, and query that"
            );
        }
        self
    }

    /// Creates the error for a statement that writes.
    pub fn reads_only(sql: &str) -> Self {
        let message = "a query only reads: write SELECT".to_owned();
        QueryError { sql: sql.to_owned(), message, place: None, nearest: Vec::new() }
    }

    /// Creates the error for a query with more than `most` operators.
    pub fn too_long(most: usize) -> Self {
        let message = format!(
            "the query has more than {most} operators and keywords: write IN or VALUES, or make several queries of it"
        );
        QueryError { sql: String::new(), message, place: None, nearest: Vec::new() }
    }

    /// Creates the error for a table that is not among the tables with these names.
    pub fn no_table(sql: &str, table: &str, names: Vec<String>) -> Self {
        let message = format!("there is no table `{table}`");
        QueryError {
            sql: sql.to_owned(),
            place: of_word(sql, table),
            nearest: nearest(table, names),
            message,
        }
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        if let Some((line, column, width)) = self.place {
            if !self.message.contains("Line:") {
                write!(f, " (line {line}, column {column})")?;
            }
            if let Some(text) = self.sql.lines().nth(line - 1) {
                let shown: String =
                    text.chars().map(|letter| if letter == '\t' { ' ' } else { letter }).collect();
                write!(f, "\n  {shown}\n  {}{}", " ".repeat(column - 1), "^".repeat(width.max(1)))?;
            }
        }
        if self.nearest.is_empty() {
            write!(f, "\n`metaspy query --schema RECORDING` lists tables and columns")
        } else {
            write!(f, "\nnearest: {}", self.nearest.join(", "))
        }
    }
}

impl std::error::Error for QueryError {}

/// Returns the names nearest to a name.
fn nearest(name: &str, mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    let lower = name.to_lowercase();
    names.sort_by_key(|other| {
        let part = other.contains(&lower) || lower.contains(other.as_str());
        (!part, strsim::damerau_levenshtein(other, &lower))
    });
    names.truncate(NEAREST);
    names
}

/// Returns the place that a message of the parser names: `… at Line: 1, Column: 8`.
fn of_text(message: &str) -> Option<(usize, usize, usize)> {
    let number = |after: &str| {
        let (_, rest) = message.split_once(after)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<usize>().ok().filter(|number| *number > 0)
    };
    Some((number("Line: ")?, number("Column: ")?, 1))
}

/// Returns the first place of a word in a query.
fn of_word(sql: &str, word: &str) -> Option<(usize, usize, usize)> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    for (line, text) in sql.lines().enumerate() {
        let lower = text.to_lowercase();
        for (at, found) in lower.match_indices(&word.to_lowercase()) {
            let before = lower[..at].chars().next_back().is_some_and(is_part);
            let after = lower[at + found.len()..].chars().next().is_some_and(is_part);
            if !before && !after {
                return Some((line + 1, lower[..at].chars().count() + 1, word.chars().count()));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_by_the_parsers_text_or_by_the_word() {
        assert_eq!(of_text("Expected: ), found: EOF at Line: 2, Column: 17"), Some((2, 17, 1)));
        assert_eq!(of_text("something else"), None);
        assert_eq!(of_word("SELECT sites\nFROM sitez, site", "site"), Some((2, 13, 4)));
    }

    #[test]
    fn a_name_that_contains_the_word_is_near() {
        let names =
            || ["event", "site", "site_id", "cause_site", "took_ns"].map(str::to_owned).to_vec();
        assert_eq!(nearest("sit", names()), ["site", "site_id", "cause_site"]);
        assert_eq!(nearest("took_na", names())[0], "took_ns");
    }
}
