//! What a table shows in one row of one column.

use std::cmp::Reverse;

use metaspy_probe::Subject;

use super::Key;

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// What it holds.
    pub value: Value,
    /// How it stands out.
    pub tone: Tone,
}

/// What a cell holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: a note or an alert before it may cover the cell.
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
    /// A remark in place of this cell and the blank ones after it.
    Note(String),
}

/// How a cell stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As most cells.
    Plain,
    /// Less than others.
    Faint,
    /// More than others.
    Strong,
    /// Something that did not run.
    Alert,
}

impl Cell {
    /// A cell with this value.
    pub fn new(value: Value) -> Self {
        let tone = if matches!(value, Value::Unknown | Value::Note(_)) { Tone::Faint } else { Tone::Plain };
        Cell { value, tone }
    }

    /// An empty cell.
    pub fn blank() -> Self {
        Cell::new(Value::Blank)
    }

    /// A number.
    pub fn amount(amount: u64) -> Self {
        Cell::new(Value::Amount(amount, ""))
    }

    /// A number, if it is known, behind a sign that gives its accuracy.
    pub fn optional(amount: Option<u64>, sign: &'static str) -> Self {
        Cell::new(amount.map_or(Value::Unknown, |amount| Value::Amount(amount, sign)))
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::new(Value::Text(text.into()))
    }

    /// A remark in place of this cell and the blank ones after it.
    pub fn note(text: impl Into<String>) -> Self {
        Cell::new(Value::Note(text.into()))
    }

    /// A remark about something that did not run.
    pub fn alert(text: impl Into<String>) -> Self {
        Cell::note(text).toned(Tone::Alert)
    }

    /// With another tone.
    pub fn toned(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }

    /// The number that it holds.
    pub fn number(&self) -> Option<u64> {
        match self.value {
            Value::Amount(amount, _) => Some(amount),
            _ => None,
        }
    }

    /// The key to sort it by: the largest number first, texts from A.
    pub(super) fn into_key(self) -> Key {
        match self.value {
            Value::Text(text) | Value::Path(text) => Key::Text(text),
            value => Key::Amount(Reverse(Cell::new(value).number())),
        }
    }
}
