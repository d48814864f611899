//! Types in one line, beside code and in narrow columns.

use super::arrived::{Arrived, MethodTypes, ValueTypes};
use crate::text::{percent, short_type};

/// Types of a value that are listed.
const TYPES: usize = 5;

impl MethodTypes {
    /// The values with several types, or with one that the declaration leaves open: `shape: &dyn
    /// Shape was Circle 66.7 %, Square 33.3 %`.
    pub fn short_lines(&self) -> Vec<String> {
        self.values.iter().filter(|value| value.is_news()).map(short_line).collect()
    }
}

fn short_line(value: &ValueTypes) -> String {
    let open = value.open.as_ref().map_or(String::new(), |open| format!(": {open}"));
    let named = |one: &Arrived| {
        (one.variant.clone().unwrap_or_else(|| short_name(&one.name).to_owned()), one.count)
    };
    format!(
        "{}{open} was {}",
        value.name,
        short_shares(value.arrived.iter().map(named), value.count())
    )
}

/// The last segment of a path. A slice and a tuple have whole names.
pub fn short_name(name: &str) -> &str {
    if name.starts_with(|first: char| first.is_alphabetic()) { short_type(name) } else { name }
}

/// Names with their shares of all, the first ones.
fn short_shares(types: impl Iterator<Item = (String, u64)>, all: u64) -> String {
    let mut types: Vec<String> =
        types.map(|(name, count)| format!("{name} {}", percent(count, all))).collect();
    if types.len() > TYPES {
        let more = types.len() - TYPES;
        types.truncate(TYPES);
        types.push(format!("{more} more"));
    }
    types.join(", ")
}
