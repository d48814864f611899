//! The arguments of `metaspy report`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use metaspy_core::Selector;
use metaspy_report::rows::{By, Sort};

use crate::options::{ContextOptions, JsonOption, TopOption};
use crate::outputs::{OutputPath, document};

/// `metaspy report`.
#[derive(Debug, Args)]
pub struct Report {
    /// Files, directories of them, or the names or the processes of live recordings, or `-` for
    /// what comes on standard input, to its end; several are read as one
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// One row for each of these; `cause`: for each site that something began with
    #[arg(long, value_parser = parse_by(), default_value = "site")]
    pub by: By,
    /// Prints the types that arrived at methods, in place of rows: of a program that ran with
    /// `cargo metaspy run --types`; --types='Shape::*' those at these methods and at the calls in
    /// them
    #[arg(long, value_name = "SELECTOR", num_args = 0..=1, require_equals = true, conflicts_with_all = ["by", "cpu", "sort", "percent", "filter", "profile", "fail_if", "expect"])]
    pub types: Option<Option<Selector>>,
    /// Sorts by processor time: the recording is one that `metaspy sample` sampled
    #[arg(long, conflicts_with = "sort")]
    pub cpu: bool,
    /// Prints the functions by processor time, in place of rows, with their lines and subjects: the
    /// recording is one that `metaspy sample` sampled
    #[arg(long, conflicts_with_all = ["by", "types", "cpu", "sort", "percent", "filter", "profile", "fail_if", "expect"])]
    pub functions: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// The column that the rows are sorted by, the largest first: count, total, self, max, failed,
    /// lost, name, or a column of a method profiler
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// Shows shares in percent in the place of counts and times; JSON has both
    #[arg(long)]
    pub percent: bool,
    /// Only events that pass: 'site:measure subject:#412 took:>1ms outcome:panicked cause:bus::*'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Only the columns of this method profiler, or of several: --profile calls
    #[arg(long, value_name = "NAME")]
    pub profile: Vec<String>,
    /// Prints the tree of calling contexts: the program ran with METASPY_PROFILE=contexts, or with
    /// `cargo metaspy … --contexts`
    #[arg(long, conflicts_with_all = ["cpu", "sort", "percent", "filter", "profile", "fail_if", "expect", "lcov", "cobertura"])]
    pub contexts: bool,
    /// Prints who allocates objects on the heap, --by site, type or package; with --contexts, the
    /// tree by bytes. The program ran with `cargo metaspy … --allocations`, or with
    /// METASPY_PROFILE=allocations and an allocator that counts
    #[arg(long, conflicts_with_all = ["cpu", "sort", "percent", "filter", "profile", "fail_if", "expect", "lcov", "cobertura"])]
    pub allocations: bool,
    /// Prints the events that are kept beyond the window, and why, in place of rows: the program
    /// ran with METASPY_KEEP; 'kept:yes' in a filter selects them and what is kept with them
    #[arg(long, conflicts_with_all = ["by", "types", "functions", "contexts", "allocations", "cpu", "sort", "percent", "profile", "fail_if", "expect", "lcov", "cobertura"])]
    pub kept: bool,
    /// What of the tree is printed
    #[command(flatten)]
    pub shown: ContextOptions,
    /// Ends with 1 if this holds, or if nothing was recorded: 'count(site:measure) > 1000',
    /// 'max(site:frame) > 16ms'; also total and self
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    /// Ends with 1 if an event passes the first filter and not the second, or if none passes the
    /// first: 'site:layout => cause:change'
    #[arg(long, value_name = "EXPECTATION", allow_hyphen_values = true)]
    pub expect: Vec<String>,
    /// --fail-if and --expect also pass if there was nothing to check
    #[arg(long)]
    pub allow_empty: bool,
    /// Writes the functions that ran as lcov's tracefile, for editors and coverage services
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub lcov: Option<OutputPath>,
    /// Writes the same as Cobertura's XML
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub cobertura: Option<OutputPath>,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

fn parse_by() -> impl TypedValueParser<Value = By> {
    let values = By::ALL.map(|by| PossibleValue::new(by.name()).help(by.description()));
    PossibleValuesParser::new(values)
        .map(|name| By::from_name(&name).expect("the parser accepts only these names"))
}
