//! Program of a grammar: optimised rules, which refer to each other by number.

use super::builtin::Builtin;

/// Step of a rule.
#[derive(Debug)]
pub(super) enum Node {
    Str(Box<str>),
    Insensitive(Box<str>),
    Range(char, char),
    /// Calls a rule of the grammar, by its number.
    Rule(u32),
    Builtin(Builtin),
    /// Matches a Unicode property, by its number in the grammar.
    Property(u32),
    PeekSlice(i32, Option<i32>),
    Ahead(Box<Node>),
    NotAhead(Box<Node>),
    Sequence(Box<[Node]>),
    /// Tries alternatives. The first field is the number of the first alternative.
    Choice(u32, Box<[Node]>),
    Optional(Box<Node>),
    /// Matches any number of times.
    Repeat(Box<Node>),
    /// Matches once or more.
    RepeatOnce(Box<Node>),
    Push(Box<Node>),
    PushLiteral(Box<str>),
    /// Skips to the next of these strings.
    SkipUntil(Box<[Box<str>]>),
    Tag(Box<Node>, Box<str>),
    Restore(Box<Node>),
}

/// Compiled rules of a grammar.
#[derive(Debug)]
pub(super) struct Program {
    pub kind: Kind,
    pub body: Node,
}

/// Modifier of a rule, which determines its tokens and its treatment of white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Normal,
    Silent,
    /// A token without white space in it: `@{ … }`.
    Atomic,
    /// White space or a comment that makes no token.
    SilentAtomic,
    /// A token whose white space rule is set first: `${ … }`.
    Compound,
    /// A token with white space between its steps: `!{ … }`.
    NonAtomic,
    /// White space or a comment that is written as `!{ … }`. It is atomic nevertheless, and set
    /// before the token.
    AtomicFirst,
}
