//! Productions of parsers that are written with [nom](https://docs.rs/nom) 8.
//!
//! ```
//! use metaspy::productions::nom::ParserExt;
//! use nom::{IResult, Parser, branch::alt, character::complete::{alpha1, digit1}};
//!
//! fn word(input: &str) -> IResult<&str, &str> {
//!     alt((alpha1.spied("name"), digit1.spied("number"))).parse(input)
//! }
//! assert_eq!(word("42"), Ok(("", "42")));
//! ```

use std::panic::Location;

use metaspy_core::Site;
use nom::{Err, Input, Mode, OutputMode, PResult, Parser};

use super::activation::{
    Activation, ActivationEnd, ActivationFrame, IntoProduction, Position, Purpose,
};

/// Parser whose activations are events of a production.
#[derive(Clone, Copy, Debug)]
pub struct SpiedParser<P> {
    parser: P,
    production: &'static Site,
}

/// Extension that gives parsers the name of a production.
pub trait ParserExt<I>: Parser<I> + Sized {
    /// Makes an event of each activation of this parser, at the production's site.
    #[track_caller]
    fn spied(self, production: impl IntoProduction) -> SpiedParser<Self> {
        SpiedParser { parser: self, production: production.site(Location::caller()) }
    }
}

impl<I, P: Parser<I>> ParserExt<I> for P {}

impl<I: Input, P: Parser<I>> Parser<I> for SpiedParser<P> {
    type Output = P::Output;
    type Error = P::Error;

    #[inline]
    fn process<OM: OutputMode>(&mut self, input: I) -> PResult<OM, I, Self::Output, Self::Error> {
        if !self.production.is_armed() {
            return self.parser.process::<OM>(input);
        }
        let left = input.input_len();
        let mut frame = ActivationFrame::vacant();
        let activation = Activation::begin_for(
            &mut frame,
            self.production,
            Position::Left(left),
            purpose::<OM>(),
        );
        let result = self.parser.process::<OM>(input);
        let (ended, left) = match &result {
            Ok((rest, _)) => (ActivationEnd::Matched, rest.input_len()),
            Err(Err::Error(_)) => (ActivationEnd::Backtracked, left),
            Err(Err::Failure(_)) => (ActivationEnd::Cut, left),
            Err(Err::Incomplete(_)) => (ActivationEnd::Incomplete, left),
        };
        activation.end(ended, Position::Left(left));
        result
    }
}

/// Returns the purpose of a mode. A mode that only checks has no output, so its output has no size.
const fn purpose<OM: OutputMode>() -> Purpose {
    if size_of::<<OM::Output as Mode>::Output<u8>>() == 0 { Purpose::Check } else { Purpose::Parse }
}
