//! Search for function and method calls in a text.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

use super::tokens::tokens_of;

/// Keywords that may precede parentheses and are not names.
pub(super) const KEYWORDS: [&str; 18] = [
    "as", "break", "const", "dyn", "else", "fn", "for", "if", "impl", "in", "let", "match", "move",
    "mut", "pub", "return", "where", "while",
];

/// Returns the byte ranges of the names of all calls in a function's text, except in comments,
/// literals and attributes.
pub(crate) fn calls_in(text: &str) -> Vec<Range<usize>> {
    // The range excludes `r#`.
    let called = |name: Range<usize>| Some(name.end - called_at(text, name.end)?.len()..name.end);
    names_in(text).into_iter().filter_map(called).collect()
}

/// Returns the byte ranges of all names in a function's text, except in comments, literals and
/// attributes.
pub(crate) fn names_in(text: &str) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    if let Some(tokens) = tokens_of(text) {
        of_tokens(tokens, &mut names);
        proc_macro2::extra::invalidate_current_thread_spans();
    }
    names
}

/// Adds the bytes of all identifiers outside of attributes.
fn of_tokens(tokens: TokenStream, names: &mut Vec<Range<usize>>) {
    let mut is_attribute = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if KEYWORDS.iter().any(|word| ident == word) => {}
            TokenTree::Ident(ident) => names.push(ident.span().byte_range()),
            TokenTree::Group(group) if !is_attribute => of_tokens(group.stream(), names),
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
        is_attribute = matches!(&token, TokenTree::Punct(sign) if sign.as_char() == '#');
    }
}

/// Returns the receiver of a method whose name follows this text: `a` for `a.`, but nothing for
/// `a.b.` and `a().`.
pub(crate) fn receiver_before(text: &str) -> Option<&str> {
    let before = text.trim_end().strip_suffix('.')?.trim_end();
    let start = before.len()
        - before
            .chars()
            .rev()
            .take_while(|&letter| is_part(letter))
            .map(char::len_utf8)
            .sum::<usize>();
    let around = before[..start].trim_end();
    let is_field = around.ends_with("::") || around.ends_with('.') && !around.ends_with("..");
    (start < before.len() && !is_field).then_some(&before[start..])
}

/// Returns the name of the call at this byte: an identifier before an argument list, or before a
/// turbofish and an argument list.
pub(crate) fn called_at(text: &str, byte: usize) -> Option<&str> {
    let before = text.get(..byte)?;
    let start = before
        .rfind(|letter| !is_part(letter))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = byte + text[byte..].find(|letter| !is_part(letter)).unwrap_or(text.len() - byte);
    let name = &text[start..end];
    if name.is_empty()
        || name.starts_with(|first: char| first.is_ascii_digit())
        || before[..start].trim_end().ends_with("fn")
    {
        return None;
    }
    let mut behind = text[end..].trim_start();
    if let Some(rest) =
        behind.strip_prefix("::").map(str::trim_start).filter(|rest| rest.starts_with('<'))
    {
        behind = behind_arguments(rest)?.trim_start();
    }
    behind.starts_with('(').then_some(name)
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the rest of a text behind the type arguments at its beginning.
fn behind_arguments(text: &str) -> Option<&str> {
    let mut depth = 0_u32;
    let mut last = ' ';
    for (at, letter) in text.char_indices().take(1000) {
        match letter {
            '<' => depth += 1,
            '>' if last != '-' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        last = letter;
        if depth == 0 {
            return text.get(at + 1..);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_contain_no_call() {
        let text = "fn f() { /* a(1) */ b(\"c(2)\", 'd'); // e(3)\n println!(\"{}\", g(4)); /// h(5)\n \
                    let i = r#j(6); #[k(l(7))] let (m, n) = if (o) { (p, q) }; }";
        let names: Vec<&str> = calls_in(text).into_iter().map(|name| &text[name]).collect();
        assert_eq!(names, ["b", "g", "j"]);
    }

    #[test]
    fn a_call_is_a_name_with_arguments() {
        let text = "fn größe() { self.measure(x); parse::<Vec<fn() -> u8>>(y); a.b; 12(3) }";
        let at = |part: &str| called_at(text, text.find(part).expect("it is there") + 1);
        assert_eq!((at("measure"), at("parse")), (Some("measure"), Some("parse")));
        assert_eq!([at("größe"), at("a.b"), at(".b"), at("12"), at("Vec"), at("; ")], [None; 6]);
        let on = ["f(a.", "(*a) .", "a.b.", "a().", "0..b. ", "c::A."].map(receiver_before);
        assert_eq!(on, [Some("a"), None, None, None, Some("b"), None]);
        assert_eq!(
            (called_at("", 0), called_at("f", 9), called_at("ö(", 2)),
            (None, None, Some("ö"))
        );
    }
}
