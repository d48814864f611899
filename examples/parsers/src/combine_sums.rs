//! The language in combine: `.spied(…)` makes an activation of a parser.

use combine::parser::char::{char, digit, spaces};
use combine::parser::range::recognize;
use combine::{
    EasyParser, RangeStream, attempt, between, choice, eof, parser, sep_by1, skip_many1,
};
use metaspy::productions::combine::ParserExt;
use metaspy::{Site, production};

// `parser!` repeats its body, and a production is one site.
const SUM: Production = || production!("sum");
const PRODUCT: Production = || production!("product");
const INTEGER: Production = || production!("integer");
const DECIMAL: Production = || production!("decimal");
const GROUP: Production = || production!("group");

type Production = fn() -> &'static Site;

/// The value of a sum.
pub fn parse(text: &str) -> Option<f64> {
    (spaces(), sum(), eof()).easy_parse(text).ok().map(|(((), value, ()), _)| value)
}

parser! {
    fn sum['i, Input]()(Input) -> f64 where [Input: RangeStream<Token = char, Range = &'i str>] {
        let values = sep_by1(product(), char('+').skip(spaces()));
        values.map(|values: Vec<f64>| values.iter().sum()).spied(SUM())
    }
}

parser! {
    fn product['i, Input]()(Input) -> f64 where [Input: RangeStream<Token = char, Range = &'i str>] {
        let integer = recognize(skip_many1(digit()));
        let decimal = recognize((skip_many1(digit()), char('.'), skip_many1(digit())));
        let value = |text: &str| text.parse().unwrap_or(f64::NAN);
        let group = between(char('(').skip(spaces()), char(')'), sum());
        let factor = choice((
            attempt(integer.map(value).spied(INTEGER())),
            attempt(decimal.map(value).spied(DECIMAL())),
            group.spied(GROUP()),
        ));
        let values = sep_by1(factor.skip(spaces()), char('*').skip(spaces()));
        values.map(|values: Vec<f64>| values.iter().product()).spied(PRODUCT())
    }
}
