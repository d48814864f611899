//! One source file, read by `syn`.

use std::fmt;
use std::str::FromStr;

use metaspy_syntax::{depth, source};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::source::functions::{self, Functions};
use crate::source::modules::Declared;
use crate::source::scope::Scope;

/// The items of a source file.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// Its functions, in the order of their text.
    pub functions: Functions,
    /// The modules that it declares in other files, and files that are included as items.
    pub(super) declared: Vec<Declared>,
    /// The names of its modules and function bodies; the file itself is the first.
    pub(super) scopes: Vec<Scope>,
    /// Paths of `include!`, `include_str!` and `include_bytes!`, as they are written.
    pub includes: Vec<String>,
}

/// The reason why a file was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file cannot be parsed: {}", self.0)
    }
}

impl std::error::Error for Unreadable {}

/// Reads a file.
pub fn parse(text: &str) -> Result<Parsed, Unreadable> {
    let skipped = source::before_code(text);
    source::with_deep_stack(|depth| {
        let parsed = read(&text[skipped..], skipped, depth);
        // The places are known; the texts of the spans are no longer needed.
        proc_macro2::extra::invalidate_current_thread_spans();
        parsed
    })
}

fn read(source: &str, offset: usize, depth: usize) -> Result<Parsed, Unreadable> {
    let tokens = TokenStream::from_str(source).map_err(|error| Unreadable(error.to_string()))?;
    if !depth::is_at_most(tokens.clone(), depth) {
        return Err(Unreadable(format!("its code may be nested more than {depth} levels deep")));
    }
    let includes = included_paths(tokens.clone());
    let file: syn::File = syn::parse2(tokens).map_err(|error| Unreadable(error.to_string()))?;
    let (functions, declared, scopes) = functions::of(&file, source, offset);
    Ok(Parsed { functions, declared, scopes, includes })
}

/// Macros that include a file by its path.
const INCLUDING: [&str; 3] = ["include", "include_str", "include_bytes"];

/// The paths of files that a source file includes, as they are written. One that is computed, as
/// with `concat!`, is absolute in practice and needs no care.
fn included_paths(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    search_included(tokens, &mut found);
    found
}

fn search_included(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for window in tokens.windows(3) {
        if let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(group)] = window
            && mark.as_char() == '!'
            && INCLUDING.iter().any(|including| name == including)
            && group.delimiter() != Delimiter::None
        {
            found.extend(syn::parse2::<syn::LitStr>(group.stream()).map(|path| path.value()));
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            search_included(group.stream(), found);
        }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_syntax::source::DEPTH;

    use super::*;

    #[test]
    fn a_deeply_nested_file_is_read() {
        let nested =
            |open: &str, close: &str, levels: usize| open.repeat(levels) + &close.repeat(levels);
        for text in [
            format!("fn f() {{ {} }}", nested("{", "}", DEPTH - 10)),
            format!(
                "fn f() {{}} type T = {};",
                nested("A<", ">", DEPTH / 3 - 10).replace("<>", "<u8>")
            ),
            format!("fn f() {{}} type T = {}u8;", "&".repeat(DEPTH - 10)),
            format!(
                "fn f() {{ let a: {}; }}",
                nested("[", "; 1]", DEPTH - 10).replacen("[;", "[u8;", 1)
            ),
        ] {
            assert_eq!(parse(&text).expect("it is not too deep").functions.all.len(), 1);
        }
    }

    #[test]
    fn a_file_that_nests_without_bound_is_not_read() {
        let nested = |open: &str, close: &str| open.repeat(30_000) + &close.repeat(30_000);
        for text in [
            format!("fn x() {{ {} }}", nested("{", "}")),
            format!("fn x() {{ {} }}", nested("m!(", ")")),
            nested("fn x() {", "}"),
            format!("type T = {};", nested("A<", ">").replace("<>", "<u8>")),
            format!("type T = {}u8;", "&".repeat(100_000)),
            format!("const A: u8 = {}1;", "!".repeat(100_000)),
            format!("fn x() {{ a{} }}", ".b".repeat(100_000)),
            format!("const A: u8 = 1{};", " + 1".repeat(100_000)),
            format!("fn x() {{ if a {{}} {} }}", "else if a {}".repeat(30_000)),
            format!("const A: bool = a{};", " < b || c > d || a".repeat(10_000)),
        ] {
            let error = parse(&text).expect_err("it is too deep").to_string();
            assert_eq!(
                error,
                "the file cannot be parsed: its code may be nested more than 4096 levels deep"
            );
        }
    }
}
