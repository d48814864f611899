//! The program of a grammar: optimised rules, which refer to each other by number.

use super::builtin::Builtin;

/// A step of a rule.
#[derive(Debug)]
pub(super) enum Node {
    Str(Box<str>),
    Insensitive(Box<str>),
    Range(char, char),
    /// One of the grammar's rules.
    Rule(u32),
    Builtin(Builtin),
    /// A Unicode property, by its number in the grammar.
    Property(u32),
    PeekSlice(i32, Option<i32>),
    Ahead(Box<Node>),
    NotAhead(Box<Node>),
    Sequence(Box<[Node]>),
    /// Alternatives, and the number of the first of them.
    Choice(u32, Box<[Node]>),
    Optional(Box<Node>),
    /// Any number of times.
    Repeat(Box<Node>),
    /// Once or more.
    RepeatOnce(Box<Node>),
    Push(Box<Node>),
    PushLiteral(Box<str>),
    /// Skips to the next of these strings.
    SkipUntil(Box<[Box<str>]>),
    Tag(Box<Node>, Box<str>),
    Restore(Box<Node>),
}

/// A rule.
#[derive(Debug)]
pub(super) struct Program {
    pub kind: Kind,
    pub body: Node,
}

/// What a rule does around its body: tokens, and the treatment of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Silent,
    /// A token, and no white space in it: `@{ … }`.
    Atomic,
    /// White space or a comment that makes no token.
    SilentAtomic,
    /// The white space rule is set first: `${ … }`.
    Compound,
    /// `!{ … }`.
    NonAtomic,
    /// White space or a comment written as `!{ … }`: atomic nevertheless, set before the token.
    AtomicFirst,
}
