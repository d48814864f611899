//! Productions of parsers that are written with [winnow](https://docs.rs/winnow).
//!
//! ```
//! use metaspy_instrumenters::production;
//! use metaspy_instrumenters::productions::winnow::Spy;
//! use winnow::Parser;
//! use winnow::combinator::alt;
//! use winnow::ascii::{alpha1, digit1};
//!
//! fn word<'i>(input: &mut &'i str) -> winnow::Result<&'i str> {
//!     alt((alpha1.spied(production!("name")), digit1.spied("number"))).parse_next(input)
//! }
//! assert_eq!(word.parse("42"), Ok("42"));
//! ```

use std::panic::Location;

use metaspy_core::Site;
use winnow::Parser;
use winnow::error::ParserError;
use winnow::stream::Stream;

use super::activation::{Activation, Ended, Named, Slot, Where};

/// A parser whose activations are events of a production.
#[derive(Clone, Copy, Debug)]
pub struct SpiedParser<P> {
    parser: P,
    production: &'static Site,
}

/// Gives a parser a name.
pub trait Spy<I, O, E>: Parser<I, O, E> + Sized {
    /// This parser, as the production with that name.
    #[track_caller]
    fn spied(self, production: impl Named) -> SpiedParser<Self> {
        SpiedParser { parser: self, production: production.site(Location::caller()) }
    }
}

impl<I, O, E, P: Parser<I, O, E>> Spy<I, O, E> for P {}

impl<I: Stream, O, E: ParserError<I>, P: Parser<I, O, E>> Parser<I, O, E> for SpiedParser<P> {
    #[inline]
    fn parse_next(&mut self, input: &mut I) -> Result<O, E> {
        if !self.production.is_armed() {
            return self.parser.parse_next(input);
        }
        let mut slot = Slot::vacant();
        let activation = Activation::begin(&mut slot, self.production, Where::Left(input.eof_offset()));
        let result = self.parser.parse_next(input);
        let ended = match &result {
            Ok(_) => Ended::Matched,
            Err(error) if error.is_incomplete() => Ended::Incomplete,
            Err(error) if error.is_backtrack() => Ended::Backtracked,
            Err(_) => Ended::Cut,
        };
        activation.end(ended, Where::Left(input.eof_offset()));
        result
    }
}
