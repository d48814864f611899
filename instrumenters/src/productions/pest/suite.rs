//! A test suite: inputs that are parsed one after another by one grammar.

use std::time::{Duration, Instant};

use pest::error::ErrorVariant;
use pest::iterators::Pairs;

use super::grammar::Grammar;
use super::machine::{EOI, Id, Machine};
use super::shadows::{Found, ShadowSearch, shadows, wanted};
use crate::productions::coverage::{Coverage, Input, State, Tally, Verdict};
use crate::productions::production::ParseObserver;
use crate::productions::suite_events::{Inputs, record_shadow};

/// Limits for the parse of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Steps of the parser. A parse that takes more is stopped.
    pub steps: u64,
    /// Bytes of stack of the thread, for messages only: pest itself stops when the stack runs out.
    pub stack: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { steps: 1_000_000_000, stack: 64 << 20 }
    }
}

/// A suite of inputs, and its coverage.
pub struct Suite<'g> {
    grammar: &'g Grammar,
    properties: Vec<Box<dyn Fn(char) -> bool>>,
    limits: Limits,
    timed: bool,
    tally: Tally,
    coverage: Coverage,
    subjects: Inputs,
}

type Outcome<'i> = Result<Pairs<'i, Id>, Box<pest::error::Error<Id>>>;

impl<'g> Suite<'g> {
    /// A suite without inputs, with the default limits.
    pub fn new(grammar: &'g Grammar) -> Self {
        let by_name = |name: &String| pest::unicode::by_name(name).unwrap_or_else(|| Box::new(|_| false));
        let (productions, alternatives) = (grammar.productions().len(), grammar.alternatives().len());
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

    /// Measures the time of each activation too. It costs two readings of a clock.
    #[must_use = "the times belong to the suite that is returned"]
    pub fn with_times(self) -> Self {
        Suite { timed: true, ..self }
    }

    /// Parses an input, and adds it to the coverage.
    pub fn parse(&mut self, name: String, text: &str) {
        self.tally.clear();
        let mut tally = std::mem::take(&mut self.tally);
        let (outcome, stopped) = if self.timed {
            self.observed(&name, text, &mut Timed { tally: &mut tally, open: Vec::new() })
        } else {
            self.observed(&name, text, &mut tally)
        };
        let verdict = self.verdict(outcome, stopped);
        self.coverage.add(Input { name, bytes: text.len(), verdict }, &tally);
        self.tally = tally;
    }

    /// The coverage so far.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// True if [`explain`](Self::explain) could find a reason.
    pub fn needs_explaining(&self) -> bool {
        wanted(self.grammar, &self.coverage).contains(&true)
    }

    /// Parses the inputs again, to find out why alternatives never matched: they are tried where an earlier one matched. If the
    /// grammar is observed, the reasons are recorded. `read` returns the text of an input by its number, or `None` to leave
    /// it out.
    pub fn explain(&mut self, mut read: impl FnMut(usize) -> Option<String>) {
        let tried = wanted(self.grammar, &self.coverage);
        if !tried.contains(&true) {
            return;
        }
        let mut found = Found::new();
        let mut unheard = Tally::new(self.coverage.productions.len(), self.coverage.alternatives.len());
        for input in 0..self.coverage.inputs.len() {
            if let Some(text) = read(input) {
                let (grammar, properties, tried) = (self.grammar, &*self.properties, &*tried);
                let steps = self.limits.steps;
                let mut search =
                    ShadowSearch { grammar, properties, tried, found: &mut found, text: &text, input, steps };
                let _ = self.run(&text, &mut unheard, Some(&mut search));
            }
        }
        self.coverage.shadows = shadows(found, self.coverage.alternatives.len());
        self.record_shadows();
    }

    /// Records why productions never matched, if they are observed.
    fn record_shadows(&self) {
        let alternatives = self.grammar.alternatives();
        for (production, site) in self.grammar.known_sites().unwrap_or_default().iter().enumerate() {
            let is_dead = self.coverage.productions[production].state() != State::Matched;
            let shadow = self.coverage.most_shadowed(alternatives, production).filter(|_| is_dead);
            if let Some(shadow) = shadow.and_then(|at| self.coverage.shadows[at].as_ref()) {
                record_shadow(site, self.coverage.sentence(shadow, alternatives));
            }
        }
    }

    /// Runs an input, with an event for each activation of an armed production.
    fn observed<'i, W: ParseObserver>(&'i self, name: &str, text: &'i str, watch: &mut W) -> (Outcome<'i>, bool) {
        let sites = self.grammar.sites();
        if sites.iter().any(|site| site.is_armed()) {
            self.run(text, &mut self.subjects.events(self.coverage.inputs.len(), name, sites, watch), None)
        } else {
            self.run(text, watch, None)
        }
    }

    pub(super) fn run<'i, W: ParseObserver>(
        &'i self,
        text: &'i str,
        watch: &mut W,
        search: Option<&mut ShadowSearch<'i>>,
    ) -> (Outcome<'i>, bool) {
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
        (outcome.map_err(Box::new), machine.stopped)
    }

    fn verdict(&self, outcome: Outcome<'_>, stopped: bool) -> Verdict {
        if stopped {
            return Verdict::Stopped(format!("after {} steps of the parser", self.limits.steps));
        }
        match outcome {
            Ok(_) => Verdict::Accepted,
            Err(error) => match &error.variant {
                // Pest stops a parse if there is too little stack.
                ErrorVariant::CustomError { message } if message.contains("stack limit") => {
                    Verdict::Stopped(format!("its nesting needs more than {} bytes of stack", self.limits.stack))
                }
                _ => Verdict::Rejected(error.renamed_rules(|id| self.name(*id)).to_string()),
            },
        }
    }

    pub(super) fn name(&self, id: Id) -> String {
        match id {
            EOI => "EOI".to_owned(),
            Id(number) => self.grammar.productions()[number as usize - 1].name.clone(),
        }
    }
}

/// Measures the time of each activation, too.
struct Timed<'t> {
    tally: &'t mut Tally,
    /// Open activations: their start, and the time of the activations within.
    open: Vec<(Instant, Duration)>,
}

impl ParseObserver for Timed<'_> {
    fn enter(&mut self, production: usize, at: usize) {
        self.tally.enter(production, at);
        self.open.push((Instant::now(), Duration::ZERO));
    }

    fn exit(&mut self, production: usize, at: usize, end: usize, matched: bool) {
        if let Some((began, within)) = self.open.pop() {
            let took = began.elapsed();
            let counts = self.tally.production(production);
            counts.total += took;
            counts.own += took.saturating_sub(within);
            if let Some((_, around)) = self.open.last_mut() {
                *around += took;
            }
        }
        self.tally.exit(production, at, end, matched);
    }

    fn alternative(&mut self, alternative: usize, matched: bool) {
        self.tally.alternative(alternative, matched);
    }
}
