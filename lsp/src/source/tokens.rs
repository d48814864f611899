//! Tokens of an untrusted text, with a limit on nesting that protects recursive readers from a
//! stack overflow.

use metaspy_syntax::depth;
use proc_macro2::{Group, TokenStream, TokenTree};

/// Maximum depth of nested groups. Deeper groups are left out.
pub(super) const DEPTH: usize = 100;
/// Maximum levels of a header that is parsed into a syntax tree.
const LEVELS: usize = 200;

/// Tokens of a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Tokens {
    pub stream: TokenStream,
    /// True if groups below the maximum depth were emptied.
    pub is_cut: bool,
}

impl Tokens {
    /// Reads a text. Returns `None` if it is not Rust.
    pub fn of(text: &str) -> Option<Tokens> {
        let stream: TokenStream = text.parse().ok()?;
        let is_cut = is_deep(&stream);
        Some(Tokens { stream: if is_cut { cut(stream, DEPTH) } else { stream }, is_cut })
    }
}

/// Returns the tokens of a text without its deepest groups, or `None` if it is not Rust.
pub(crate) fn tokens_of(text: &str) -> Option<TokenStream> {
    Tokens::of(text).map(|tokens| tokens.stream)
}

/// Returns true if the syntax tree of these tokens needs little stack.
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
            let within =
                if depth == 0 { TokenStream::new() } else { cut(group.stream(), depth - 1) };
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
        let names =
            |text: &str| tokens_of(text).expect("it is Rust").to_string().matches('a').count();
        assert_eq!([10, DEPTH, 2_000].map(|depth| names(&nested(depth))), [10, DEPTH, DEPTH]);
        assert!(tokens_of("(").is_none());
    }
}
