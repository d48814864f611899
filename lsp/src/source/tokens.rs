//! The tokens of a text that anyone may have written: what reads them recursively needs little of the stack.

use proc_macro2::{Group, TokenStream, TokenTree};

/// Groups within each other at most. What is deeper is left out.
pub(super) const DEPTH: usize = 100;
/// Steps of a header that is read as a syntax tree at most: signs such as `&` and `<`, and tokens between two commas.
const STEPS: usize = 200;

/// The tokens of a text; `None` if it is no Rust.
pub fn tokens_of(text: &str) -> Option<TokenStream> {
    let tokens: TokenStream = text.parse().ok()?;
    Some(if is_deep(&tokens) { cut(tokens, DEPTH) } else { tokens })
}

/// True if the syntax tree of these tokens is not deep. It is as deep as types are within types, whose signs are counted,
/// and as its longest chain, such as `a.b.c` or `1 + 1 + 1`: no chain goes on behind a comma.
pub(super) fn is_shallow(tokens: TokenStream) -> bool {
    /// All signs, and the tokens of the longest chain with the groups in it.
    fn steps(tokens: TokenStream) -> (usize, usize) {
        let (mut signs, mut longest, mut chain, mut within) = (0, 0, 0, 0);
        for token in tokens {
            chain += 1;
            match token {
                TokenTree::Punct(sign) if sign.as_char() == ',' => (chain, within) = (0, 0),
                TokenTree::Punct(sign) => signs += usize::from("<&*-!".contains(sign.as_char())),
                TokenTree::Group(group) => {
                    let inner = steps(group.stream());
                    signs += inner.0;
                    within = within.max(inner.1);
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => {}
            }
            longest = longest.max(chain + within);
        }
        (signs, longest)
    }
    let (signs, longest) = steps(tokens);
    signs <= STEPS && longest <= STEPS
}

fn is_deep(tokens: &TokenStream) -> bool {
    let mut open = vec![tokens.clone().into_iter()];
    while let Some(tokens) = open.last_mut() {
        match tokens.next() {
            Some(TokenTree::Group(_)) if open.len() > DEPTH => return true,
            Some(TokenTree::Group(group)) => open.push(group.stream().into_iter()),
            Some(_) => {}
            None => drop(open.pop()),
        }
    }
    false
}

/// Empties the groups at this depth.
fn cut(tokens: TokenStream, depth: usize) -> TokenStream {
    let cut = |token| match token {
        TokenTree::Group(group) => {
            let within = if depth == 0 { TokenStream::new() } else { cut(group.stream(), depth - 1) };
            let mut shallow = Group::new(group.delimiter(), within);
            shallow.set_span(group.span());
            TokenTree::Group(shallow)
        }
        token => token,
    };
    tokens.into_iter().map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_groups_are_emptied_and_others_stay() {
        let nested = |depth: usize| "(a ".repeat(depth) + &")".repeat(depth);
        let names = |text: &str| tokens_of(text).expect("it is Rust").to_string().matches('a').count();
        assert_eq!([10, DEPTH, 2_000].map(|depth| names(&nested(depth))), [10, DEPTH, DEPTH]);
        assert!(tokens_of("(").is_none());
        let is_shallow = |text: String| is_shallow(tokens_of(&text).expect("it is Rust"));
        assert!(is_shallow("impl<T> A for B<T>".into()) && !is_shallow("&".repeat(STEPS + 1)));
        assert!(is_shallow("a: u8, ".repeat(STEPS)) && !is_shallow("[a; (b".to_owned() + &".b".repeat(STEPS) + ")]"));
    }
}
