//! Productions of parsers that are written with [winnow](https://docs.rs/winnow).
//!
//! ```
//! use metaspy::prelude::*;
//! use metaspy::productions::winnow::ParserExt;
//! use winnow::Parser;
//! use winnow::combinator::alt;
//! use winnow::ascii::{alpha1, digit1};
//!
//! fn word<'i>(input: &mut &'i str) -> winnow::Result<&'i str> {
//!     alt((alpha1.spied(production!("name")), digit1.spied("number"))).parse_next(input)
//! }
//! assert_eq!(word.parse("42"), Ok("42"));
//! ```

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use metaspy_core::Site;
use winnow::Parser;
use winnow::error::ParserError;
use winnow::stream::Stream;

use super::activation::{Activation, ActivationEnd, ActivationFrame, IntoProduction, Position};

/// Parser whose activations are events of a production. Its type has input and output, because a
/// literal parses several types of input.
pub struct SpiedParser<P, I, O, E> {
    parser: P,
    production: &'static Site,
    parses: PhantomData<fn(I) -> Result<O, E>>,
}

impl<P: Copy, I, O, E> Copy for SpiedParser<P, I, O, E> {}

impl<P: Clone, I, O, E> Clone for SpiedParser<P, I, O, E> {
    fn clone(&self) -> Self {
        SpiedParser { parser: self.parser.clone(), ..*self }
    }
}

impl<P: fmt::Debug, I, O, E> fmt::Debug for SpiedParser<P, I, O, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SpiedParser").field(&self.parser).field(self.production).finish()
    }
}

/// Extension that gives parsers the name of a production.
pub trait ParserExt<I, O, E>: Parser<I, O, E> + Sized {
    /// Makes an event of each activation of this parser, at the production's site.
    #[track_caller]
    fn spied(self, production: impl IntoProduction) -> SpiedParser<Self, I, O, E> {
        SpiedParser {
            parser: self,
            production: production.site(Location::caller()),
            parses: PhantomData,
        }
    }
}

impl<I, O, E, P: Parser<I, O, E>> ParserExt<I, O, E> for P {}

impl<I: Stream, O, E: ParserError<I>, P: Parser<I, O, E>> Parser<I, O, E>
    for SpiedParser<P, I, O, E>
{
    #[inline]
    fn parse_next(&mut self, input: &mut I) -> Result<O, E> {
        if !self.production.is_armed() {
            return self.parser.parse_next(input);
        }
        let mut frame = ActivationFrame::vacant();
        let activation =
            Activation::begin(&mut frame, self.production, Position::Left(input.eof_offset()));
        let result = self.parser.parse_next(input);
        let ended = match &result {
            Ok(_) => ActivationEnd::Matched,
            Err(error) if error.is_incomplete() => ActivationEnd::Incomplete,
            Err(error) if error.is_backtrack() => ActivationEnd::Backtracked,
            Err(_) => ActivationEnd::Cut,
        };
        activation.end(ended, Position::Left(input.eof_offset()));
        result
    }
}
