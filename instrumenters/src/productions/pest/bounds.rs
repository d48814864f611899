//! Bounds of a grammar's text. Pest's compiler follows its nesting recursively, and copies terms
//! that are repeated a number of times.

use pest::iterators::Pair;
use pest_meta::parser::Rule;

use super::error::GrammarError;
use super::grammar::Source;

/// Maximum number of nested parentheses, `!` and `&`.
const LEVELS: usize = 200;
/// Maximum number of operators between the terms of an expression and of the expressions around it.
const OPERATORS: usize = 10_000;
/// Maximum number of copies that numbers in braces make of a term, and of its inner terms.
const COPIES: u64 = 10_000;

/// Open brackets and operators at a place of the text.
#[derive(Clone, Copy, Default)]
struct Open {
    levels: usize,
    operators: usize,
}

/// Checks the nesting of a file.
pub(super) fn check_nesting(source: &Source) -> Result<(), GrammarError> {
    let mut around = Vec::new();
    let mut open = Open::default();
    let mut braces = 0_usize;
    for (at, token) in tokens(&source.text) {
        match token {
            '(' => {
                around.push(open);
                open.levels += 1;
            }
            ')' => open = around.pop().unwrap_or_default(),
            '!' | '&' => open.levels += 1,
            '~' | '|' => {
                open.operators += 1;
                // Prefixes end with their term.
                open.levels = around.last().map_or(0, |around| around.levels + 1);
            }
            '{' => braces += 1,
            '}' => {
                braces = braces.saturating_sub(1);
                // This brace ends a rule, not a number of repetitions.
                if braces == 0 {
                    open = Open::default();
                    around.clear();
                }
            }
            _ => {}
        }
        let what = match open {
            Open { levels, .. } if levels > LEVELS => format!("more than {LEVELS} levels"),
            Open { operators, .. } if operators > OPERATORS => {
                format!("more than {OPERATORS} terms")
            }
            _ => continue,
        };
        let line = source.text[..at].matches('\n').count() + 1;
        return Err(too_much(format!("{}, line {line}: an expression has {what}", source.name)));
    }
    Ok(())
}

/// Checks how often the numbers in braces copy the terms of a parsed rule.
pub(super) fn check_copies(name: &str, rule: Pair<'_, Rule>) -> Result<(), GrammarError> {
    let line = rule.line_col().0;
    if copies(rule) > COPIES {
        Err(too_much(format!(
            "{name}, line {line}: numbers in braces make more than {COPIES} copies of a term"
        )))
    } else {
        Ok(())
    }
}

fn too_much(what: String) -> GrammarError {
    GrammarError::Invalid(format!("{what}: make a rule of a part of it"))
}

/// Counts the copies of terms that numbers in braces make, in the worst part of an expression.
fn copies(pair: Pair<'_, Rule>) -> u64 {
    let is_term = pair.as_rule() == Rule::term;
    let mut inside: u64 = 1;
    let mut times: u64 = 1;
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::repeat_exact | Rule::repeat_min | Rule::repeat_max | Rule::repeat_min_max
                if is_term =>
            {
                let numbers = part.into_inner().filter(|part| part.as_rule() == Rule::number);
                let most = numbers.map(|number| number.as_str().parse().unwrap_or(u64::MAX)).max();
                times = times.saturating_mul(most.unwrap_or(1).max(1));
            }
            _ => inside = inside.max(copies(part)),
        }
    }
    inside.saturating_mul(times)
}

/// Returns the characters outside of comments, strings and white space, with their positions.
fn tokens(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = text.len() - rest.len();
            let next = rest.chars().next()?;
            let length = match next {
                '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                '/' if rest.starts_with("/*") => comment(rest),
                '"' | '\'' => quoted(rest, next),
                _ => {
                    rest = &rest[next.len_utf8()..];
                    if next.is_whitespace() {
                        continue;
                    }
                    return Some((at, next));
                }
            };
            rest = &rest[length..];
        }
    })
}

/// Returns the bytes of a comment, which may contain nested comments.
fn comment(text: &str) -> usize {
    let mut at = 0;
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" if depth == 1 => return at + 2,
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the bytes of a quoted string.
fn quoted(text: &str, mark: char) -> usize {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            _ if character == mark => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::productions::pest::Grammar;

    fn refused(body: &str) -> Option<String> {
        let source = Source {
            name: "a.pest".into(),
            text: format!("// (((\ndoc = {{ {body} }}\nlast = {{ \"(\" }}"),
        };
        // The size is that of `metaspy grammar`: each copy is a nested call of pest's compiler.
        let compiler = std::thread::Builder::new().stack_size(64 << 20);
        let compiled = compiler
            .spawn(move || Grammar::new(&[source], "doc").err().map(|error| error.to_string()));
        compiled.expect("threads can be made").join().expect("it does not panic")
    }

    #[test]
    fn what_nests_or_repeats_without_bound_is_an_error_with_its_line() {
        let nested =
            |part: &str, end: &str, times: usize| part.repeat(times) + "\"x\"" + &end.repeat(times);
        for body in [
            nested("(", ")", 50_000),
            nested("!", "", 50_000),
            nested("!(&", ")", 50_000),
            nested("(\"y\" ~ ", ")", 50_000),
            nested("\"y\" | ", "", 50_000),
            nested("PUSH(", ")", 50_000),
            nested("#tag = (", ")", 50_000),
            nested("(\"y\"{2} ~ ", "){2}", 50_000),
        ] {
            let error = refused(&body).expect("it is too much");
            assert!(error.starts_with("a.pest, line 2: an expression has more than"), "{error}");
        }
        for body in [
            "\"x\"{4294967295}",
            "\"x\"{0,100000000}",
            "\"x\"{,4294967295}",
            "\"x\"{4294967295,}",
            "(\"x\"{300} ~ \"y\"){300}",
            "\"x\"{300}{300}",
        ] {
            let error = refused(body).expect("it is too much");
            assert!(
                error.starts_with("a.pest, line 2: numbers in braces make more than 10000 copies"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_people_write_is_taken() {
        let many = |part: &str, between: &str| vec![part; 150].join(between);
        for body in [
            "\"x\"{1000}".to_owned(),
            "(\"x\"{2,60} ~ \"y\"){60}".to_owned(),
            many("!\"(\" ~ (\"a\" | '\\''..'z')", " ~ "),
            many("!\"a\" ~ ANY", " | "),
            "(".repeat(150) + "\"x\"" + &")".repeat(150),
        ] {
            assert_eq!(refused(&body), None, "{body}");
        }
    }
}
