//! The arguments of `metaspy blueprint`.

use std::iter;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use metaspy_blueprints::Kind;

use crate::hook_cost::{self, Hooks};
use crate::options::{JsonOption, TopOption, parse_percent};
use crate::outputs::{OutputPath, document};

/// `metaspy blueprint`.
#[derive(Debug, Args)]
pub struct Blueprint {
    /// The picture
    #[arg(value_parser = parse_picture())]
    pub kind: Picture,
    /// Files, or the names or the processes of live recordings; several are read as one. For an
    /// evolution each is a version, the oldest first: a recording, several as A1,A2,A3, or a
    /// directory with one for each run
    #[arg(required = true, value_name = "FILE|NAME|-")]
    pub sources: Vec<PathBuf>,
    /// What an evolution compares [default: time with at least 3 runs of each version, otherwise
    /// calls]
    #[arg(long, value_name = "NUMBER")]
    pub by: Option<ChangeOf>,
    /// An earlier recording, whose numbers a flame graph shows beside its own; several as A1,A2 are
    /// read as one
    #[arg(long, value_name = "FILE|NAME", value_delimiter = ',')]
    pub baseline: Vec<PathBuf>,
    /// What the height of a box is: time of calls, processor time of samples, or instructions of
    /// callgrind [default: calls, if there are any]
    #[arg(long, value_name = "PROFILE", value_parser = ["calls", "samples", "instructions"])]
    pub of: Option<String>,
    /// Only calls that pass: 'site:taffy::**'
    #[arg(long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// The method at the top of a behavioural blueprint or of calls, or the production, by the end
    /// of its path [default: the whole program]
    #[arg(long, value_name = "METHOD")]
    pub from: Option<String>,
    /// What boxes show: numbers of the program's own objects in `domain`, or of its methods in
    /// `structural` and `behavioural`, as width, height, grey, border, order and place
    #[arg(long, value_name = "FILE.toml", required_if_eq("kind", "domain"))]
    pub view: Option<PathBuf>,
    /// Leaves out methods with less of the time in a behavioural blueprint
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = parse_percent)]
    pub threshold: f64,
    /// The cost of hooks that is subtracted from times: `measured` while recording, in nanoseconds
    /// between the two clocks of a call and in all, as 21,58, or `kept` in the times
    /// [default: measured, if the recording has it]
    #[arg(long, value_name = "NS,NS|measured|kept", value_parser = hook_cost::parse)]
    pub hooks: Option<Hooks>,
    /// Writes a page for a browser: one file, which opens from disk
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub html: Option<OutputPath>,
    /// Writes an SVG
    #[arg(long, value_name = "FILE", value_parser = document())]
    pub svg: Option<OutputPath>,
    /// Opens the page in the browser
    #[arg(long, requires = "html")]
    pub open: bool,
    /// Rows
    #[command(flatten)]
    pub top: TopOption,
    /// JSON
    #[command(flatten)]
    pub json: JsonOption,
}

/// What an evolution compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChangeOf {
    /// Total time, beyond the noise of several runs
    Time,
    /// Calls, which are exact
    Calls,
    /// Objects that methods themselves allocate on the heap (record with the profiler
    /// `allocations`)
    Allocations,
    /// Instructions that methods themselves execute (add them with `metaspy instructions`)
    Instructions,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// A picture of boxes.
    Scene(Kind),
    /// Stacks with what each costs.
    Flame,
}

impl Picture {
    fn all() -> impl Iterator<Item = Picture> {
        iter::once(Picture::Flame).chain(Kind::ALL.map(Picture::Scene))
    }

    fn word(self) -> &'static str {
        match self {
            Picture::Scene(kind) => kind.word(),
            Picture::Flame => "flame",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Picture::Scene(kind) => kind.description(),
            Picture::Flame => {
                "stacks: calling contexts, objects on the heap, samples, callers and times, events"
            }
        }
    }
}

fn parse_picture() -> impl TypedValueParser<Value = Picture> {
    let values = Picture::all()
        .map(|picture| PossibleValue::new(picture.word()).help(picture.description()));
    let find = |word: String| Picture::all().find(|picture| picture.word() == word);
    let values: Vec<PossibleValue> = values.collect();
    PossibleValuesParser::new(values)
        .map(move |word| find(word).expect("the parser accepts only these words"))
}
