//! Search for the reason why an alternative never matched, or matched too little. Where an earlier
//! alternative of its choice matched, it is tried at the same place in a separate state.
//!
//! Texts of alternatives are not compared, because they do not show that a `float` may omit its
//! fraction.

use std::collections::{HashMap, HashSet};

use pest::{Atomicity, ParserState};

use super::grammar::Grammar;
use super::machine::{Machine, Properties};
use super::program::Node;
use crate::productions::production::ParseObserver;
use crate::productions::{Coverage, Cut, Shadow, State, Verdict};

/// Distance from the end of a rejected parse, in bytes, in which earlier alternatives are searched.
const NEAR: usize = 1024;

/// Reasons by two alternatives: the first did not match where the second did.
#[derive(Default)]
pub(super) struct ShadowReasons {
    pub shadows: HashMap<(usize, usize), Shadow>,
    pub cuts: HashMap<(usize, usize), Cut>,
    /// Pairs and inputs that the cuts already contain.
    counted: HashSet<((usize, usize), usize)>,
}

/// Trials of an alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trials {
    /// Set if the alternative never matched, so it is tried in all inputs.
    pub everywhere: bool,
    /// Set if the alternative is tried where the parse of a rejected input stopped.
    pub at_stops: bool,
}

/// Search that tries alternatives in a single input.
pub(super) struct ShadowSearch<'g> {
    pub grammar: &'g Grammar,
    pub properties: &'g Properties,
    /// Trials of each alternative.
    pub trials: &'g [Trials],
    pub found: &'g mut ShadowReasons,
    /// Text and number of the input.
    pub text: &'g str,
    pub input: usize,
    /// Place where the parse stopped, if the input was rejected.
    pub stopped_at: Option<usize>,
    pub steps: u64,
}

/// Observer that does nothing, because trials are not observed.
struct NoObserver;

impl ParseObserver for NoObserver {
    fn enter(&mut self, _production: usize, _at: usize) {}
    fn exit(&mut self, _production: usize, _at: usize, _end: usize, _matched: bool) {}
    fn alternative(&mut self, _alternative: usize, _matched: bool) {}
}

impl<'g> ShadowSearch<'g> {
    /// Tries the alternatives after `matched`, at the place where it matched.
    pub fn try_others(
        &mut self,
        first: usize,
        matched: usize,
        alternatives: &'g [Node],
        place: &AlternativeMatch,
    ) {
        for (number, alternative) in alternatives.iter().enumerate().skip(matched + 1) {
            let trials = self.trials[first + number];
            let stop = self.stopped_at.filter(|stop| trials.at_stops && place.is_before(*stop));
            if (trials.everywhere || stop.is_some())
                && let Some(end) = self.end(alternative, place)
            {
                let pair = (first + number, first + matched);
                if trials.everywhere {
                    self.add_shadow(pair, end >= place.end);
                }
                if stop.is_some_and(|stop| stop < end) {
                    self.add_cut(pair, place.end - place.at, end - place.at);
                }
            }
        }
    }

    fn add_shadow(&mut self, pair: (usize, usize), is_as_far: bool) {
        let new = Shadow { by: pair.1, would_match: 0, as_far: 0, input: self.input };
        let shadow = self.found.shadows.entry(pair).or_insert(new);
        shadow.would_match += 1;
        shadow.as_far += u64::from(is_as_far);
    }

    fn add_cut(&mut self, pair: (usize, usize), taken: usize, bytes: usize) {
        let new = Cut { by: pair.1, inputs: 0, taken, bytes, input: self.input };
        let cut = self.found.cuts.entry(pair).or_insert(new);
        // A parser may try the same place again and again.
        if self.found.counted.insert((pair, self.input)) {
            cut.inputs += 1;
        }
    }

    /// Returns the end of the match, or `None` if the step does not match.
    fn end(&self, node: &'g Node, place: &AlternativeMatch) -> Option<usize> {
        // A state begins at the beginning of its input. A single character before the place is
        // enough: only `SOI` looks back, and it sees that this is not the beginning.
        let from = self.text[..place.at].char_indices().next_back().map_or(0, |(before, _)| before);
        let mut machine = Machine {
            grammar: self.grammar,
            properties: self.properties,
            watch: &mut NoObserver,
            steps: self.steps,
            stopped: false,
            furthest: 0,
            search: None,
        };
        let state = ParserState::new(&self.text[from..]).skip(usize::from(from < place.at)).ok()?;
        let state = state.atomic(place.atomicity, |state| machine.node(node, state)).ok()?;
        (!machine.stopped).then(|| from + state.position().pos())
    }
}

/// Match of an alternative: where it began and ended.
pub(super) struct AlternativeMatch {
    pub at: usize,
    pub end: usize,
    pub atomicity: Atomicity,
}

impl AlternativeMatch {
    /// Returns true if the match ended shortly before a place, or there.
    fn is_before(&self, stop: usize) -> bool {
        stop.checked_sub(self.end).is_some_and(|between| between <= NEAR)
    }
}

/// Returns, for each alternative, the earlier alternative with the largest weight.
pub(super) fn most<T: Copy>(
    found: HashMap<(usize, usize), T>,
    alternatives: usize,
    weight: impl Fn(&T) -> u64,
) -> Vec<Option<T>> {
    let mut most: Vec<Option<T>> = vec![None; alternatives];
    // Among equally frequent alternatives the earliest wins, whatever the order of the map.
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by_key(|(pair, _)| *pair);
    for ((alternative, _), reason) in found {
        if most[alternative].is_none_or(|other| weight(&other) < weight(&reason)) {
            most[alternative] = Some(reason);
        }
    }
    most
}

/// Returns the trials of all alternatives. Alternatives that read the stack are left out, because
/// the state of a trial has no stack.
pub(super) fn trials(grammar: &Grammar, coverage: &Coverage) -> Vec<Trials> {
    let uses_stack = stack_users(grammar);
    let rejects = coverage.inputs.iter().any(|input| matches!(input.verdict, Verdict::Rejected(_)));
    let mut trials = vec![Trials::default(); coverage.alternatives.len()];
    let mut todo: Vec<&Node> = grammar.programs.iter().map(|program| &program.body).collect();
    while let Some(node) = todo.pop() {
        if let Node::Choice(first, alternatives) = node {
            for (number, alternative) in alternatives.iter().enumerate() {
                let at = *first as usize + number;
                let is_dead = coverage.alternatives[at].state() != State::Matched;
                let is_possible = number > 0 && !reads_stack(alternative, &uses_stack);
                trials[at] =
                    Trials { everywhere: is_possible && is_dead, at_stops: is_possible && rejects };
            }
        }
        todo.extend(inside(node));
    }
    trials
}

/// Returns, for each rule, whether it reads the stack, itself or through a rule that it refers to.
fn stack_users(grammar: &Grammar) -> Vec<bool> {
    let mut users = vec![false; grammar.programs.len()];
    loop {
        let before = users.clone();
        for (rule, program) in grammar.programs.iter().enumerate() {
            users[rule] = reads_stack(&program.body, &before);
        }
        if users == before {
            return users;
        }
    }
}

fn reads_stack(node: &Node, users: &[bool]) -> bool {
    match node {
        Node::Builtin(builtin) => builtin.uses_stack(),
        Node::PeekSlice(..) => true,
        Node::Rule(rule) => users[*rule as usize],
        other => inside(other).into_iter().any(|node| reads_stack(node, users)),
    }
}

/// Returns the nested steps of a step.
fn inside(node: &Node) -> Vec<&Node> {
    match node {
        Node::Sequence(nodes) | Node::Choice(_, nodes) => nodes.iter().collect(),
        Node::Ahead(node) | Node::NotAhead(node) | Node::Optional(node) | Node::Repeat(node) => {
            vec![node]
        }
        Node::RepeatOnce(node) | Node::Push(node) | Node::Tag(node, _) | Node::Restore(node) => {
            vec![node]
        }
        _ => Vec::new(),
    }
}
