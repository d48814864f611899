//! A library that names the productions of its parser, armed or not.

#![no_std]
#![deny(warnings, missing_docs)]

use metaspy::production;
use metaspy::productions::winnow::ParserExt;
use metaspy::productions::{Activation, ActivationEnd, ActivationFrame, Position, spied_tokens};
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

/// The number of digits.
pub fn digits(text: &str) -> usize {
    let tokens = text.char_indices().map(|(at, letter)| (letter.to_digit(10).ok_or(()), at..at + letter.len_utf8()));
    spied_tokens(tokens, |_| production!("digit")).filter(|(token, _)| token.is_ok()).count()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_digits_are_counted() {
        assert_eq!(super::digits("1, 23"), 3);
    }

    #[test]
    fn the_grammar_counts() {
        assert_eq!((super::count("1, none,3"), super::count("1,x")), (Some(3), None));
    }
}
