//! The tokens of a text that anyone may have written: what reads them recursively needs little of the stack.

use metaspy_syntax::depth;
use proc_macro2::{Group, TokenStream, TokenTree};

/// Groups within each other at most. What is deeper is left out.
pub(super) const DEPTH: usize = 100;
/// Levels of a header that is read as a syntax tree at most.
const LEVELS: usize = 200;

/// The tokens of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    pub stream: TokenStream,
    /// True if deep groups were emptied.
    pub is_cut: bool,
}

impl Tokens {
    /// Reads a text; `None` if it is no Rust.
    pub fn of(text: &str) -> Option<Tokens> {
        let stream: TokenStream = text.parse().ok()?;
        let is_cut = is_deep(&stream);
        Some(Tokens { stream: if is_cut { cut(stream, DEPTH) } else { stream }, is_cut })
    }
}

/// The tokens of a text without its deepest groups; `None` if it is no Rust.
pub fn tokens_of(text: &str) -> Option<TokenStream> {
    Tokens::of(text).map(|tokens| tokens.stream)
}

/// True if the syntax tree of these tokens needs little of the stack.
pub(super) fn is_shallow(tokens: TokenStream) -> bool {
    depth::is_at_most(tokens, LEVELS)
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
    }
}
