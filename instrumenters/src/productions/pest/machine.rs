//! Machine that runs the program of a grammar on an input, and calls a [`ParseObserver`].
//!
//! The machine is our own, on pest's `ParserState`, in the same order as pest's parsers. Pest's
//! virtual machine has a listener that sees entries only, and a hook in generated code needs edited
//! code. Tokens and errors are pest's, which is tested on a whole corpus.

use pest::{Atomicity, MatchDir, ParseResult, ParserState};

use super::grammar::Grammar;
use super::program::{Kind, Node};
use super::shadows::{AlternativeMatch, ShadowSearch};
use crate::productions::production::ParseObserver;

/// Number of a rule in pest's tokens and errors; 0 is the end of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(pub u32);

/// Number of the end of the input.
pub(super) const EOI: Id = Id(0);

pub(super) type State<'i> = Box<ParserState<'i, Id>>;
pub(super) type Step<'i> = ParseResult<State<'i>>;
pub(super) type Properties = [Box<dyn Fn(char) -> bool>];

/// Skipped rules between the steps of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skipping {
    Nothing,
    /// A single rule, any number of times.
    One(u32),
    WhitespaceAndComments(u32, u32),
}

impl Skipping {
    pub fn from_rules(whitespace: Option<u32>, comment: Option<u32>) -> Self {
        match (whitespace, comment) {
            (None, None) => Skipping::Nothing,
            (Some(one), None) | (None, Some(one)) => Skipping::One(one),
            (Some(whitespace), Some(comment)) => {
                Skipping::WhitespaceAndComments(whitespace, comment)
            }
        }
    }
}

/// Run of a program on an input.
pub(super) struct Machine<'g, 'w, W> {
    pub grammar: &'g Grammar,
    pub properties: &'g Properties,
    pub watch: &'w mut W,
    /// Number of steps that are left.
    pub steps: u64,
    /// Set if the steps ran out.
    pub stopped: bool,
    /// Furthest byte that the current rule has read.
    pub furthest: usize,
    /// Search that tries other alternatives, on request.
    pub search: Option<&'w mut ShadowSearch<'g>>,
}

impl<'g, W: ParseObserver> Machine<'g, '_, W> {
    /// Runs a rule.
    pub fn rule(&mut self, rule: u32, state: State<'g>) -> Step<'g> {
        let at = state.position().pos();
        let around = std::mem::replace(&mut self.furthest, at);
        self.watch.enter(rule as usize, at);
        let result = self.rule_inside(rule, state);
        self.read(&result);
        self.watch.exit(rule as usize, at, self.furthest, result.is_ok());
        self.furthest = self.furthest.max(around);
        result
    }

    fn rule_inside(&mut self, rule: u32, state: State<'g>) -> Step<'g> {
        let grammar = self.grammar;
        let program = &grammar.programs[rule as usize];
        let id = Id(rule + 1);
        let body = &program.body;
        match program.kind {
            Kind::Normal => state.rule(id, |state| self.node(body, state)),
            Kind::Silent => state.check_stack_limit().and_then(|state| self.node(body, state)),
            Kind::SilentAtomic => state.atomic(Atomicity::Atomic, |state| self.node(body, state)),
            Kind::Atomic => state
                .rule(id, |state| state.atomic(Atomicity::Atomic, |state| self.node(body, state))),
            Kind::Compound => state.atomic(Atomicity::CompoundAtomic, |state| {
                state.rule(id, |state| self.node(body, state))
            }),
            Kind::NonAtomic => state.atomic(Atomicity::NonAtomic, |state| {
                state.rule(id, |state| self.node(body, state))
            }),
            Kind::AtomicFirst => state
                .atomic(Atomicity::Atomic, |state| state.rule(id, |state| self.node(body, state))),
        }
    }

    /// Runs a step of a rule.
    pub fn node(&mut self, node: &'g Node, state: State<'g>) -> Step<'g> {
        if self.steps == 0 {
            // The parse must end, so nothing matches from now on.
            self.stopped = true;
            return Err(state);
        }
        self.steps -= 1;
        match node {
            Node::Rule(rule) => self.rule(*rule, state),
            Node::Sequence(steps) => state.sequence(|mut state| {
                for (number, step) in steps.iter().enumerate() {
                    if number > 0 {
                        state = self.skip(state)?;
                    }
                    state = self.node(step, state)?;
                }
                Ok(state)
            }),
            Node::Choice(first, alternatives) => self.choice(*first, alternatives, state),
            Node::Optional(inner) => state.optional(|state| self.node(inner, state)),
            Node::Repeat(inner) => {
                state.sequence(|state| state.optional(|state| self.repeat(inner, state)))
            }
            Node::RepeatOnce(inner) => state.sequence(|state| self.repeat(inner, state)),
            Node::Ahead(inner) => state.lookahead(true, |state| self.node(inner, state)),
            Node::NotAhead(inner) => state.lookahead(false, |state| self.node(inner, state)),
            Node::Push(inner) => state.stack_push(|state| self.node(inner, state)),
            Node::Restore(inner) => state.restore_on_err(|state| self.node(inner, state)),
            Node::Tag(inner, tag) => self.node(inner, state).and_then(|state| state.tag_node(tag)),
            leaf => {
                let result = self.leaf(leaf, state);
                self.read(&result);
                result
            }
        }
    }

    /// Runs a step that reads the input.
    #[inline]
    fn leaf(&mut self, node: &'g Node, state: State<'g>) -> Step<'g> {
        match node {
            Node::Str(text) => state.match_string(text),
            Node::Insensitive(text) => state.match_insensitive(text),
            Node::Range(from, to) => state.match_range(*from..*to),
            Node::Builtin(builtin) => builtin.run(state),
            Node::Property(property) => state.match_char_by(&self.properties[*property as usize]),
            Node::PeekSlice(from, to) => {
                state.stack_match_peek_slice(*from, *to, MatchDir::BottomToTop)
            }
            Node::PushLiteral(text) => state.stack_push_literal(String::from(&**text)),
            Node::SkipUntil(strings) => match &**strings {
                [one] => state.skip_until(&[one]),
                [one, two] => state.skip_until(&[one, two]),
                many => state.skip_until(&many.iter().map(|text| &**text).collect::<Vec<_>>()),
            },
            // All other steps run in `node`.
            _ => Err(state),
        }
    }

    fn choice(&mut self, first: u32, alternatives: &'g [Node], state: State<'g>) -> Step<'g> {
        let at = state.position().pos();
        let atomicity = state.atomicity();
        let mut result = Err(state);
        for (number, alternative) in alternatives.iter().enumerate() {
            let Err(state) = result else { break };
            result = self.node(alternative, state);
            self.watch.alternative(first as usize + number, result.is_ok());
            if let (Ok(state), Some(search)) = (&result, &mut self.search) {
                let place = AlternativeMatch { at, end: state.position().pos(), atomicity };
                search.try_others(first as usize, number, alternatives, &place);
            }
        }
        result
    }

    /// Runs a step once or more, with skipped rules in between.
    fn repeat(&mut self, inner: &'g Node, state: State<'g>) -> Step<'g> {
        self.node(inner, state).and_then(|state| {
            state.repeat(|state| {
                state.sequence(|state| self.skip(state).and_then(|state| self.node(inner, state)))
            })
        })
    }

    /// Skips white space and comments, where they are not part of the grammar's own text.
    fn skip(&mut self, state: State<'g>) -> Step<'g> {
        if self.grammar.skipping == Skipping::Nothing
            || state.atomicity() != Atomicity::NonAtomic
            || self.steps == 0
        {
            return Ok(state);
        }
        match self.grammar.skipping {
            Skipping::Nothing => Ok(state),
            Skipping::One(rule) => self.any_number(rule, state),
            Skipping::WhitespaceAndComments(whitespace, comment) => state.sequence(|state| {
                self.any_number(whitespace, state).and_then(|state| {
                    state.repeat(|state| {
                        state.sequence(|state| {
                            self.rule(comment, state)
                                .and_then(|state| self.any_number(whitespace, state))
                        })
                    })
                })
            }),
        }
    }

    fn any_number(&mut self, rule: u32, state: State<'g>) -> Step<'g> {
        state.repeat(|state| self.rule(rule, state))
    }

    #[inline]
    fn read(&mut self, result: &Step<'g>) {
        if let Ok(state) = result {
            self.furthest = self.furthest.max(state.position().pos());
        }
    }
}
