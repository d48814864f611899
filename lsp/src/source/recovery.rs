//! Error recovery for a text with open brackets or quotes, whose other parts are still readable.
//!
//! The broken parts are replaced by spaces, so every other token keeps its position. Parts are
//! found by their indentation, as rustfmt writes it: items begin in the first column, and methods
//! behind four spaces.

use std::ops::Range;

use proc_macro2::TokenStream;

use super::tokens::Tokens;

/// Returns the tokens of a text, without the parts that are not Rust. Their byte ranges are
/// positions in the text.
pub fn tokens(text: &str) -> Tokens {
    if let Some(tokens) = Tokens::of(text) {
        return tokens;
    }
    let mut readable = text.to_owned();
    for item in parts(text, 0..text.len(), 0) {
        if is_rust(&readable[item.clone()]) {
            continue;
        }
        let methods: Vec<_> = parts(text, item.clone(), 4).collect();
        for method in methods.into_iter().filter(|method| !is_rust(&text[method.clone()])) {
            blank(&mut readable, method);
        }
        if !is_rust(&readable[item.clone()]) {
            blank(&mut readable, item);
        }
    }
    Tokens::of(&readable).unwrap_or_default()
}

fn is_rust(text: &str) -> bool {
    text.parse::<TokenStream>().is_ok()
}

/// Replaces a range by spaces, except the ends of lines.
fn blank(text: &mut String, range: Range<usize>) {
    let spaces: String =
        text[range.clone()].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    text.replace_range(range, &spaces);
}

/// Splits a range into parts that begin with a line of this indentation, after an empty line or a
/// closing bracket.
///
/// The lines before the first part, and the line that ends the range, belong to no part.
fn parts(
    text: &str,
    range: Range<usize>,
    indentation: usize,
) -> impl Iterator<Item = Range<usize>> + use<'_> {
    let mut begins = Vec::new();
    let mut end = range.end;
    let mut at = range.start;
    let mut is_border = indentation == 0;
    for line in text[range].split_inclusive('\n') {
        let depth = line.len() - line.trim_start_matches(' ').len();
        let first = line.trim_start().chars().next();
        let is_item = depth == indentation
            && first.is_some_and(|first| first.is_alphabetic() || "#/_".contains(first));
        if is_item && is_border {
            begins.push(at);
        }
        // This bracket closes the enclosing item.
        if depth < indentation && first.is_some() && !begins.is_empty() {
            end = end.min(at);
        }
        let last = line.trim_end();
        is_border = last.is_empty()
            || depth <= indentation && last.ends_with(['}', ';'])
            || is_header(last, depth, indentation);
        at += line.len();
    }
    begins.retain(|begin| *begin < end);
    let ends: Vec<usize> = begins.iter().skip(1).copied().chain([end]).collect();
    begins.into_iter().zip(ends).map(|(begin, end)| begin..end)
}

/// Returns true for the line that opens an `impl` or a module, whose items follow.
fn is_header(line: &str, depth: usize, indentation: usize) -> bool {
    depth + 4 == indentation && line.ends_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, readable: &str) {
        assert_eq!(
            tokens(text).stream.to_string(),
            readable.parse::<TokenStream>().expect("it is Rust").to_string()
        );
    }

    #[test]
    fn only_the_function_with_the_open_bracket_is_left_out() {
        check("fn a() {\n}\n\nfn b() {\n    f(\n}\n\nfn c() {}\n", "fn a() {} fn b() {} fn c() {}");
        check("fn a() {\n}\n\nfn b( {\n    f()\n}\n\nfn c() {}\n", "fn a() {} fn c() {}");
        check(
            "fn a() {}\nfn b() { \"open }\n\nfn c() { \"closed\" }\n",
            "fn a() {} fn c() { \"closed\" }",
        );
    }

    #[test]
    fn only_the_method_with_the_open_bracket_is_left_out() {
        let text = "impl S {\n    fn a() {\n    }\n\n    fn b() {\n        [1,\n    }\n\n    fn c() {}\n}\n\nfn d() {}\n";
        check(text, "impl S { fn a() {} fn c() {} } fn d() {}");
    }

    #[test]
    fn text_that_is_no_rust_has_no_tokens() {
        for text in ["\"", "}}}", "{\n\"\n'", "\u{0}\u{202e}((("] {
            check(text, "");
        }
    }
}
