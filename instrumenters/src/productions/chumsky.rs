//! Productions of parsers that are written with [chumsky](https://docs.rs/chumsky).
//!
//! If the output is not needed, chumsky only checks the input, and the event has the argument
//! `checks`. A memoized result is no activation, because the production does not run. With names on
//! both sides of the memo, `parser.spied("sum").memoized().spied("sum or memo")`, the difference of
//! the two counts is the number of memoized results.
//!
//! ```
//! use chumsky::prelude::*;
//! use metaspy::productions::chumsky::ParserExt;
//!
//! let word = choice((text::ascii::ident().spied("name"), text::int(10).spied("number")));
//! let parser = word.then_ignore(end::<&str, extra::Default>());
//! assert_eq!(parser.parse("42").into_result(), Ok("42"));
//! ```

use std::panic::Location;

use chumsky::Parser;
use chumsky::extension::v1::{Ext, ExtParser};
use chumsky::extra::ParserExtra;
use chumsky::input::{Input, InputRef};
use chumsky::span::Span;
use metaspy_core::Site;

use super::activation::{
    Activation, ActivationEnd, ActivationFrame, IntoProduction, Position, Purpose,
};

/// Parser whose activations are events of a production, in chumsky's [`Ext`].
#[derive(Clone, Copy, Debug)]
pub struct SpiedParser<P> {
    parser: P,
    production: &'static Site,
}

/// Extension that gives parsers the name of a production.
pub trait ParserExt<'src, I, O, E>: Parser<'src, I, O, E> + Sized
where
    I: Input<'src, Span: Span<Offset = usize>>,
    E: ParserExtra<'src, I>,
{
    /// Makes an event of each activation of this parser, at the production's site.
    #[track_caller]
    fn spied(self, production: impl IntoProduction) -> Ext<SpiedParser<Self>> {
        Ext(SpiedParser { parser: self, production: production.site(Location::caller()) })
    }
}

impl<'src, I, O, E, P> ParserExt<'src, I, O, E> for P
where
    I: Input<'src, Span: Span<Offset = usize>>,
    E: ParserExtra<'src, I>,
    P: Parser<'src, I, O, E>,
{
}

impl<'src, I, O, E, P> ExtParser<'src, I, O, E> for SpiedParser<P>
where
    I: Input<'src, Span: Span<Offset = usize>>,
    E: ParserExtra<'src, I>,
    P: Parser<'src, I, O, E>,
{
    fn parse(&self, input: &mut InputRef<'src, '_, I, E>) -> Result<O, E::Error> {
        self.run(input, Purpose::Parse, |input| input.parse(&self.parser))
    }

    fn check(&self, input: &mut InputRef<'src, '_, I, E>) -> Result<(), E::Error> {
        self.run(input, Purpose::Check, |input| input.check(&self.parser))
    }
}

impl<P> SpiedParser<P> {
    fn run<'src, I, E, R>(
        &self,
        input: &mut InputRef<'src, '_, I, E>,
        purpose: Purpose,
        parse: impl FnOnce(&mut InputRef<'src, '_, I, E>) -> Result<R, E::Error>,
    ) -> Result<R, E::Error>
    where
        I: Input<'src, Span: Span<Offset = usize>>,
        E: ParserExtra<'src, I>,
    {
        if !self.production.is_armed() {
            return parse(input);
        }
        let before = input.cursor();
        let at = Position::At(input.span_since(&before).start());
        let mut frame = ActivationFrame::vacant();
        let activation = Activation::begin_for(&mut frame, self.production, at, purpose);
        let result = parse(input);
        let ended =
            if result.is_ok() { ActivationEnd::Matched } else { ActivationEnd::Backtracked };
        activation.end(ended, Position::At(input.span_since(&before).end()));
        result
    }
}
