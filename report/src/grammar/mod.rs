//! The coverage of a grammar: the report of a run, as text, JSON and lcov.
//!
//! A report is serialized as it is. `docs/grammar.md` describes the JSON, and names in it do not
//! change.

pub mod baseline;
pub mod findings;
pub mod lcov;
pub mod skipped;
pub mod table;
pub mod text;
pub mod verdict;
pub mod writer;

use serde::{Deserialize, Serialize};

use baseline::Comparison;
use skipped::{Named, Skipped};

/// The version of the JSON.
pub const FORMAT: u32 = 1;

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of the JSON.
    pub format: u32,
    /// The files of the grammar.
    pub grammar: Vec<String>,
    /// The start rule.
    pub rule: String,
    /// A fingerprint of the grammar's text.
    pub digest: String,
    /// The parsed inputs.
    pub inputs: Inputs,
    /// Productions in use that matched, in percent of those in use.
    pub coverage: f64,
    /// The productions, as they stand in the grammar.
    pub productions: Vec<Production>,
    /// The alternatives of their choices.
    pub alternatives: Vec<Alternative>,
    /// The names of the accepted inputs.
    pub accepted_inputs: Vec<String>,
    /// The rejected inputs, and where each stopped.
    pub rejections: Vec<Rejection>,
    /// The changes since a baseline.
    pub comparison: Option<Comparison>,
    /// Further remarks.
    #[serde(skip)]
    pub notes: Notes,
}

/// How many inputs there were.
#[derive(Debug, Serialize)]
pub struct Inputs {
    /// The grammar takes them.
    pub accepted: u64,
    /// It does not, or the parse was stopped.
    pub rejected: u64,
    /// The parse was ended at a limit.
    pub stopped: u64,
    /// They were no text, or could not be read. They are not among the others.
    pub unreadable: u64,
    /// They were reached again, on another path.
    pub repeated: u64,
    /// Symbolic links that lead back to a directory that they stand in.
    pub loops: u64,
}

/// A rejected input.
#[derive(Debug, Serialize)]
pub struct Rejection {
    /// Its name.
    pub input: String,
    /// The line that the parser read to, from 1; `None` if the parse was stopped at a limit.
    pub line: Option<usize>,
    /// The column, in characters from 1.
    pub column: Option<usize>,
    /// The tokens that the parser expected, or the limit.
    pub expected: String,
    /// The parser's whole message, for people.
    #[serde(skip)]
    pub message: String,
}

/// How far the inputs got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing tried it.
    NeverEntered,
    /// It was tried, and failed each time.
    NeverMatched,
    /// It matched.
    Matched,
}

/// The part of a production in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It can.
    InUse,
    /// The start rule does not lead to it.
    Unused,
    /// The parser's optimiser has put its content in its place.
    OptimisedAway,
}

/// A production with the counts of its tries.
#[derive(Debug, Serialize)]
pub struct Production {
    /// Its name.
    pub name: String,
    /// The file that it stands in.
    pub file: String,
    /// The line that it begins in.
    pub line: u32,
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
    /// How often it failed.
    pub failed: u64,
    /// Bytes that it had read when it failed, if that was counted.
    pub backtracked_bytes: Option<u64>,
    /// How deep it stood at most.
    pub depth: u32,
    /// Time in it alone, if time was taken.
    pub self_ns: Option<u64>,
    /// Time in it and in its callees, if time was taken.
    pub total_ns: Option<u64>,
    /// How far the inputs got with it.
    pub state: State,
    /// Its part in a run.
    pub role: Role,
    /// In accepted inputs.
    pub accepted: Tries,
    /// In rejected inputs.
    pub rejected: Tries,
    /// The first input that it matched in.
    pub first_input: Option<String>,
    /// The shortest input that it matched in.
    pub shortest_input: Option<String>,
    /// The alternative that takes its place in a choice, if it did not match.
    pub shadowed_by: Option<Shadow>,
    /// The number of its file.
    #[serde(skip)]
    pub file_number: usize,
    /// The line that it begins in, as it stands in the grammar.
    #[serde(skip)]
    pub source_line: String,
    /// The alternative that `shadowed_by` is about.
    #[serde(skip)]
    pub shadowed: Option<usize>,
}

/// Counts of tries, and of successful ones.
#[derive(Debug, Serialize)]
pub struct Tries {
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
}

/// The alternative that takes the place of another one, which never matched.
#[derive(Clone, Debug, Serialize)]
pub struct Shadow {
    /// The alternative that matches instead, in the grammar's own language.
    pub alternative: String,
    /// How often the other would have matched where this one did.
    pub would_match: u64,
    /// How often it would have taken as much.
    pub as_far: u64,
    /// An input where it would have.
    pub input: String,
}

/// The alternative that matches instead of another one, and takes less.
#[derive(Clone, Debug, Serialize)]
pub struct Cut {
    /// The alternative that matches instead, in the grammar's own language.
    pub alternative: String,
    /// The number of rejected inputs with this case.
    pub inputs: u64,
    /// Bytes that it takes in the first of them.
    pub taken: usize,
    /// Bytes that the other one would take there.
    pub bytes: usize,
    /// The first of them.
    pub input: String,
}

/// An alternative with the counts of its tries.
#[derive(Debug, Serialize)]
pub struct Alternative {
    /// The production whose choice it belongs to.
    pub production: String,
    /// The choice, counted within the grammar.
    pub choice: usize,
    /// Its text, in the grammar's own language.
    pub text: String,
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
    /// How far the inputs got with it.
    pub state: State,
    /// The alternative that takes its place, if it did not match.
    pub shadowed_by: Option<Shadow>,
    /// The alternative that takes less than it would, where the parses of rejected inputs stopped.
    pub cut_by: Option<Cut>,
    /// The number of its production.
    #[serde(skip)]
    pub production_number: usize,
    /// The number of the production that it begins with, if it begins with one in use.
    #[serde(skip)]
    pub first: Option<usize>,
}

/// Notes beside the counts.
#[derive(Debug)]
pub struct Notes {
    /// The inputs that were left out of the corpus.
    pub skipped: Skipped,
    /// Inputs whose parse was ended at a limit, with the limit.
    pub stopped: Named,
}

impl Report {
    /// The productions that a run can reach.
    pub fn in_use(&self) -> impl Iterator<Item = &Production> {
        self.productions.iter().filter(|production| production.role == Role::InUse)
    }

    /// The alternatives of those, with their numbers.
    pub(crate) fn alternatives_in_use(&self) -> impl Iterator<Item = (usize, &Alternative)> {
        let in_use = |alternative: &Alternative| {
            self.productions[alternative.production_number].role == Role::InUse
        };
        self.alternatives.iter().enumerate().filter(move |(_, alternative)| in_use(alternative))
    }
}

/// Returns the one measure that `--fail-under` is about. Productions that no input can reach are
/// not in it.
pub fn percent_matched(productions: &[Production]) -> f64 {
    let in_use = || productions.iter().filter(|production| production.role == Role::InUse);
    let matched = in_use().filter(|production| production.state == State::Matched).count();
    match in_use().count() {
        0 => 100.0,
        all => 100.0 * matched as f64 / all as f64,
    }
}

impl State {
    /// Returns the state as a row shows it: uncovered states stand out without colour.
    pub fn word(self) -> &'static str {
        match self {
            State::NeverEntered => "NEVER ENTERED",
            State::NeverMatched => "NEVER MATCHED",
            State::Matched => "matched",
        }
    }
}
