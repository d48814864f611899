//! A library that names the productions of its parser, armed or not.

#![no_std]
#![deny(warnings, missing_docs)]

use metaspy::production;
use metaspy::productions::winnow::ParserExt;
use metaspy::productions::{Activation, ActivationEnd, ActivationFrame, Position};
use winnow::Parser;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, separated};

/// How many numbers stand between commas.
pub fn count(text: &str) -> Option<usize> {
    let mut slot = ActivationFrame::vacant();
    let activation = Activation::begin(&mut slot, production!("list"), Position::Left(text.len()));
    let () = separated(1.., number, ',').parse(text).ok()?;
    activation.end(ActivationEnd::Matched, Position::Left(0));
    Some(text.split(',').count())
}

fn number<'i>(input: &mut &'i str) -> winnow::Result<&'i str> {
    let number = alt((digit1.spied(production!("decimal")), "none".spied("none")));
    delimited(multispace0, number, multispace0).parse_next(input)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_grammar_counts() {
        assert_eq!((super::count("1, none,3"), super::count("1,x")), (Some(3), None));
    }
}
