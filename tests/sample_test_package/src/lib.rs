//! Lists of numbers and words.

use metaspy::production;
use metaspy::productions::winnow::ParserExt;
use winnow::Parser;
use winnow::ascii::{alpha1, digit1};
use winnow::combinator::{alt, separated};

/// True if a text is such a list.
pub fn is_list(text: &str) -> bool {
    let items = separated(1.., item, ',').map(|()| ());
    items.spied(production!("list")).parse(text).is_ok()
}

fn item<'i>(input: &mut &'i str) -> winnow::Result<&'i str> {
    let number = digit1.spied(production!("number"));
    let nothing = ('-', never).take().spied(production!("nothing"));
    alt((number, alpha1.spied(production!("word")), nothing)).parse_next(input)
}

fn never<'i>(input: &mut &'i str) -> winnow::Result<&'i str> {
    "never".spied(production!("never")).parse_next(input)
}

#[cfg(test)]
mod tests {
    use super::is_list;

    #[test]
    fn numbers() {
        assert!(is_list("1,22,333"));
    }

    #[test]
    fn words() {
        assert!(is_list("a,b"));
    }

    #[test]
    fn numbers_and_words() {
        (0..100).for_each(|_| assert!(is_list("1,a")));
    }

    #[test]
    #[ignore = "runs by name only"]
    fn fails() {
        assert!(!is_list("1"), "a test that does not hold");
    }
}
