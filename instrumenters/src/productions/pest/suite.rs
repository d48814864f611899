//! Test suite: inputs that a grammar parses one after another.

use std::time::{Duration, Instant};

use pest::Position;
use pest::error::{ErrorVariant, InputLocation, LineColLocation};
use pest::iterators::Pairs;

use super::grammar::Grammar;
use super::machine::{EOI, Id, Machine};
use super::shadows::{ShadowReasons, ShadowSearch, Trials, most, trials};
use crate::productions::coverage::{Coverage, Input, Rejection, State, Tally, Verdict};
use crate::productions::production::ParseObserver;
use crate::productions::suite_events::{Inputs, record_cuts, record_shadow};

/// Limits for the parse of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum steps of the parser. A longer parse is stopped.
    pub steps: u64,
    /// Bytes of the thread's stack, for messages only. Pest itself stops when the stack runs out.
    pub stack: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 100_000_000, stack: 64 << 20 }
    }
}

/// Suite of inputs, with its coverage.
pub struct Suite<'g> {
    grammar: &'g Grammar,
    properties: Vec<Box<dyn Fn(char) -> bool>>,
    limits: Limits,
    timed: bool,
    tally: Tally,
    coverage: Coverage,
    subjects: Inputs,
}

/// Result of a run.
pub(super) struct Ran<'i> {
    pub outcome: Result<Pairs<'i, Id>, Box<pest::error::Error<Id>>>,
    /// Set if the steps ran out.
    stopped: bool,
    /// Furthest byte that was read.
    furthest: usize,
}

impl<'g> Suite<'g> {
    /// Creates a suite without inputs, with the default limits.
    pub fn new(grammar: &'g Grammar) -> Self {
        let by_name =
            |name: &String| pest::unicode::by_name(name).unwrap_or_else(|| Box::new(|_| false));
        let (productions, alternatives) =
            (grammar.productions().len(), grammar.alternatives().len());
        Suite {
            grammar,
            properties: grammar.properties.iter().map(by_name).collect(),
            limits: Limits::default(),
            timed: false,
            tally: Tally::new(productions, alternatives),
            coverage: Coverage::new(productions, alternatives),
            subjects: Inputs::new(),
        }
    }

    /// Sets the limits.
    #[must_use = "the limits belong to the suite that is returned"]
    pub fn with_limits(self, limits: Limits) -> Self {
        Suite { limits, ..self }
    }

    /// Measures the time of each activation, too, which costs two readings of a clock.
    #[must_use = "the times belong to the suite that is returned"]
    pub fn with_times(self) -> Self {
        Suite { timed: true, ..self }
    }

    /// Parses an input, and adds it to the coverage.
    pub fn parse(&mut self, name: String, text: &str) {
        self.tally.clear();
        let mut tally = std::mem::take(&mut self.tally);
        let ran = if self.timed {
            self.observed(
                &name,
                text,
                &mut Timed { tally: &mut tally, open: Vec::new(), depths: Vec::new() },
            )
        } else {
            self.observed(&name, text, &mut tally)
        };
        let verdict = self.verdict(ran, text);
        self.coverage.add(Input { name, bytes: text.len(), verdict }, &tally);
        self.tally = tally;
    }

    /// Returns the coverage so far.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Returns true if [`explain`](Self::explain) could find a reason.
    pub fn needs_explaining(&self) -> bool {
        trials(self.grammar, &self.coverage).iter().any(|&trials| trials != Trials::default())
    }

    /// Parses inputs again, to explain why alternatives never matched, or matched too little.
    ///
    /// Such alternatives are tried where an earlier alternative matched. If the grammar is
    /// observed, the reasons are recorded. `read` returns the text of an input by its number, or
    /// `None` to leave it out.
    pub fn explain(&mut self, mut read: impl FnMut(usize) -> Option<String>) {
        let trials = trials(self.grammar, &self.coverage);
        let has_dead = trials.iter().any(|trials| trials.everywhere);
        let mut found = ShadowReasons::default();
        let mut unheard =
            Tally::new(self.coverage.productions.len(), self.coverage.alternatives.len());
        for input in 0..self.coverage.inputs.len() {
            let stopped_at = match &self.coverage.inputs[input].verdict {
                Verdict::Rejected(rejection) => Some(rejection.at),
                Verdict::Accepted | Verdict::Stopped(_) => None,
            };
            if let (true, Some(text)) = (has_dead || stopped_at.is_some(), read(input)) {
                let grammar = self.grammar;
                let properties = &*self.properties;
                let trials = &*trials;
                let steps = self.limits.steps;
                let found = &mut found;
                let text = &*text;
                let mut search = ShadowSearch {
                    grammar,
                    properties,
                    trials,
                    found,
                    text,
                    input,
                    stopped_at,
                    steps,
                };
                let _ = self.run(text, &mut unheard, Some(&mut search));
            }
        }
        let alternatives = self.coverage.alternatives.len();
        self.coverage.shadows = most(found.shadows, alternatives, |shadow| shadow.would_match);
        self.coverage.cuts = most(found.cuts, alternatives, |cut| cut.inputs);
        self.record_reasons();
    }

    /// Records why productions never matched, or matched too little, if they are observed.
    fn record_reasons(&self) {
        let alternatives = self.grammar.alternatives();
        for (production, site) in self.grammar.known_sites().unwrap_or_default().iter().enumerate()
        {
            let is_dead = self.coverage.productions[production].state() != State::Matched;
            let shadow = self.coverage.most_shadowed(alternatives, production).filter(|_| is_dead);
            if let Some(shadow) = shadow.and_then(|at| self.coverage.shadows[at].as_ref()) {
                record_shadow(site, self.coverage.sentence(shadow, alternatives));
            }
            let late = alternatives
                .iter()
                .enumerate()
                .filter(|(_, alternative)| alternative.production == production);
            let cuts = late.filter_map(|(at, alternative)| {
                let is_alive = self.coverage.alternatives[at].state() == State::Matched;
                let cut = self.coverage.cuts[at].as_ref().filter(|_| is_alive)?;
                Some(self.coverage.sentence_of_cut(cut, alternative, alternatives))
            });
            let cuts: Vec<String> = cuts.collect();
            if !cuts.is_empty() {
                record_cuts(site, cuts.join(" "));
            }
        }
    }

    /// Runs an input, with an event for each activation of an armed production.
    fn observed<'i, W: ParseObserver>(
        &'i self,
        name: &str,
        text: &'i str,
        watch: &mut W,
    ) -> Ran<'i> {
        let sites = self.grammar.sites();
        if sites.iter().any(|site| site.is_armed()) {
            self.run(
                text,
                &mut self.subjects.events(self.coverage.inputs.len(), name, sites, watch),
                None,
            )
        } else {
            self.run(text, watch, None)
        }
    }

    pub(super) fn run<'i, W: ParseObserver>(
        &'i self,
        text: &'i str,
        watch: &mut W,
        search: Option<&mut ShadowSearch<'i>>,
    ) -> Ran<'i> {
        let mut machine = Machine {
            grammar: self.grammar,
            properties: &self.properties,
            watch,
            steps: self.limits.steps,
            stopped: false,
            furthest: 0,
            search,
        };
        let outcome = pest::state(text, |state| machine.rule(self.grammar.start, state));
        Ran {
            outcome: outcome.map_err(Box::new),
            stopped: machine.stopped,
            furthest: machine.furthest,
        }
    }

    fn verdict(&self, ran: Ran<'_>, text: &str) -> Verdict {
        if ran.stopped {
            return Verdict::Stopped(format!("after {} steps of the parser", self.limits.steps));
        }
        match ran.outcome {
            Ok(_) => Verdict::Accepted,
            Err(error) => match &error.variant {
                // Pest stops a parse if there is too little stack.
                ErrorVariant::CustomError { message } if message.contains("stack limit") => {
                    Verdict::Stopped(format!(
                        "its nesting needs more than {} bytes of stack",
                        self.limits.stack
                    ))
                }
                _ => Verdict::Rejected(self.rejection(*error, text, ran.furthest)),
            },
        }
    }

    fn rejection(&self, error: pest::error::Error<Id>, text: &str, furthest: usize) -> Rejection {
        let error = error.renamed_rules(|id| self.name(*id));
        let reported = match error.location {
            InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
        };
        let at = furthest.max(reported);
        let (line, column) = Position::new(text, at).map_or((1, 1), |position| position.line_col());
        let (reported_line, reported_column) = match error.line_col {
            LineColLocation::Pos(place) | LineColLocation::Span(place, _) => place,
        };
        let mut expected = error.variant.message().into_owned();
        if at != reported {
            expected = format!("{expected} at {reported_line}:{reported_column}");
        }
        Rejection { at, line, column, expected, message: error.to_string() }
    }

    pub(super) fn name(&self, id: Id) -> String {
        match id {
            EOI => "EOI".to_owned(),
            Id(number) => self.grammar.productions()[number as usize - 1].name.clone(),
        }
    }
}

/// Observer that also measures the time of each activation.
struct Timed<'t> {
    tally: &'t mut Tally,
    open: Vec<OpenActivation>,
    /// Number of open activations of each production.
    depths: Vec<u32>,
}

/// Activation that has not ended.
struct OpenActivation {
    began: Instant,
    /// Time of the nested activations.
    within: Duration,
}

impl Timed<'_> {
    /// Returns the number of open activations of a production.
    fn depth(&mut self, production: usize) -> &mut u32 {
        if self.depths.len() <= production {
            self.depths.resize(production + 1, 0);
        }
        &mut self.depths[production]
    }
}

impl ParseObserver for Timed<'_> {
    fn enter(&mut self, production: usize, at: usize) {
        self.tally.enter(production, at);
        *self.depth(production) += 1;
        self.open.push(OpenActivation { began: Instant::now(), within: Duration::ZERO });
    }

    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool) {
        if let Some(OpenActivation { began, within }) = self.open.pop() {
            let took = began.elapsed();
            let depth = self.depth(production);
            *depth = depth.saturating_sub(1);
            let is_outermost = *depth == 0;
            let counts = self.tally.production(production);
            // The time of a nested activation of the same production is already part of the outer
            // activation's time.
            if is_outermost {
                counts.total += took;
            }
            counts.own += took.saturating_sub(within);
            if let Some(around) = self.open.last_mut() {
                around.within += took;
            }
        }
        self.tally.exit(production, at, end, matched);
    }

    fn alternative(&mut self, alternative: usize, matched: bool) {
        self.tally.alternative(alternative, matched);
    }
}
