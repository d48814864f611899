//! The language in lalrpop, with the tokens of logos.
//!
//! An action of the grammar runs when its production has matched, and those within it before. So
//! each activation has matched, and its cause is the event around the parse.

use lalrpop_util::lalrpop_mod;
use logos::{Lexer, Logos};
use metaspy::production;
use metaspy::productions::spied_tokens;

use crate::spy::Spy;

lalrpop_mod!(
    #[allow(missing_docs, clippy::all, reason = "it is generated")]
    sums
);

/// A token of the language.
#[derive(Clone, Debug, Logos, PartialEq)]
#[logos(skip " +")]
pub enum Token {
    /// Digits.
    #[regex("[0-9]+", number)]
    Integer(f64),
    /// Digits with a point.
    #[regex(r"[0-9]+\.[0-9]+", number)]
    Decimal(f64),
    /// `+`
    #[token("+")]
    Plus,
    /// `*`
    #[token("*")]
    Times,
    /// `(`
    #[token("(")]
    Open,
    /// `)`
    #[token(")")]
    Close,
}

fn number(lexer: &mut Lexer<'_, Token>) -> Option<f64> {
    lexer.slice().parse().ok()
}

/// The value of a sum.
pub fn parse(text: &str) -> Option<f64> {
    let tokens = spied_tokens(Token::lexer(text).spanned(), |token| match token {
        Ok(Token::Integer(_)) => production!("token: integer"),
        Ok(Token::Decimal(_)) => production!("token: decimal"),
        _ => production!("token: sign"),
    });
    let located = tokens.map(|(token, place)| token.map(|token| (place.start, token, place.end)));
    sums::SumParser::new().parse(&Spy::default(), located).ok()
}
