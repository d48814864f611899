//! Productions: parsers stay as they are.

use core::marker::PhantomData;
use core::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActivationEnd {
    Matched,
    Backtracked,
    Cut,
    Incomplete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    At(usize),
    Left(usize),
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Parse,
    Check,
}

#[derive(Debug)]
pub struct ActivationFrame(());

impl ActivationFrame {
    #[inline(always)]
    pub const fn vacant() -> Self {
        ActivationFrame(())
    }
}

#[derive(Debug)]
#[must_use = "an activation lasts until it is ended or dropped"]
pub struct Activation<'s>(PhantomData<&'s mut ActivationFrame>);

impl<'s> Activation<'s> {
    #[inline(always)]
    pub fn begin(
        _frame: &'s mut ActivationFrame,
        _production: impl IntoProduction,
        _place: Position,
    ) -> Self {
        Activation(PhantomData)
    }

    #[inline(always)]
    pub fn begin_for(
        frame: &'s mut ActivationFrame,
        production: impl IntoProduction,
        place: Position,
        _purpose: Purpose,
    ) -> Self {
        Self::begin(frame, production, place)
    }

    #[inline(always)]
    pub fn end(self, _ended: ActivationEnd, _place: Position) {}
}

#[derive(Debug, Default)]
pub struct ActivationStack(usize);

impl ActivationStack {
    #[inline(always)]
    pub fn new() -> Self {
        ActivationStack(0)
    }

    #[inline(always)]
    pub fn begin(&mut self, _production: impl IntoProduction, _at: usize) {
        self.0 += 1;
    }

    #[inline(always)]
    pub fn end(&mut self, _production: impl IntoProduction, _ended: ActivationEnd, _end: usize) {
        self.0 = self.0.saturating_sub(1);
    }

    #[inline(always)]
    pub fn leaf(
        &mut self,
        _production: impl IntoProduction,
        _at: usize,
        _ended: ActivationEnd,
        _end: usize,
    ) {
    }

    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.0
    }
}

#[inline(always)]
pub fn with_input<R>(_name: &str, parse: impl FnOnce() -> R) -> R {
    parse()
}

#[inline(always)]
pub fn spied_tokens<T, E, P: IntoProduction>(
    tokens: impl Iterator<Item = (Result<T, E>, Range<usize>)>,
    _production: impl FnMut(&Result<T, E>) -> P,
) -> impl Iterator<Item = (Result<T, E>, Range<usize>)> {
    tokens
}

pub trait IntoProduction {}

impl IntoProduction for &'static str {}

#[derive(Clone, Copy, Debug)]
pub struct Unobserved;

impl IntoProduction for Unobserved {}

#[macro_export]
macro_rules! production {
    ($name:literal) => {
        $crate::productions::Unobserved
    };
}

#[cfg(any(feature = "chumsky", feature = "combine", feature = "nom", feature = "winnow"))]
pub trait ParserExt: Sized {
    #[inline(always)]
    fn spied(self, _production: impl IntoProduction) -> Self {
        self
    }
}

#[cfg(any(feature = "chumsky", feature = "combine", feature = "nom", feature = "winnow"))]
impl<P> ParserExt for P {}

/// Names for parsers in chumsky, which are ignored.
#[cfg(feature = "chumsky")]
pub mod chumsky {
    pub use super::ParserExt;
}

/// Names for parsers in combine, which are ignored.
#[cfg(feature = "combine")]
pub mod combine {
    pub use super::ParserExt;
}

/// Names for parsers in nom, which are ignored.
#[cfg(feature = "nom")]
pub mod nom {
    pub use super::ParserExt;
}

/// Names for parsers in winnow, which are ignored.
#[cfg(feature = "winnow")]
pub mod winnow {
    pub use super::ParserExt;
}
