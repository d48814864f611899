//! Coverage of a grammar: which productions and alternatives were entered or matched, on which
//! input.

use std::time::Duration;

use super::production::{Alternative, ParseObserver};

/// Counts of a production or an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of activations.
    pub entered: u64,
    /// Number of matches.
    pub matched: u64,
    /// Bytes that the failed activations had read. Alternatives have none.
    pub backtracked: u64,
    /// Greatest depth of nested activations, itself included. Alternatives have none.
    pub depth: u32,
    /// Time in which at least one activation was open, if times are measured. Alternatives have
    /// none.
    pub total: Duration,
    /// Time without the time of nested productions, if times are measured.
    pub own: Duration,
}

impl Counts {
    /// Returns the number of activations without a match.
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

/// State of a production or an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The element was never tried.
    NeverEntered,
    /// The element was tried, and always failed.
    NeverMatched,
    /// The element matched at least once.
    Matched,
}

/// Counts of a production or an alternative, with the inputs that it matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoverageRow {
    /// Counts in accepted inputs.
    pub accepted: Counts,
    /// Counts in rejected inputs.
    pub rejected: Counts,
    /// Number of the first input with a match.
    pub first: Option<usize>,
    /// Number of the shortest input with a match; the first of equally long inputs.
    pub shortest: Option<usize>,
}

impl CoverageRow {
    /// Returns the counts in all inputs.
    pub fn all(&self) -> Counts {
        let mut all = self.accepted;
        all.add(&self.rejected);
        all
    }

    /// Returns the state after all inputs.
    pub fn state(&self) -> State {
        match self.all() {
            Counts { entered: 0, .. } => State::NeverEntered,
            Counts { matched: 0, .. } => State::NeverMatched,
            _ => State::Matched,
        }
    }
}

/// Reason why an alternative never matched: an earlier alternative matches first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// Number of the earlier alternative that matched most often instead.
    pub by: usize,
    /// Number of times that this alternative would have matched at the same place, at least a part
    /// of the text.
    pub would_match: u64,
    /// Number of times that this alternative would have matched at least as much.
    pub as_far: u64,
    /// Number of the first such input.
    pub input: usize,
}

/// Input of a suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name of the input: a file, or a line of a file.
    pub name: String,
    /// Length of the input in bytes.
    pub bytes: usize,
    /// Result of the parse.
    pub verdict: Verdict,
}

/// Result of the parse of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The grammar accepts the whole input.
    Accepted,
    /// The grammar does not accept the input.
    Rejected(Rejection),
    /// The parse was stopped at the limit with this name. The input counts as rejected.
    Stopped(String),
}

/// Place where the parse of a rejected input stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Furthest byte that the parser read.
    pub at: usize,
    /// Line of that byte, from 1.
    pub line: usize,
    /// Column of that byte in characters, from 1.
    pub column: usize,
    /// Terms that the parser expected. They may belong to an earlier place, because parsers report
    /// rules, not characters.
    pub expected: String,
    /// Complete message of the parser.
    pub message: String,
}

/// Alternative that an earlier alternative cuts short.
///
/// In rejected inputs, the earlier alternative matches at the same place and takes less, and the
/// parse stops within the text that this alternative would take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of the earlier alternative.
    pub by: usize,
    /// Number of inputs with this case.
    pub inputs: u64,
    /// Bytes that the earlier alternative takes in the first such input.
    pub taken: usize,
    /// Bytes that this alternative would take there.
    pub bytes: usize,
    /// Number of the first such input.
    pub input: usize,
}

/// Productions and alternatives that a set of inputs exercises.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Row of each production, in the grammar's order.
    pub productions: Vec<CoverageRow>,
    /// Row of each alternative, in the grammar's order.
    pub alternatives: Vec<CoverageRow>,
    /// Reason why each alternative never matched, if it was found.
    pub shadows: Vec<Option<Shadow>>,
    /// Earlier alternative that cuts each alternative short in most rejected inputs, if there is
    /// any.
    pub cuts: Vec<Option<Cut>>,
    /// Inputs, in the order of their parse.
    pub inputs: Vec<Input>,
}

impl Coverage {
    /// Creates an empty coverage for these numbers of productions and alternatives.
    pub(crate) fn new(productions: usize, alternatives: usize) -> Self {
        Coverage {
            productions: vec![CoverageRow::default(); productions],
            alternatives: vec![CoverageRow::default(); alternatives],
            shadows: vec![None; alternatives],
            cuts: vec![None; alternatives],
            inputs: Vec::new(),
        }
    }

    /// Adds an input with its counts.
    pub(crate) fn add(&mut self, input: Input, tally: &Tally) {
        let at = self.inputs.len();
        let bytes = input.bytes;
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

    /// Returns the alternative that explains why a production never matched.
    ///
    /// It begins with the production, and an earlier alternative matches first most often.
    pub fn most_shadowed(&self, alternatives: &[Alternative], production: usize) -> Option<usize> {
        let begins = alternatives.iter().zip(&self.shadows).enumerate();
        let begins = begins.filter(|(_, (alternative, _))| alternative.first == Some(production));
        let shadows =
            begins.filter_map(|(at, (_, shadow))| Some((at, shadow.as_ref()?.would_match)));
        // Among equal counts, the first alternative wins.
        shadows.rev().max_by_key(|&(_, would_match)| would_match).map(|(at, _)| at)
    }

    /// Formats a sentence about the alternative that matches first.
    pub fn sentence(&self, shadow: &Shadow, alternatives: &[Alternative]) -> String {
        let by = alternatives[shadow.by].text.split_whitespace().collect::<Vec<_>>().join(" ");
        let times = if shadow.would_match == 1 {
            "once".into()
        } else {
            format!("{} times", shadow.would_match)
        };
        let whole = match shadow.as_far {
            all if all == shadow.would_match => ", taking no more".to_owned(),
            0 => String::new(),
            some => format!(", {some} of them taking no more"),
        };
        format!(
            "`{by}` matches where it would: {times}{whole}, as in {}",
            self.inputs[shadow.input].name
        )
    }

    /// Formats a sentence about an alternative that comes too late. It matches elsewhere.
    pub(crate) fn sentence_of_cut(
        &self,
        cut: &Cut,
        late: &Alternative,
        alternatives: &[Alternative],
    ) -> String {
        let [late, by] = [&late.text, &alternatives[cut.by].text]
            .map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        let bytes = |count| if count == 1 { "1 byte".to_owned() } else { format!("{count} bytes") };
        let inputs = if cut.inputs == 1 {
            "1 rejected input".into()
        } else {
            format!("{} rejected inputs", cut.inputs)
        };
        format!(
            "In {inputs}, `{by}` comes before `{late}` and takes {} where that would take {}, as in {}.",
            bytes(cut.taken),
            cut.bytes,
            self.inputs[cut.input].name
        )
    }

    /// Returns the number of inputs that the grammar accepts.
    pub fn accepted_inputs(&self) -> usize {
        self.inputs.iter().filter(|input| input.verdict == Verdict::Accepted).count()
    }

    /// Returns the number of inputs that the grammar rejects, or whose parse was stopped.
    pub fn rejected_inputs(&self) -> usize {
        self.inputs.len() - self.accepted_inputs()
    }
}

/// Counts of a single input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    productions: Vec<Counts>,
    alternatives: Vec<Counts>,
    depth: u32,
}

impl Tally {
    /// Creates empty counts for these numbers of productions and alternatives.
    pub fn new(productions: usize, alternatives: usize) -> Self {
        Tally {
            productions: vec![Counts::default(); productions],
            alternatives: vec![Counts::default(); alternatives],
            depth: 0,
        }
    }

    /// Clears the counts for the next input.
    pub fn clear(&mut self) {
        self.productions.fill(Counts::default());
        self.alternatives.fill(Counts::default());
        self.depth = 0;
    }

    /// Returns the counts of a production, to add times.
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
