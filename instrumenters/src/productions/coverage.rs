//! What was entered, what matched, and on which input.

use std::time::Duration;

use super::production::{Alternative, ParseObserver};

/// What happened to a production or to an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How often it was tried.
    pub entered: u64,
    /// How often it matched.
    pub matched: u64,
    /// Bytes that it had read, in all, when it failed. Of productions only.
    pub backtracked: u64,
    /// How many activations of productions stood around it at most, its own included. Of productions only.
    pub depth: u32,
    /// Time in it, what it called included; in recursion each depth counts. Of productions, if time is taken.
    pub total: Duration,
    /// Time in it alone.
    pub own: Duration,
}

impl Counts {
    /// How often it was tried and did not match.
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

/// How far the inputs got with a production or an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing tried it.
    NeverEntered,
    /// It was tried, and failed each time.
    NeverMatched,
    /// It matched.
    Matched,
}

/// A production or an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// In inputs that were accepted.
    pub accepted: Counts,
    /// In inputs that were rejected.
    pub rejected: Counts,
    /// The first input that it matched in, by number.
    pub first: Option<usize>,
    /// The shortest such input, by number; the first of equally long ones.
    pub shortest: Option<usize>,
}

impl Row {
    /// In all inputs.
    pub fn all(&self) -> Counts {
        let mut all = self.accepted;
        all.add(&self.rejected);
        all
    }

    /// How far the inputs got with it.
    pub fn state(&self) -> State {
        match self.all() {
            Counts { entered: 0, .. } => State::NeverEntered,
            Counts { matched: 0, .. } => State::NeverMatched,
            _ => State::Matched,
        }
    }
}

/// Why an alternative never matched: one before it takes what it would.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The alternative that matched instead, most often.
    pub by: usize,
    /// How often this one would have matched where that one did, if only a part of what that one took.
    pub would_match: u64,
    /// How often it would have taken as much.
    pub as_far: u64,
    /// The first input where it would have.
    pub input: usize,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its name: a file, or a line of one.
    pub name: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// What became of it.
    pub verdict: Verdict,
}

/// What became of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The grammar takes it, whole.
    Accepted,
    /// It does not, and the parser says why.
    Rejected(String),
    /// The parse was ended at a limit, which is named. It counts as rejected.
    Stopped(String),
}

/// Which productions and alternatives a set of inputs exercises.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By production.
    pub productions: Vec<Row>,
    /// By alternative.
    pub alternatives: Vec<Row>,
    /// By alternative: what takes its place, where that was looked for and found.
    pub shadows: Vec<Option<Shadow>>,
    /// The inputs, in the order that they were read.
    pub inputs: Vec<Input>,
}

impl Coverage {
    /// Nothing yet, of so many productions and alternatives.
    pub(crate) fn new(productions: usize, alternatives: usize) -> Self {
        Coverage {
            productions: vec![Row::default(); productions],
            alternatives: vec![Row::default(); alternatives],
            shadows: vec![None; alternatives],
            inputs: Vec::new(),
        }
    }

    /// Adds what happened in an input.
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

    /// Why a production never matched: the alternative that begins with it and loses most often to one before it.
    pub fn most_shadowed(&self, alternatives: &[Alternative], production: usize) -> Option<usize> {
        let begins = alternatives.iter().zip(&self.shadows).enumerate();
        let begins = begins.filter(|(_, (alternative, _))| alternative.first == Some(production));
        let shadows = begins.filter_map(|(at, (_, shadow))| Some((at, shadow.as_ref()?.would_match)));
        // The first of those that lose equally often.
        shadows.rev().max_by_key(|&(_, would_match)| would_match).map(|(at, _)| at)
    }

    /// What takes the place of an alternative, in a sentence.
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

/// What happened in one input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    productions: Vec<Counts>,
    alternatives: Vec<Counts>,
    depth: u32,
}

impl Tally {
    /// Nothing yet, of so many productions and alternatives.
    pub fn new(productions: usize, alternatives: usize) -> Self {
        Tally {
            productions: vec![Counts::default(); productions],
            alternatives: vec![Counts::default(); alternatives],
            depth: 0,
        }
    }

    /// Makes it empty, for the next input.
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
