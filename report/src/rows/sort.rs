//! The order of the rows: `--sort COLUMN`.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::str::FromStr;

use metaspy_reader::{Store, TallyRow, Value};

use super::{Report, ReportRow};

/// The column that rows are sorted by, the largest value first; names in their own order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Calls.
    #[default]
    Count,
    /// Time with everything that was called.
    Total,
    /// Time without it. Of types and packages, too.
    SelfTime,
    /// The longest call.
    Max,
    /// Calls that failed, panicked or were cancelled.
    Failed,
    /// Calls that found no room as events.
    Lost,
    /// The name.
    Name,
    /// A column of a method profiler: `column` or `profiler.column`.
    Column(String),
}

impl Sort {
    /// The words for columns that every table has.
    pub const WORDS: [&'static str; 7] =
        ["count", "total", "self", "max", "failed", "lost", "name"];
}

impl Sort {
    /// The order as a number of a row, if counts and times alone decide it.
    pub(super) fn rank(&self) -> Option<fn(&TallyRow) -> Option<u64>> {
        Some(match self {
            Sort::Count => |row| Some(row.measure.count),
            Sort::Total => |row| (row.measure.timed > 0).then_some(row.measure.total_ticks),
            Sort::Max => |row| (row.measure.timed > 0).then_some(row.measure.max_ticks),
            Sort::Failed => {
                |row| Some(row.measure.failed + row.measure.panicked + row.measure.cancelled)
            }
            Sort::Lost => |row| Some(row.measure.lost),
            Sort::SelfTime | Sort::Name | Sort::Column(_) => return None,
        })
    }
}

impl FromStr for Sort {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Sort, Infallible> {
        Ok(match word {
            "count" | "calls" | "executions" => Sort::Count,
            "total" => Sort::Total,
            "self" => Sort::SelfTime,
            "max" => Sort::Max,
            "failed" => Sort::Failed,
            "lost" => Sort::Lost,
            "name" => Sort::Name,
            column => Sort::Column(column.to_owned()),
        })
    }
}

impl Report {
    /// Sorts the rows. Rows with equal values stay in their order. Fails if no row has the column,
    /// with those that there are.
    pub fn sort(&mut self, store: &Store, by: &Sort) -> Result<(), String> {
        let by_number = |rows: &mut Vec<ReportRow>, of: &dyn Fn(&ReportRow) -> Option<u64>| {
            rows.sort_by_key(|row| Reverse(of(row)))
        };
        let rows = &mut self.rows;
        match by {
            Sort::Count => by_number(rows, &|row| Some(row.measure.count)),
            Sort::Total => by_number(rows, &|row| row.total_ns(store)),
            Sort::SelfTime => by_number(rows, &|row| row.window_self_ns(store)),
            Sort::Max => by_number(rows, &|row| row.max_ns(store)),
            Sort::Failed => {
                by_number(rows, &|row| {
                    Some(row.measure.failed + row.measure.panicked + row.measure.cancelled)
                });
            }
            Sort::Lost => by_number(rows, &|row| Some(row.measure.lost)),
            Sort::Name => rows.sort_by(|a, b| name(a).cmp(name(b))),
            Sort::Column(column) => {
                if rows.iter().all(|row| number(row, column).is_none()) && !rows.is_empty() {
                    return Err(self.no_column(column));
                }
                by_number(rows, &|row| number(row, column));
            }
        }
        Ok(())
    }

    fn no_column(&self, column: &str) -> String {
        let profiles = self.rows.iter().flat_map(|row| &row.profiles);
        let mut names: Vec<String> = profiles
            .flat_map(|(profiler, columns)| {
                columns.keys().map(move |column| format!("{profiler}.{column}"))
            })
            .collect();
        names.sort();
        names.dedup();
        let all: Vec<&str> =
            Sort::WORDS.into_iter().chain(names.iter().map(String::as_str)).collect();
        format!("no row has a column `{column}` with numbers; there are {}", all.join(", "))
    }
}

fn name(row: &ReportRow) -> &str {
    match &row.key {
        super::Key::Site(path) => path,
        _ => row.label.as_deref().unwrap_or_default(),
    }
}

/// The number in a column of a method profiler.
fn number(row: &ReportRow, wanted: &str) -> Option<u64> {
    row.profiles.iter().find_map(|(profiler, columns)| {
        let column = wanted
            .strip_prefix(profiler.as_str())
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(wanted);
        match columns.get(column)?.value {
            Value::Choice(_) | Value::Flags(_) => None,
            ref value => value.number(),
        }
    })
}
