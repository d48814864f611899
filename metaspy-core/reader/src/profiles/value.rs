//! Values of a table.

use std::fmt;

use super::{Column, ColumnKind, Merge};

/// Value of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing was written.
    Empty,
    /// A number, in the unit of its column.
    Number(u64),
    /// A number that is a lower bound: the profiler stopped counting there, or a value found no
    /// room.
    AtLeast(u64),
    /// A length of time in ns.
    Ns(u64),
    /// A length of time in ns that is a lower bound: a value found no room.
    AtLeastNs(u64),
    /// A name from the column's list.
    Choice(String),
    /// Any number of the column's names.
    Flags(Vec<String>),
}

impl Value {
    /// Returns the value as a number: a time in ns, and 1 for a value that has names.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Empty => None,
            Value::Number(number)
            | Value::AtLeast(number)
            | Value::Ns(number)
            | Value::AtLeastNs(number) => Some(*number),
            Value::Choice(_) => Some(1),
            Value::Flags(names) => Some(u64::from(!names.is_empty())),
        }
    }

    /// Returns true if the value is a lower bound.
    pub fn is_at_least(&self) -> bool {
        matches!(self, Value::AtLeast(_) | Value::AtLeastNs(_))
    }

    /// Merges two values of a column by its rule.
    #[must_use]
    pub fn merged(self, other: Value, column: &Column) -> Value {
        let place = |name: &String| match &column.kind {
            ColumnKind::Choice(names) | ColumnKind::Flags(names) => {
                names.iter().position(|other| other == name)
            }
            _ => None,
        };
        match (self, other) {
            (Value::Empty, value) | (value, Value::Empty) => value,
            (Value::Choice(one), Value::Choice(other)) => {
                Value::Choice(if place(&other) > place(&one) { other } else { one })
            }
            (Value::Flags(mut names), Value::Flags(more)) => {
                names.extend(more);
                names.sort_by_key(place);
                names.dedup();
                Value::Flags(names)
            }
            (one, other) => {
                let a = one.number().unwrap_or(0);
                let b = other.number().unwrap_or(0);
                let number = match column.merge {
                    Merge::Sum => a.saturating_add(b),
                    Merge::Max => a.max(b),
                    Merge::Min => a.min(b),
                    Merge::Union => a | b,
                };
                let is_at_least = one.is_at_least() || other.is_at_least();
                match (one, is_at_least) {
                    (Value::Ns(_) | Value::AtLeastNs(_), true) => Value::AtLeastNs(number),
                    (Value::Ns(_), false) => Value::Ns(number),
                    (_, true) => Value::AtLeast(number),
                    (_, false) => Value::Number(number),
                }
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Empty => f.write_str("–"),
            Value::Number(number) => write!(f, "{number}"),
            Value::AtLeast(number) => write!(f, "≥{number}"),
            Value::Ns(ns) => write!(f, "{ns} ns"),
            Value::AtLeastNs(ns) => write!(f, "≥{ns} ns"),
            Value::Choice(name) => f.write_str(name),
            Value::Flags(names) => f.write_str(&names.join(" ")),
        }
    }
}
