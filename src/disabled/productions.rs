//! Productions, and nobody who looks.

use core::marker::PhantomData;

/// How an activation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationEnd {
    /// It matched.
    Matched,
    /// It did not, and another alternative may be tried.
    Backtracked,
    /// It did not, and no other alternative may be tried.
    Cut,
    /// The input ended before it was clear.
    Incomplete,
}

/// A place in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// So many bytes or tokens from its beginning.
    At(usize),
    /// So many before its end.
    Left(usize),
    /// Nobody knows.
    Unknown,
}

/// What an activation needs while it lasts: nothing.
#[derive(Debug)]
pub struct ActivationFrame(());

impl ActivationFrame {
    /// Room for one activation.
    #[inline(always)]
    pub const fn vacant() -> Self {
        ActivationFrame(())
    }
}

/// An activation of a production.
#[derive(Debug)]
#[must_use = "an activation lasts until it is ended or dropped"]
pub struct Activation<'s>(PhantomData<&'s mut ActivationFrame>);

impl<'s> Activation<'s> {
    /// A production is tried at this place.
    #[inline(always)]
    pub fn begin(_slot: &'s mut ActivationFrame, _production: impl IntoProduction, _place: Position) -> Self {
        Activation(PhantomData)
    }

    /// As [`begin`](Self::begin); it may be that it only checks.
    #[inline(always)]
    pub fn begin_as(
        slot: &'s mut ActivationFrame,
        production: impl IntoProduction,
        place: Position,
        _checks: bool,
    ) -> Self {
        Self::begin(slot, production, place)
    }

    /// It has ended, having read up to there.
    #[inline(always)]
    pub fn end(self, _ended: ActivationEnd, _place: Position) {}
}

/// Activations that have begun and not ended: how many.
#[derive(Debug, Default)]
pub struct ActivationStack(usize);

impl ActivationStack {
    /// None yet.
    #[inline(always)]
    pub fn new() -> Self {
        ActivationStack(0)
    }

    /// A production begins.
    #[inline(always)]
    pub fn begin(&mut self, _production: impl IntoProduction, _at: usize) {
        self.0 += 1;
    }

    /// The innermost one ends.
    #[inline(always)]
    pub fn end(&mut self, _production: impl IntoProduction, _ended: ActivationEnd, _end: usize) {
        self.0 = self.0.saturating_sub(1);
    }

    /// A production that begins and ends with nothing in it.
    #[inline(always)]
    pub fn leaf(&mut self, _production: impl IntoProduction, _at: usize, _ended: ActivationEnd, _end: usize) {}

    /// How many have begun and not ended.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.0
    }
}

/// Runs a parse whose activations are about one input, with this name.
#[inline(always)]
pub fn with_input<R>(_name: &str, parse: impl FnOnce() -> R) -> R {
    parse()
}

/// What names a production.
pub trait IntoProduction {}

impl IntoProduction for &'static str {}

/// What stands for a production that nobody observes.
#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl IntoProduction for Unobserved {}

/// Names a production: nothing is known of it.
#[macro_export]
macro_rules! production {
    ($name:literal) => {
        $crate::productions::Unobserved
    };
}

/// Gives a parser a name; it stays what it is.
#[cfg(any(feature = "chumsky", feature = "nom", feature = "winnow"))]
pub trait ParserExt: Sized {
    /// This parser.
    #[inline(always)]
    fn spied(self, _production: impl IntoProduction) -> Self {
        self
    }
}

#[cfg(any(feature = "chumsky", feature = "nom", feature = "winnow"))]
impl<P> ParserExt for P {}

/// Parsers that are written with chumsky.
#[cfg(feature = "chumsky")]
pub mod chumsky {
    pub use super::ParserExt;
}

/// Parsers that are written with nom.
#[cfg(feature = "nom")]
pub mod nom {
    pub use super::ParserExt;
}

/// Parsers that are written with winnow.
#[cfg(feature = "winnow")]
pub mod winnow {
    pub use super::ParserExt;
}
