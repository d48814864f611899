//! Finds out why an alternative never matched, by a trial: where an earlier alternative of its choice matched, it runs at
//! the same place in a state of its own.

use std::collections::HashMap;

use pest::{Atomicity, ParserState};

use super::grammar::Grammar;
use super::machine::{Machine, Properties};
use super::program::Node;
use crate::productions::production::ParseObserver;
use crate::productions::{Coverage, Shadow, State};

/// By two alternatives: how often the first would have matched where the second did.
pub(super) type Found = HashMap<(usize, usize), Shadow>;

/// Tries alternatives that never matched, in one input.
pub(super) struct ShadowSearch<'g> {
    pub grammar: &'g Grammar,
    pub properties: &'g Properties,
    /// By alternative: true if it is tried.
    pub tried: &'g [bool],
    pub found: &'g mut Found,
    /// The input, and its number.
    pub text: &'g str,
    pub input: usize,
    pub steps: u64,
}

/// Trials are not observed.
struct NoObserver;

impl ParseObserver for NoObserver {
    fn enter(&mut self, _production: usize, _at: usize) {}
    fn exit(&mut self, _production: usize, _at: usize, _end: usize, _matched: bool) {}
    fn alternative(&mut self, _alternative: usize, _matched: bool) {}
}

impl<'g> ShadowSearch<'g> {
    /// Tries the alternatives after `matched`, at the place where that matched.
    pub fn try_others(&mut self, first: usize, matched: usize, alternatives: &'g [Node], place: &Place) {
        for (number, alternative) in alternatives.iter().enumerate().skip(matched + 1) {
            if self.tried[first + number]
                && let Some(end) = self.end(alternative, place)
            {
                let found = self.found.entry((first + number, first + matched));
                let shadow =
                    found.or_insert(Shadow { by: first + matched, would_match: 0, as_far: 0, input: self.input });
                shadow.would_match += 1;
                shadow.as_far += u64::from(end >= place.end);
            }
        }
    }

    /// The end of the match, if there is one.
    fn end(&self, node: &'g Node, place: &Place) -> Option<usize> {
        // A state begins at the beginning of its input. One character before the place is enough: only `SOI` looks back, and
        // it sees that this is not the beginning.
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

/// The place where an alternative matched.
pub(super) struct Place {
    pub at: usize,
    pub end: usize,
    pub atomicity: Atomicity,
}

/// By alternative: the earlier one that matches first most often.
pub(super) fn shadows(found: Found, alternatives: usize) -> Vec<Option<Shadow>> {
    let mut shadows: Vec<Option<Shadow>> = vec![None; alternatives];
    // The earliest of equally frequent ones, whatever the order of the map.
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by_key(|(pair, _)| *pair);
    for ((alternative, _), shadow) in found {
        if shadows[alternative].is_none_or(|other| other.would_match < shadow.would_match) {
            shadows[alternative] = Some(shadow);
        }
    }
    shadows
}

/// The alternatives that never matched and can be tried. Alternatives that read the stack are left out, because the state of
/// a trial has no stack.
pub(super) fn wanted(grammar: &Grammar, coverage: &Coverage) -> Vec<bool> {
    let uses_stack = stack_users(grammar);
    let mut wanted = vec![false; coverage.alternatives.len()];
    let mut todo: Vec<&Node> = grammar.programs.iter().map(|program| &program.body).collect();
    while let Some(node) = todo.pop() {
        if let Node::Choice(first, alternatives) = node {
            for (number, alternative) in alternatives.iter().enumerate() {
                let at = *first as usize + number;
                let is_dead = coverage.alternatives[at].state() != State::Matched;
                wanted[at] = is_dead && number > 0 && !reads_stack(alternative, &uses_stack);
            }
        }
        todo.extend(inside(node));
    }
    wanted
}

/// By rule: true if it reads the stack, itself or through a rule that it refers to.
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

/// The steps of a step.
fn inside(node: &Node) -> Vec<&Node> {
    match node {
        Node::Sequence(nodes) | Node::Choice(_, nodes) => nodes.iter().collect(),
        Node::Ahead(node) | Node::NotAhead(node) | Node::Optional(node) | Node::Repeat(node) => vec![node],
        Node::RepeatOnce(node) | Node::Push(node) | Node::Tag(node, _) | Node::Restore(node) => vec![node],
        _ => Vec::new(),
    }
}
