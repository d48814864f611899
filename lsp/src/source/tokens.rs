//! The tokens of a text that anyone may have written: what reads them recursively needs little of the stack.

use proc_macro2::{Group, TokenStream, TokenTree};

/// Groups within each other at most. What is deeper is left out.
pub(super) const DEPTH: usize = 100;
/// Signs of types within types, such as `&` and `<`, of which a header that is read as a syntax tree has this many at most.
const SIGNS: usize = 200;

/// The tokens of a text; `None` if it is no Rust.
pub fn tokens_of(text: &str) -> Option<TokenStream> {
    let tokens: TokenStream = text.parse().ok()?;
    Some(if is_deep(&tokens) { cut(tokens, DEPTH) } else { tokens })
}

/// True if the syntax tree of these tokens is not deep, as far as their signs show it.
pub(super) fn is_shallow(tokens: TokenStream) -> bool {
    fn signs(tokens: TokenStream) -> usize {
        let count = |token: TokenTree| match token {
            TokenTree::Group(group) => signs(group.stream()),
            TokenTree::Punct(sign) => usize::from("<&*-!".contains(sign.as_char())),
            TokenTree::Ident(_) | TokenTree::Literal(_) => 0,
        };
        tokens.into_iter().map(count).sum()
    }
    signs(tokens) <= SIGNS
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
        assert!(is_shallow("impl<T> A for B<T>".into()) && !is_shallow("&".repeat(SIGNS + 1)));
    }
}
