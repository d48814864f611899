//! Productions of parsers that are written with [combine](https://docs.rs/combine) 4.
//!
//! ```
//! use combine::parser::char::{digit, letter};
//! use combine::{Parser, many1};
//! use metaspy::productions::combine::ParserExt;
//!
//! let name = many1::<String, _, _>(letter()).spied("name");
//! let number = many1::<String, _, _>(digit()).spied("number");
//! assert_eq!(name.or(number).parse("42"), Ok(("42".to_owned(), "")));
//! ```
//!
//! Streams are [`RangeStream`]s: texts, slices, and streams around them. A parse of partial input
//! does not resume within a production: it tries the production again.

use std::panic::Location;

use combine::error::{ParseError, ParseResult, Tracked};
use combine::stream::{Range, RangeStream};
use combine::{Parser, StreamOnce};
use metaspy_core::Site;

use super::activation::{Activation, ActivationEnd, ActivationFrame, IntoProduction, Position};

/// Parser whose activations are events of a production.
#[derive(Clone, Copy, Debug)]
pub struct SpiedParser<P> {
    parser: P,
    production: &'static Site,
}

/// Extension that gives parsers the name of a production.
pub trait ParserExt<Input: RangeStream<Range: Range>>: Parser<Input> + Sized {
    /// Makes an event of each activation of this parser, at the production's site.
    #[track_caller]
    fn spied(self, production: impl IntoProduction) -> SpiedParser<Self> {
        SpiedParser { parser: self, production: production.site(Location::caller()) }
    }
}

impl<Input: RangeStream<Range: Range>, P: Parser<Input>> ParserExt<Input> for P {}

impl<Input: RangeStream<Range: Range>, P: Parser<Input>> Parser<Input> for SpiedParser<P> {
    type Output = P::Output;
    type PartialState = ();

    #[inline]
    fn parse_lazy(
        &mut self,
        input: &mut Input,
    ) -> ParseResult<P::Output, <Input as StreamOnce>::Error> {
        if !self.production.is_armed() {
            return self.parser.parse_lazy(input);
        }
        let mut frame = ActivationFrame::vacant();
        let activation = Activation::begin(&mut frame, self.production, left(input));
        let result = self.parser.parse_lazy(input);
        let ended = match &result {
            ParseResult::CommitOk(_) | ParseResult::PeekOk(_) => ActivationEnd::Matched,
            ParseResult::PeekErr(_) => ActivationEnd::Backtracked,
            ParseResult::CommitErr(error)
                if input.is_partial() && error.is_unexpected_end_of_input() =>
            {
                ActivationEnd::Incomplete
            }
            ParseResult::CommitErr(_) => ActivationEnd::Cut,
        };
        activation.end(ended, left(input));
        result
    }

    fn add_error(&mut self, error: &mut Tracked<<Input as StreamOnce>::Error>) {
        self.parser.add_error(error);
    }
}

fn left<Input: RangeStream<Range: Range>>(input: &Input) -> Position {
    Position::Left(input.range().len())
}
