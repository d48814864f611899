//! Coverage of a grammar: what was entered and what matched, on which input.

use std::time::Duration;

use super::production::{Alternative, ParseObserver};

/// The counts of a production or an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of activations.
    pub entered: u64,
    /// Number of matches.
    pub matched: u64,
    /// Bytes that its failed activations had read. Productions only.
    pub backtracked: u64,
    /// The greatest depth of nested activations, its own included. Productions only.
    pub depth: u32,
    /// Time in which at least one activation was open. Productions only, if times are measured.
    pub total: Duration,
    /// Self time.
    pub own: Duration,
}

impl Counts {
    /// Number of activations without a match.
    pub fn failed(&self) -> u64 {
        self.entered - self.matched
    }

    fn add(&mut self, other: &Counts) {
        self.entered += other.entered;
        self.matched += other.matched;
        self.backtracked += other.backtracked;
        self.depth = self.depth.max(other.depth);
        self.total += other.total;
        self.own += other.own;
    }
}

/// The state of a production or an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It was never tried.
    NeverEntered,
    /// It was tried, and always failed.
    NeverMatched,
    /// It matched.
    Matched,
}

/// A production or an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Counts in accepted inputs.
    pub accepted: Counts,
    /// Counts in rejected inputs.
    pub rejected: Counts,
    /// The number of the first input with a match.
    pub first: Option<usize>,
    /// The number of the shortest input with a match; the first of equally long ones.
    pub shortest: Option<usize>,
}

impl Row {
    /// Counts in all inputs.
    pub fn all(&self) -> Counts {
        let mut all = self.accepted;
        all.add(&self.rejected);
        all
    }

    /// The state after all inputs.
    pub fn state(&self) -> State {
        match self.all() {
            Counts { entered: 0, .. } => State::NeverEntered,
            Counts { matched: 0, .. } => State::NeverMatched,
            _ => State::Matched,
        }
    }
}

/// The reason why an alternative never matched: an earlier one matches first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The earlier alternative that matched most often instead.
    pub by: usize,
    /// How often this alternative would have matched at the same place, at least a part of the text.
    pub would_match: u64,
    /// How often it would have matched at least as much.
    pub as_far: u64,
    /// The number of the first such input.
    pub input: usize,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name: a file, or a line of a file.
    pub name: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// The result of its parse.
    pub verdict: Verdict,
}

/// The result of the parse of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The grammar accepts the whole input.
    Accepted,
    /// The grammar does not accept it.
    Rejected(Rejection),
    /// The parse was stopped at a limit; with its name. The input counts as rejected.
    Stopped(String),
}

/// The place where the parse of a rejected input stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The furthest byte that the parser read to.
    pub at: usize,
    /// Its line, from 1.
    pub line: usize,
    /// Its column in characters, from 1.
    pub column: usize,
    /// What the parser expected. It may name an earlier place: parsers report rules, not letters.
    pub expected: String,
    /// The parser's whole message.
    pub message: String,
}

/// An alternative that an earlier one cuts short: in rejected inputs, the earlier one matches at the same place and takes
/// less, and the parse stops within the text that this alternative would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The earlier alternative.
    pub by: usize,
    /// The number of inputs with this case.
    pub inputs: u64,
    /// Bytes that the earlier one takes in the first such input.
    pub taken: usize,
    /// Bytes that this alternative would take there.
    pub bytes: usize,
    /// The number of the first such input.
    pub input: usize,
}

/// The productions and alternatives that a set of inputs exercises.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By production.
    pub productions: Vec<Row>,
    /// By alternative.
    pub alternatives: Vec<Row>,
    /// By alternative: the reason why it never matched, if it was found.
    pub shadows: Vec<Option<Shadow>>,
    /// By alternative: the earlier one that cuts it short in most rejected inputs, if there is one.
    pub cuts: Vec<Option<Cut>>,
    /// The inputs, in the order of their parse.
    pub inputs: Vec<Input>,
}

impl Coverage {
    /// Empty, for these numbers of productions and alternatives.
    pub(crate) fn new(productions: usize, alternatives: usize) -> Self {
        Coverage {
            productions: vec![Row::default(); productions],
            alternatives: vec![Row::default(); alternatives],
            shadows: vec![None; alternatives],
            cuts: vec![None; alternatives],
            inputs: Vec::new(),
        }
    }

    /// Adds an input.
    pub(crate) fn add(&mut self, input: Input, tally: &Tally) {
        let (at, bytes) = (self.inputs.len(), input.bytes);
        let accepted = input.verdict == Verdict::Accepted;
        self.inputs.push(input);
        let rows = (self.productions.iter_mut().zip(&tally.productions))
            .chain(self.alternatives.iter_mut().zip(&tally.alternatives));
        for (row, counts) in rows.filter(|(_, counts)| counts.entered != 0) {
            let sum = if accepted { &mut row.accepted } else { &mut row.rejected };
            sum.add(counts);
            if counts.matched != 0 {
                row.first.get_or_insert(at);
                if row.shortest.is_none_or(|shortest| bytes < self.inputs[shortest].bytes) {
                    row.shortest = Some(at);
                }
            }
        }
    }

    /// The alternative that explains why a production never matched: it begins with the production, and an earlier one
    /// matches first most often.
    pub fn most_shadowed(&self, alternatives: &[Alternative], production: usize) -> Option<usize> {
        let begins = alternatives.iter().zip(&self.shadows).enumerate();
        let begins = begins.filter(|(_, (alternative, _))| alternative.first == Some(production));
        let shadows = begins.filter_map(|(at, (_, shadow))| Some((at, shadow.as_ref()?.would_match)));
        // The first of several with the same count.
        shadows.rev().max_by_key(|&(_, would_match)| would_match).map(|(at, _)| at)
    }

    /// A sentence about the alternative that matches first.
    pub fn sentence(&self, shadow: &Shadow, alternatives: &[Alternative]) -> String {
        let by = alternatives[shadow.by].text.split_whitespace().collect::<Vec<_>>().join(" ");
        let times = if shadow.would_match == 1 { "once".into() } else { format!("{} times", shadow.would_match) };
        let whole = match shadow.as_far {
            all if all == shadow.would_match => ", taking no more".to_owned(),
            0 => String::new(),
            some => format!(", {some} of them taking no more"),
        };
        format!("`{by}` matches where it would: {times}{whole}, as in {}", self.inputs[shadow.input].name)
    }

    /// The number of inputs that the grammar accepts.
    pub fn accepted_inputs(&self) -> usize {
        self.inputs.iter().filter(|input| input.verdict == Verdict::Accepted).count()
    }

    /// The number of inputs that the grammar rejects, or whose parse was stopped.
    pub fn rejected_inputs(&self) -> usize {
        self.inputs.len() - self.accepted_inputs()
    }
}

/// The counts of one input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    productions: Vec<Counts>,
    alternatives: Vec<Counts>,
    depth: u32,
}

impl Tally {
    /// Empty, for these numbers of productions and alternatives.
    pub fn new(productions: usize, alternatives: usize) -> Self {
        Tally {
            productions: vec![Counts::default(); productions],
            alternatives: vec![Counts::default(); alternatives],
            depth: 0,
        }
    }

    /// Clears it for the next input.
    pub fn clear(&mut self) {
        self.productions.fill(Counts::default());
        self.alternatives.fill(Counts::default());
        self.depth = 0;
    }

    /// The counts of a production, to add times.
    pub fn production(&mut self, production: usize) -> &mut Counts {
        &mut self.productions[production]
    }
}

impl ParseObserver for Tally {
    #[inline]
    fn enter(&mut self, production: usize, _at: usize) {
        self.depth += 1;
        let counts = &mut self.productions[production];
        counts.entered += 1;
        counts.depth = counts.depth.max(self.depth);
    }

    #[inline]
    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool) {
        self.depth -= 1;
        let counts = &mut self.productions[production];
        counts.matched += u64::from(matched);
        counts.backtracked += if matched { 0 } else { (end - at) as u64 };
    }

    #[inline]
    fn alternative(&mut self, alternative: usize, matched: bool) {
        let counts = &mut self.alternatives[alternative];
        counts.entered += 1;
        counts.matched += u64::from(matched);
    }
}
