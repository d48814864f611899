//! The arguments of `metaspy diff`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use metaspy_report::diff::{By, Sort};

use crate::options::{JsonOption, TopOption};

/// `metaspy diff`.
#[derive(Debug, Args)]
pub struct Diff {
    /// The recordings before: a file, a name, several with commas between them, or a directory
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The recordings after
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// One row for each of these
    #[arg(long, value_parser = parse_diff_by(), default_value = "site")]
    pub by: By,
    /// The column whose change the rows are sorted by, the largest first: count, total, self, name,
    /// or PROFILER.COLUMN [default: self, then count]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// Sorts by the ratio in place of the difference: 1 → 2 comes before 1000 → 1100
    #[arg(long)]
    pub percent: bool,
    /// Only events that pass: 'site:taffy::**'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Ends with 1 if a row changes by more: 'count +10%', 'time +10%', 'self +5ms', 'bytes +1M',
    /// 'count -50%', 'PROFILER.COLUMN +10%'; any number of times
    #[arg(long, value_name = "CHANGE")]
    pub fail_on: Vec<String>,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

fn parse_diff_by() -> impl TypedValueParser<Value = By> {
    let values = By::ALL.map(|by| PossibleValue::new(by.name()).help(by.description()));
    PossibleValuesParser::new(values)
        .map(|name| By::from_name(&name).expect("the parser accepts only these names"))
}
