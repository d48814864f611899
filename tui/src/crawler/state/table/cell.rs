//! Cell of a table: its value and its emphasis.

use std::cmp::Reverse;

use metaspy_probe::Subject;

use super::Key;

/// Cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Value to show.
    pub value: Value,
    /// Emphasis of the value.
    pub tone: Tone,
}

/// Value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Empty; a note or an alert before it may cover the cell.
    Blank,
    /// A value that is not known.
    Unknown,
    /// A number in the unit of the column, behind a sign such as `≥`.
    Amount(u64, &'static str),
    /// A text.
    Text(String),
    /// A path, which keeps its last segments if it is shortened.
    Path(String),
    /// A subject, which keeps its key or its first word if it is shortened.
    Subject(Subject),
    /// A remark that covers this cell and the blank cells after it.
    Note(String),
}

/// Emphasis of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Normal text.
    Plain,
    /// Less emphasis than normal.
    Faint,
    /// More emphasis than normal.
    Strong,
    /// Alert about an element that did not run.
    Alert,
}

impl Cell {
    /// Creates a cell with this value.
    pub fn new(value: Value) -> Self {
        let tone = if matches!(value, Value::Unknown | Value::Note(_)) {
            Tone::Faint
        } else {
            Tone::Plain
        };
        Cell { value, tone }
    }

    /// Creates an empty cell.
    pub fn blank() -> Self {
        Cell::new(Value::Blank)
    }

    /// Creates a cell with a number in the unit of the column.
    pub fn amount(amount: u64) -> Self {
        Cell::new(Value::Amount(amount, ""))
    }

    /// Creates a cell with a number, if it is known, after a sign that gives its accuracy.
    pub fn optional(amount: Option<u64>, sign: &'static str) -> Self {
        Cell::new(amount.map_or(Value::Unknown, |amount| Value::Amount(amount, sign)))
    }

    /// Creates a cell with a text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::new(Value::Text(text.into()))
    }

    /// Creates a remark that covers this cell and the blank cells after it.
    pub fn note(text: impl Into<String>) -> Self {
        Cell::new(Value::Note(text.into()))
    }

    /// Creates a remark about an element that did not run.
    pub fn alert(text: impl Into<String>) -> Self {
        Cell::note(text).toned(Tone::Alert)
    }

    /// Sets the emphasis.
    pub(crate) fn toned(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }

    /// Returns the number in the cell.
    pub fn number(&self) -> Option<u64> {
        match self.value {
            Value::Amount(amount, _) => Some(amount),
            _ => None,
        }
    }

    /// Converts the cell to its sort key: numbers in descending order, texts from A.
    pub(super) fn into_key(self) -> Key {
        match self.value {
            Value::Text(text) | Value::Path(text) => Key::Text(text),
            value => Key::Amount(Reverse(Cell::new(value).number())),
        }
    }
}
