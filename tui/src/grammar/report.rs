//! What a run came to, and the JSON of it. `docs/grammar.md` describes that; what stands there stays.

use std::time::Duration;

use metaspy_instrumenters::productions::pest::{Grammar, Source};
use metaspy_instrumenters::productions::{self, Counts, Coverage, Row, Verdict};
use serde::{Deserialize, Serialize};

use super::baseline::Comparison;
use super::left_out::{LeftOut, Named};

/// The version of the JSON.
pub const FORMAT: u32 = 1;

/// What a run came to.
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
    /// What was parsed.
    pub inputs: Inputs,
    /// Productions in use that matched, in percent of those in use.
    pub coverage: f64,
    /// The productions, as they stand in the grammar.
    pub productions: Vec<Production>,
    /// The alternatives of their choices.
    pub alternatives: Vec<Alternative>,
    /// What changed since a baseline.
    pub comparison: Option<Comparison>,
    /// What to tell people beside that.
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

/// Whether a run can reach a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// It can.
    InUse,
    /// The start rule does not lead to it.
    Unused,
    /// The parser's optimiser has put what it matches in its place.
    OptimisedAway,
}

/// A production and what happened to it.
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
    /// Time in it and in what it called, if time was taken.
    pub total_ns: Option<u64>,
    /// How far the inputs got with it.
    pub state: State,
    /// Whether a run can reach it at all.
    pub role: Role,
    /// In accepted inputs.
    pub accepted: Tries,
    /// In rejected inputs.
    pub rejected: Tries,
    /// The first input that it matched in.
    pub first_input: Option<String>,
    /// The shortest input that it matched in.
    pub shortest_input: Option<String>,
    /// What takes its place in a choice, if it did not match.
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

/// How often something was tried, and with what success.
#[derive(Debug, Serialize)]
pub struct Tries {
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
}

/// What takes the place of something that never matched.
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

/// An alternative and what happened to it.
#[derive(Debug, Serialize)]
pub struct Alternative {
    /// The production whose choice it belongs to.
    pub production: String,
    /// The choice, counted within the grammar.
    pub choice: usize,
    /// What it is, in the grammar's own language.
    pub text: String,
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
    /// How far the inputs got with it.
    pub state: State,
    /// What takes its place, if it did not match.
    pub shadowed_by: Option<Shadow>,
    /// The number of its production.
    #[serde(skip)]
    pub production_number: usize,
    /// The number of the production that it begins with, if it begins with one in use.
    #[serde(skip)]
    pub first: Option<usize>,
}

/// What people are told beside the counts.
#[derive(Debug)]
pub struct Notes {
    /// What was left out of the corpus.
    pub left_out: LeftOut,
    /// Inputs whose parse was ended at a limit, with the limit.
    pub stopped: Named,
    /// The first rejected input, and why it was rejected.
    pub first_rejected: Option<(String, String)>,
}

impl Report {
    /// The report of what `coverage` has counted.
    pub fn new(
        grammar: &Grammar,
        sources: &[Source],
        rule: &str,
        coverage: &Coverage,
        left_out: LeftOut,
        timed: bool,
    ) -> Self {
        let productions: Vec<Production> =
            (0..grammar.productions().len()).map(|at| Production::new(grammar, coverage, at, timed)).collect();
        let alternatives = (0..grammar.alternatives().len()).map(|at| Alternative::new(grammar, coverage, at));
        let mut stopped = Named::default();
        let mut first_rejected = None;
        for input in &coverage.inputs {
            match &input.verdict {
                Verdict::Accepted => {}
                Verdict::Rejected(why) => {
                    first_rejected.get_or_insert_with(|| (input.name.clone(), why.clone()));
                }
                Verdict::Stopped(limit) => stopped.push(|| format!("{} ({limit})", input.name)),
            }
        }
        Report {
            format: FORMAT,
            grammar: sources.iter().map(|source| source.name.clone()).collect(),
            rule: rule.to_owned(),
            digest: digest(sources),
            inputs: Inputs {
                accepted: coverage.count_inputs(true) as u64,
                rejected: coverage.count_inputs(false) as u64,
                stopped: stopped.count,
                unreadable: left_out.unreadable.count,
                repeated: left_out.repeated,
                loops: left_out.loops.count,
            },
            coverage: percent_matched(&productions),
            alternatives: alternatives.collect(),
            productions,
            comparison: None,
            notes: Notes { left_out, stopped, first_rejected },
        }
    }

    /// The productions that a run can reach.
    pub fn in_use(&self) -> impl Iterator<Item = &Production> {
        self.productions.iter().filter(|production| production.role == Role::InUse)
    }

    /// The alternatives of those, with their numbers.
    pub fn alternatives_in_use(&self) -> impl Iterator<Item = (usize, &Alternative)> {
        let in_use = |alternative: &Alternative| self.productions[alternative.production_number].role == Role::InUse;
        self.alternatives.iter().enumerate().filter(move |(_, alternative)| in_use(alternative))
    }
}

/// The one measure that `--fail-under` is about. What no input can reach is not in it.
fn percent_matched(productions: &[Production]) -> f64 {
    let in_use = || productions.iter().filter(|production| production.role == Role::InUse);
    let matched = in_use().filter(|production| production.state == State::Matched).count();
    match in_use().count() {
        0 => 100.0,
        all => 100.0 * matched as f64 / all as f64,
    }
}

impl Production {
    fn new(grammar: &Grammar, coverage: &Coverage, at: usize, timed: bool) -> Self {
        let production = &grammar.productions()[at];
        let row = &coverage.productions[at];
        let all = row.all();
        let name_of = |input: Option<usize>| input.map(|input| coverage.inputs[input].name.clone());
        let shadowed = match row.state() {
            productions::State::Matched => None,
            _ => coverage.most_shadowed(grammar.alternatives(), at),
        };
        Production {
            name: production.name.clone(),
            file: grammar.source(production.file).to_owned(),
            line: production.lines.0,
            entered: all.entered,
            matched: all.matched,
            failed: all.failed(),
            backtracked_bytes: Some(all.backtracked),
            depth: all.depth,
            self_ns: timed.then(|| nanoseconds(all.own)),
            total_ns: timed.then(|| nanoseconds(all.total)),
            state: State::of(row),
            role: production.role.into(),
            accepted: Tries::of(&row.accepted),
            rejected: Tries::of(&row.rejected),
            first_input: name_of(row.first),
            shortest_input: name_of(row.shortest),
            shadowed_by: shadowed.and_then(|alternative| Shadow::of(grammar, coverage, alternative)),
            file_number: production.file,
            source_line: grammar.line(production.file, production.lines.0).to_owned(),
            shadowed,
        }
    }
}

impl Alternative {
    fn new(grammar: &Grammar, coverage: &Coverage, at: usize) -> Self {
        let alternative = &grammar.alternatives()[at];
        let row = &coverage.alternatives[at];
        let all = row.all();
        Alternative {
            production: grammar.productions()[alternative.production].name.clone(),
            choice: alternative.choice,
            text: alternative.text.clone(),
            entered: all.entered,
            matched: all.matched,
            state: State::of(row),
            shadowed_by: Shadow::of(grammar, coverage, at),
            production_number: alternative.production,
            // One that the optimiser put elsewhere is never entered, whatever matches in its place.
            first: alternative.first.filter(|&first| grammar.productions()[first].role == productions::Role::InUse),
        }
    }
}

impl Shadow {
    fn of(grammar: &Grammar, coverage: &Coverage, alternative: usize) -> Option<Self> {
        let shadow = coverage.shadows[alternative].as_ref()?;
        Some(Shadow {
            alternative: grammar.alternatives()[shadow.by].text.clone(),
            would_match: shadow.would_match,
            as_far: shadow.as_far,
            input: coverage.inputs[shadow.input].name.clone(),
        })
    }
}

impl From<productions::Role> for Role {
    fn from(role: productions::Role) -> Self {
        match role {
            productions::Role::InUse => Role::InUse,
            productions::Role::Unused => Role::Unused,
            productions::Role::OptimisedAway => Role::OptimisedAway,
        }
    }
}

impl Tries {
    fn of(counts: &Counts) -> Self {
        Tries { entered: counts.entered, matched: counts.matched }
    }
}

impl State {
    fn of(row: &Row) -> Self {
        match row.state() {
            productions::State::NeverEntered => State::NeverEntered,
            productions::State::NeverMatched => State::NeverMatched,
            productions::State::Matched => State::Matched,
        }
    }

    /// The state as a row shows it: what is not covered stands out without colour.
    pub fn word(self) -> &'static str {
        match self {
            State::NeverEntered => "NEVER ENTERED",
            State::NeverMatched => "NEVER MATCHED",
            State::Matched => "matched",
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// FNV-1a, 64 bits, of the text of all files one after the other: it tells whether two runs had the same grammar.
fn digest(sources: &[Source]) -> String {
    let bytes = sources.iter().flat_map(|source| source.text.bytes());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_the_published_function_of_the_text() {
        let of = |texts: &[&str]| {
            let source = |text: &&str| Source { name: "any".into(), text: (*text).to_owned() };
            digest(&texts.iter().map(source).collect::<Vec<_>>())
        };
        assert_eq!(of(&[""]), "cbf29ce484222325");
        assert_eq!(of(&["a"]), "af63dc4c8601ec8c");
        assert_eq!(of(&["foobar"]), "85944171f73967e8");
        assert_eq!(of(&["foo", "bar"]), of(&["foobar"]));
    }
}
