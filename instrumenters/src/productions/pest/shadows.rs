//! Why an alternative never matched, found by trying it: where an earlier alternative of its choice matched, it is run
//! at the same place in a state of its own.

use std::collections::HashMap;

use pest::{Atomicity, ParserState};

use super::grammar::Grammar;
use super::machine::{Machine, Properties};
use super::program::Node;
use crate::productions::production::ParseObserver;
use crate::productions::{Coverage, Shadow, State};

/// By an alternative and another that matched: how often the first would have matched there.
pub(super) type Found = HashMap<(usize, usize), Shadow>;

/// Tries alternatives that never matched, in one input.
pub(super) struct ShadowSearch<'g> {
    pub grammar: &'g Grammar,
    pub properties: &'g Properties,
    /// By alternative: whether it is tried.
    pub tried: &'g [bool],
    pub found: &'g mut Found,
    /// The input, and its number.
    pub text: &'g str,
    pub input: usize,
    pub steps: u64,
}

/// Nobody watches what is only tried.
struct Nobody;

impl ParseObserver for Nobody {
    fn enter(&mut self, _production: usize, _at: usize) {}
    fn exit(&mut self, _production: usize, _at: usize, _end: usize, _matched: bool) {}
    fn alternative(&mut self, _alternative: usize, _matched: bool) {}
}

impl<'g> ShadowSearch<'g> {
    /// The alternative `matched` has matched: tries the later ones of its choice at the place where it was entered.
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

    /// Where it would end, if it would match.
    fn end(&self, node: &'g Node, place: &Place) -> Option<usize> {
        // A state begins at the beginning. One character before the place is enough of it: only a rule that asks for
        // the beginning of the input looks back, and it sees that this is not the beginning.
        let from = self.text[..place.at].char_indices().next_back().map_or(0, |(before, _)| before);
        let mut machine = Machine {
            grammar: self.grammar,
            properties: self.properties,
            watch: &mut Nobody,
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

/// Where an alternative matched.
pub(super) struct Place {
    pub at: usize,
    pub end: usize,
    pub atomicity: Atomicity,
}

/// Of each alternative, the one that takes its place most often.
pub(super) fn shadows(found: Found, alternatives: usize) -> Vec<Option<Shadow>> {
    let mut shadows: Vec<Option<Shadow>> = vec![None; alternatives];
    // Of equally frequent ones the earliest, whatever the order of the map.
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by_key(|(pair, _)| *pair);
    for ((alternative, _), shadow) in found {
        if shadows[alternative].is_none_or(|other| other.would_match < shadow.would_match) {
            shadows[alternative] = Some(shadow);
        }
    }
    shadows
}

/// Which alternatives never matched and can be tried. Those that ask the stack of what was pushed are left out: the
/// state that they are tried in has no stack.
pub(super) fn wanted(grammar: &Grammar, coverage: &Coverage) -> Vec<bool> {
    let uses_stack = stack_users(grammar);
    let mut wanted = vec![false; coverage.alternatives.len()];
    let mut todo: Vec<&Node> = grammar.programs.iter().map(|program| &program.body).collect();
    while let Some(node) = todo.pop() {
        if let Node::Choice(first, alternatives) = node {
            for (number, alternative) in alternatives.iter().enumerate() {
                let at = *first as usize + number;
                let is_dead = coverage.alternatives[at].state() != State::Matched;
                wanted[at] = is_dead && number > 0 && !asks(alternative, &uses_stack);
            }
        }
        todo.extend(inside(node));
    }
    wanted
}

/// By rule: whether it asks the stack, itself or by a rule that it leads to.
fn stack_users(grammar: &Grammar) -> Vec<bool> {
    let mut users = vec![false; grammar.programs.len()];
    loop {
        let before = users.clone();
        for (rule, program) in grammar.programs.iter().enumerate() {
            users[rule] = asks(&program.body, &before);
        }
        if users == before {
            return users;
        }
    }
}

fn asks(node: &Node, users: &[bool]) -> bool {
    match node {
        Node::Builtin(builtin) => builtin.uses_stack(),
        Node::PeekSlice(..) => true,
        Node::Rule(rule) => users[*rule as usize],
        other => inside(other).into_iter().any(|node| asks(node, users)),
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
