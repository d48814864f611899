//! Fingerprint of a function: a hash of its tokens, by which readers of a recording notice that its
//! source has changed.
//!
//! Spaces, comments, documentation and the function's name do not count, nor does anything outside
//! the function. The hash has no key and does not depend on the compiler: the weaver and the editor
//! compute it independently.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Computes the fingerprint of these tokens. It is never 0, which stands for an unknown
/// fingerprint.
pub fn of_tokens(tokens: TokenStream) -> u32 {
    let mut hash = Fnv::default();
    add(&mut hash, nameless(tokens));
    let Fnv(hash) = hash;
    ((hash ^ (hash >> 32)) as u32).max(1)
}

/// Computes the fingerprint of a function from its signature to its closing brace. Returns `None`
/// if the text is not Rust.
pub fn of_source(source: &str) -> Option<u32> {
    source.parse().ok().map(of_tokens)
}

/// Removes the name behind the first `fn`, so that a renamed function keeps its fingerprint.
fn nameless(tokens: TokenStream) -> TokenStream {
    let mut is_found = false;
    let mut is_next = false;
    let is_other = |token: &TokenTree| {
        let is_name = is_next && matches!(token, TokenTree::Ident(_));
        is_next = !is_found && matches!(token, TokenTree::Ident(word) if *word == "fn");
        is_found |= is_next;
        !is_name
    };
    tokens.into_iter().filter(is_other).collect()
}

fn add(hash: &mut Fnv, tokens: TokenStream) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' => {
                if tokens.next_if(is_documentation).is_none() {
                    hash.add("#");
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = signs(group.delimiter());
                hash.add(open);
                add(hash, group.stream());
                hash.add(close);
            }
            token => hash.add(&token.to_string()),
        }
    }
}

/// Returns true for the `[doc = "…"]` that a comment `/// …` becomes.
fn is_documentation(token: &TokenTree) -> bool {
    let TokenTree::Group(group) = token else { return false };
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket
        && matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

/// Returns the signs around a group. Groups without signs come from macros.
fn signs(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// Hash of Fowler, Noll and Vo, variant 1a, of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a token, and its end.
    fn add(&mut self, token: &str) {
        for byte in token.bytes().chain((!token.is_empty()).then_some(0)) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tokens_count() {
        let plain = of_source("fn f(a: &'a u8) -> u8 { a + 1 }");
        let same = [
            "fn f(a:&'a u8)->u8{a+1}",
            "fn renamed(a: &'a u8) -> u8 { a + 1 }",
            "fn f(a: &'a u8) -> u8 {\n    /// One.\n    // More.\n    a + 1\n}\n",
        ];
        assert!(plain.is_some() && same.map(of_source) == [plain; 3]);
        for other in [
            "fn f(a: &'a u8) -> u8 { a + 2 }",
            "fn f(a: &'a u8) -> u8 { (a + 1) }",
            "fn f(a: &'a u8) -> u8 { fn g() {} a + 1 }",
        ] {
            assert_ne!(of_source(other), plain, "{other}");
        }
        assert_ne!(of_source("a b"), of_source("ab"));
        assert_eq!(of_source("fn f( {"), None);
    }

    #[test]
    fn a_parsed_function_has_the_fingerprint_of_its_text() {
        let text = "async unsafe fn f<'a, T: Into<Option<u8>>, const N: usize>(mut self: Box<Self>, [x, ..]: [T; N]) -> \
                    impl Fn(u8) -> i8 + 'a where T: 'a { #![allow(dead_code)] let r#type = -1_i8; println!(\"{}\", 0x1F); r#type }";
        let item: syn::ItemFn = syn::parse_str(text).expect("it is a function");
        assert_eq!(of_source(text), Some(of_tokens(quote::ToTokens::to_token_stream(&item))));
    }
}
