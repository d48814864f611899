//! The order of the rows of a diff: `--sort COLUMN`.

use std::cmp::Reverse;
use std::convert::Infallible;
use std::str::FromStr;

use super::{Change, Diff, DiffRow};

/// The column that rows are sorted by: the largest change of its number first, up or down; names in
/// their own order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    /// Calls.
    Count,
    /// Time with everything that was called.
    Total,
    /// Time without it.
    SelfTime,
    /// The name.
    Name,
    /// A column of a method profiler, as `profiler.column`.
    Column(String),
}

impl FromStr for Sort {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Sort, Infallible> {
        Ok(match word {
            "count" => Sort::Count,
            "total" | "time" => Sort::Total,
            "self" => Sort::SelfTime,
            "name" => Sort::Name,
            column => Sort::Column(column.to_owned()),
        })
    }
}

/// The size of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The difference, in calls or ns.
    #[default]
    Difference,
    /// The ratio: twice as much and half as much are equally large.
    Percent,
}

impl Diff {
    /// Sorts the rows. Rows with equal changes stay in their order, and rows without the number
    /// come last. Fails if no row has the column, with those that there are.
    pub fn sort(&mut self, by: &Sort, size: Size) -> Result<(), String> {
        if *by == Sort::Name {
            self.rows.sort_by(|a, b| a.label.cmp(&b.label));
            return Ok(());
        }
        if self.rows.iter().all(|row| by.of(row).is_none()) && !self.rows.is_empty() {
            return Err(self.no_column(by));
        }
        match size {
            Size::Difference => self.rows.sort_by_key(|row| {
                Reverse(by.of(row).map(|change| change.difference().unsigned_abs()))
            }),
            Size::Percent => {
                self.rows.sort_by(|a, b| percent(by.of(b)).total_cmp(&percent(by.of(a))))
            }
        }
        Ok(())
    }

    fn no_column(&self, by: &Sort) -> String {
        let mut names: Vec<&str> =
            self.rows.iter().flat_map(|row| row.columns.keys()).map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let times = if self.is_timed { ["total", "self"].as_slice() } else { &[] };
        let all: Vec<&str> =
            ["count"].iter().chain(times).chain(&["name"]).copied().chain(names).collect();
        let wanted = match by {
            Sort::Total => "total",
            Sort::SelfTime => "self",
            Sort::Column(name) => name,
            Sort::Count | Sort::Name => "count",
        };
        format!("both versions have no `{wanted}`; sort by {}", all.join(", "))
    }
}

impl Sort {
    fn of<'r>(&self, row: &'r DiffRow) -> Option<&'r Change> {
        match self {
            Sort::Count | Sort::Name => Some(&row.count),
            Sort::Total => row.total_ns.as_ref(),
            Sort::SelfTime => row.self_ns.as_ref(),
            Sort::Column(name) => row.columns.get(name),
        }
    }
}

/// The size of a change as a ratio: 0 is none, and anything from 0 is the largest.
fn percent(change: Option<&Change>) -> f64 {
    let Some(change) = change else { return -1.0 };
    match change.ratio() {
        Some(ratio) => ratio.estimate.ln().abs(),
        None if change.difference() == 0 => 0.0,
        None => f64::INFINITY,
    }
}
